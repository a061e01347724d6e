package replay

import (
	"context"
	"log/slog"
	"time"

	"airtable-replay/internal/pass"
	"airtable-replay/internal/pipeline"
	"airtable-replay/internal/store"
)

// previewer decides about one entry from a fresh read, and stores nothing.
type previewer interface {
	PreviewReplay(ctx context.Context, base string, it store.Item) (pass.Preview, error)
	// PreviewRestore does the same for a write that is to be taken back.
	PreviewRestore(ctx context.Context, base string, it store.Item) (pass.Preview, error)
}

// intake reads rows that exist only in the dead letter table (T2).
type intake interface {
	// TakeInRow reads a row as a filing; known says that it turned out to be the row of an entry.
	TakeInRow(ctx context.Context, recordID string) (f Filing, known bool, err error)
	// RefuseRow unticks the row's box and leaves a note there.
	RefuseRow(ctx context.Context, recordID, note string) error
}

// Config is what the service is made of.
type Config struct {
	Store     *store.Store
	Book      *pipeline.Book
	Previewer previewer
	Intake    intake // nil: no dead letter table
	// Wake asks for a pass over a base, inside the transaction that ctx carries.
	Wake func(ctx context.Context, base string) error
	// Announce tells every endpoint that subscribes to an event.
	Announce   func(ctx context.Context, event, about string, data any) error
	AttemptCap int                // mission O3
	Rates      map[string]float64 // requests per second of each base, for forecasts
	MirrorBase string             // the base that holds the dead letter table; empty: none
	StuckAfter time.Duration      // mission S1
	Logger     *slog.Logger
}

// Service answers for entries and runs. It is safe for concurrent use.
type Service struct{ Config }

// New makes a Service.
func New(c Config) *Service { return &Service{Config: c} }

// routes lists where the entries of every configured source go today.
func (s *Service) routes() []store.Route {
	var out []store.Route
	for _, src := range s.Book.Sources() {
		out = append(out, store.Route{Source: src.Name, Target: src.Target.Name, Base: src.Target.Base, Rank: src.Target.Rank})
	}
	return out
}
