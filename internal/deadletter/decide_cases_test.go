package deadletter_test

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/stretchr/testify/require"

	"airtable-replay/internal/deadletter"
)

// TestDecideCases runs the stories of testdata/decide.
func TestDecideCases(t *testing.T) {
	t.Parallel()

	paths, err := filepath.Glob("testdata/decide/*.txtar")
	require.NoError(t, err)
	require.NotEmpty(t, paths)
	for _, path := range paths {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".txtar"), func(t *testing.T) {
			t.Parallel()

			c := readCase(t, path)
			in := c.input(t)
			plan := deadletter.Decide(in)
			require.Empty(t, cmp.Diff(c.Plan.normalised(), planOf(plan), cmpopts.EquateEmpty()))
			requireMentions(t, c.Plan, plan)
			requireSound(t, in, plan)

			slices.Reverse(in.Members)
			slices.Reverse(in.Matches)
			require.Empty(t, cmp.Diff(planOf(plan), planOf(deadletter.Decide(in)), cmpopts.EquateEmpty()),
				"the order of members and matches must not matter")
		})
	}
}

// normalised fills what a case file may leave out, and drops what is compared by itself.
func (p planForm) normalised() planForm {
	if p.Action == string(deadletter.ActionUpdate) {
		p.Record = or(p.Record, "recA")
	}
	p.Fields = values(p.Fields).(map[string]any)
	verdicts := map[string]verdictForm{}
	for id, v := range p.Verdicts {
		v.Fields = values(v.Fields).(map[string]any)
		v.Note, v.Checks, v.ChangedAt = nil, nil, nil
		verdicts[id] = v
	}
	p.Verdicts = verdicts
	return p
}

// planOf puts a plan into the form of the case files.
func planOf(p deadletter.Plan) planForm {
	form := planForm{
		Action: string(p.Action), Record: p.RecordID, Fields: p.Fields, Version: p.Version.String(),
		LateLanding: p.LateLanding, Verdicts: map[string]verdictForm{},
	}
	for _, v := range p.Verdicts {
		skipped := map[string]string{}
		for _, skip := range v.Skipped {
			skipped[skip.Field] = string(skip.Reason)
		}
		form.Verdicts[v.Member] = verdictForm{
			Outcome: string(v.Outcome), Reason: string(v.Reason), Fields: v.Fields, Skipped: skipped, Merged: v.Merged,
		}
	}
	return form
}

// requireMentions compares what a case file gives of notes, field checks and times of change.
func requireMentions(t *testing.T, want planForm, got deadletter.Plan) {
	t.Helper()
	for _, v := range got.Verdicts {
		form := want.Verdicts[v.Member]
		for _, phrase := range form.Note {
			require.Contains(t, v.Note, phrase, "note of %s", v.Member)
		}
		checks := map[string]string{}
		for _, check := range v.Checks {
			if _, ok := form.Checks[check.Field]; ok {
				checks[check.Field] = string(check.Action)
			}
		}
		require.Empty(t, cmp.Diff(form.Checks, checks, cmpopts.EquateEmpty()), "checks of %s", v.Member)
		changed := map[string]string{}
		for _, skip := range v.Skipped {
			if _, ok := form.ChangedAt[skip.Field]; ok {
				changed[skip.Field] = skip.ChangedAt.Format(time.RFC3339Nano)
			}
		}
		require.Empty(t, cmp.Diff(form.ChangedAt, changed, cmpopts.EquateEmpty()), "changed_at of %s", v.Member)
	}
}
