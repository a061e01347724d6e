package store_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"airtable-replay/internal/deadletter"
	"airtable-replay/internal/store"

	"github.com/stretchr/testify/require"
)

// verb is something that the store can do to an entry, and the change of status that it is for; the
// zero transition: none.
type verb struct {
	name       string
	transition deadletter.Transition
	to         deadletter.Status
	do         func(ctx context.Context, b *bundle, s *subject) error
}

// subject is an entry of a base of its own, with what was left behind while it was replaying.
type subject struct {
	base   string
	id     string
	runID  string
	lease  store.Lease
	member store.Member
	ref    store.RecordRef
	intent store.OpenIntent
}

func (s *subject) landing() store.Landing { return landed(s.intent, s.ref) }

var verbs = []verb{
	{"claim", deadletter.TransitionClaimed, deadletter.Replaying, func(ctx context.Context, b *bundle, s *subject) error {
		c := press(s.id)
		c.Routes = routes(s.base)
		_, err := b.store.ClaimEntries(ctx, c)
		return err
	}},
	{"settle as replayed", deadletter.TransitionSettled, deadletter.Resolved, func(ctx context.Context, b *bundle, s *subject) error {
		return b.store.Settle(ctx, s.lease, []store.Settlement{outcome(s.member, deadletter.Replayed, "")})
	}},
	{"settle for review", deadletter.TransitionSettled, deadletter.PendingReview, func(ctx context.Context, b *bundle, s *subject) error {
		return b.store.Settle(ctx, s.lease, []store.Settlement{outcome(s.member, deadletter.NeedsReview, deadletter.ReasonSharedFieldChanged)})
	}},
	{"settle a landing", deadletter.TransitionSettled, deadletter.Resolved, func(ctx context.Context, b *bundle, s *subject) error {
		return b.store.SettleLandings(ctx, s.lease, []store.Landing{s.landing()}, nil)
	}},
	{"halt", deadletter.TransitionReleased, deadletter.PendingReview, func(ctx context.Context, b *bundle, s *subject) error {
		_, err := b.store.HaltBase(ctx, s.base, "the token is gone", "service")
		return err
	}},
	{"stop run", deadletter.TransitionReleased, deadletter.PendingReview, func(ctx context.Context, b *bundle, s *subject) error {
		if s.runID == "" {
			return nil
		}
		return b.store.StopRun(ctx, s.runID, deadletter.ReasonRunStopped, "five alike")
	}},
	{"sweep", deadletter.TransitionSwept, deadletter.PendingReview, func(ctx context.Context, b *bundle, _ *subject) error {
		_, err := b.store.SweepStuck(ctx, 0)
		return err
	}},
	{"reset", deadletter.TransitionReset, deadletter.PendingReview, func(ctx context.Context, b *bundle, s *subject) error {
		return b.store.ResetEntry(ctx, s.id, "admin", "it hangs")
	}},
	{"ignore", deadletter.TransitionIgnored, deadletter.Ignored, func(ctx context.Context, b *bundle, s *subject) error {
		return b.store.IgnoreEntry(ctx, s.id, "ann", "not needed")
	}},
	{"reopen", deadletter.TransitionReopened, deadletter.PendingReview, func(ctx context.Context, b *bundle, s *subject) error {
		return b.store.ReopenEntry(ctx, s.id, "admin", "by mistake")
	}},
	{"refuse press", "", "", func(ctx context.Context, b *bundle, s *subject) error {
		return b.store.RefusePress(ctx, s.id, "ann", "no")
	}},
	{"reidentify", "", "", func(ctx context.Context, b *bundle, s *subject) error {
		return b.reidentify(ctx, s.id, "other", "7", version(7))
	}},
	{"set target ID", "", "", func(ctx context.Context, b *bundle, s *subject) error {
		return b.store.SetTargetID(ctx, s.lease, s.member.MemberRef, "other")
	}},
	{"postpone", "", "", func(ctx context.Context, b *bundle, s *subject) error {
		return b.store.GiveUp(ctx, s.lease, nil, []store.Postpone{{Members: []store.MemberRef{s.member.MemberRef}, Wait: time.Second, Counted: true}}, nil)
	}},
	{"give up", "", "", func(ctx context.Context, b *bundle, s *subject) error {
		return b.store.GiveUp(ctx, s.lease, []store.GivenUp{{IntentID: s.intent.ID, Ref: s.ref, Fate: deadletter.FateOpen}}, nil, nil)
	}},
	{"look later", "", "", func(ctx context.Context, b *bundle, s *subject) error {
		return b.store.LookLater(ctx, s.lease, []store.OpenIntent{s.intent}, time.Second)
	}},
	{"settle a miss", "", "", func(ctx context.Context, b *bundle, s *subject) error {
		return b.store.SettleMisses(ctx, s.lease, []store.Miss{{Intent: s.intent, Ref: s.ref, Fate: deadletter.FateUnknown}})
	}},
	{"store a fact", "", "", func(ctx context.Context, b *bundle, s *subject) error {
		return b.store.StoreFact(ctx, s.intent.ID, store.Fact{RecordID: "rec1"})
	}},
	{"name the row", "", "", func(ctx context.Context, b *bundle, s *subject) error {
		return b.store.NameMirrorRow(ctx, s.id, "rec"+s.base)
	}},
}

