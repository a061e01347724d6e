package config

import (
	"fmt"
	"log/slog"
)

// LogValue is the effective configuration in short, for one line at start: no secrets.
func (f *File) LogValue() slog.Value {
	var bases, targets, sources []any
	for _, name := range sortedKeys(f.Bases) {
		b := f.Bases[name]
		bases = append(bases, slog.Group(name, "id", b.ID, "api_url", b.APIURL, "token_owner", b.TokenOwner,
			"requests_per_second", b.RequestsPerSecond, "lease", f.Lease(b)))
	}
	for _, name := range sortedKeys(f.Targets) {
		t := f.Targets[name]
		targets = append(targets, slog.String(name, fmt.Sprintf("%s/%s, rank %d", t.Base, t.Table, f.Rank(name))))
	}
	for _, name := range sortedKeys(f.Sources) {
		s := f.Sources[name]
		sources = append(sources, slog.String(name, fmt.Sprintf("%s, %s", s.Target, s.Sends)))
	}
	mirror := "none"
	if f.DeadLetters != nil {
		mirror = f.DeadLetters.Base + "/" + f.DeadLetters.Table
	}
	return slog.GroupValue(
		slog.Group("bases", bases...), slog.Group("targets", targets...), slog.Group("sources", sources...),
		slog.Any("notify", sortedKeys(f.Notify)), slog.String("dead_letters", mirror),
		slog.Duration("stuck_after", f.Replay.StuckAfter), slog.Int("attempt_cap", f.Replay.AttemptCap),
	)
}