// subject brings an entry of a base into a status. Wherever it stands, its first claim, its lease and a
// write of it are still known to somebody who may come back with them.
func (b *bundle) subject(t *testing.T, base string, status deadletter.Status) *subject {
	t.Helper()
	s := &subject{base: base}
	s.id = b.fileAs(t, filing(base, base, base)).ID
	c := press(s.id)
	c.Routes = routes(base)
	s.runID = b.claim(t, c).RunID
	s.lease = b.lease(t, base)
	it := b.take(t, s.lease).Items[0]
	s.member, s.ref = it.Members[0], it.Ref
	if status == deadletter.Replaying {
		s.intent = b.intend(t, s.lease, writeOf(it))
		require.NoError(t, b.store.GiveUp(t.Context(), s.lease, []store.GivenUp{{IntentID: s.intent.ID, Ref: s.ref, Fate: deadletter.FateOpen}}, nil, nil))
		return s
	}
	s.intent = b.intend(t, s.lease, writeOf(it))
	o := deadletter.Superseded
	if status != deadletter.Resolved {
		o = deadletter.NeedsReview
	}
	require.NoError(t, b.store.Settle(t.Context(), s.lease, []store.Settlement{outcome(s.member, o, deadletter.ReasonNewerFromSender)}))
	if status == deadletter.Ignored {
		require.NoError(t, b.store.IgnoreEntry(t.Context(), s.id, "ann", ""))
	}
	require.Equal(t, status, b.show(t, s.id).Status)
	return s
}

// Every verb, from every status: the change that the diagram permits happens, with its line of history,
// and no other (E2).
func TestEveryVerbFromEveryStatus(t *testing.T) {
	t.Parallel()
	b := frozen(t)
	edges := map[deadletter.Edge]bool{}
	for _, e := range deadletter.Edges() {
		edges[e] = true
	}
	delete(edges, deadletter.Edge{Transition: deadletter.TransitionFiled, To: deadletter.PendingReview}) // see filing
	walked := map[deadletter.Edge]bool{}
	for i, from := range []deadletter.Status{deadletter.PendingReview, deadletter.Replaying, deadletter.Resolved, deadletter.Ignored} {
		for j, v := range verbs {
			base := fmt.Sprintf("base-%d-%d", i, j)
			require.NoError(t, b.store.EnsureBases(t.Context(), []string{base}, nil))
			s := b.subject(t, base, from)
			if v.transition == deadletter.TransitionSwept {
				b.advance(t, unanswered) // the lease of this base and the rest of its record run out
			}
			edge := deadletter.Edge{Transition: v.transition, From: from, To: v.to}
			lines := len(b.history(t, s.id))
			_ = v.do(t.Context(), b, s) // whether a refusal is told is another matter; it must change nothing
			e, last := b.show(t, s.id), b.lastLine(t, s.id)
			if !edges[edge] {
				require.Equal(t, from, e.Status, "%s from %s", v.name, from)
				if len(b.history(t, s.id)) > lines {
					require.Equal(t, last.FromStatus, last.ToStatus, "%s from %s", v.name, from)
				}
				continue
			}
			walked[edge] = true
			require.Equal(t, v.to, e.Status, "%s from %s", v.name, from)
			require.Len(t, b.history(t, s.id), lines+1)
			require.Equal(t, []any{string(v.transition), from, v.to}, []any{last.Event, last.FromStatus, last.ToStatus}, v.name)
		}
	}
	require.Equal(t, edges, walked)
}

// A refusal says what state the entry is in (P2).
func TestRefusedOrdersSayWhy(t *testing.T) {
	t.Parallel()
	b := frozen(t, "a", "b", "c")
	pending, resolved, replaying := b.subject(t, "a", deadletter.PendingReview), b.subject(t, "b", deadletter.Resolved), b.subject(t, "c", deadletter.Replaying)
	for name, c := range map[string]struct {
		err     error
		problem string
		status  deadletter.Status
	}{
		"reset of a pending one":    {b.store.ResetEntry(t.Context(), pending.id, "admin", ""), "entry-not-replaying", deadletter.PendingReview},
		"reset of a resolved one":   {b.store.ResetEntry(t.Context(), resolved.id, "admin", ""), "entry-not-replaying", deadletter.Resolved},
		"ignore of a resolved one":  {b.store.IgnoreEntry(t.Context(), resolved.id, "ann", ""), "entry-not-pending", deadletter.Resolved},
		"ignore of a replaying one": {b.store.IgnoreEntry(t.Context(), replaying.id, "ann", ""), "entry-not-pending", deadletter.Replaying},
		"reopen of a pending one":   {b.store.ReopenEntry(t.Context(), pending.id, "admin", ""), "entry-not-closed", deadletter.PendingReview},
	} {
		d := problem(t, c.err)
		require.Equal(t, deadletter.CodeConflict, d.Code, name)
		require.Equal(t, c.problem, d.Problem, name)
		require.Equal(t, c.status, d.EntryStatus, name)
	}
	require.Equal(t, "entry-not-found", problem(t, b.store.ResetEntry(t.Context(), "0197c0de-0000-7000-8000-000000000000", "admin", "")).Problem)
}
