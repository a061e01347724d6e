package httpapi_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"airtable-replay/internal/deadletter"
	"airtable-replay/internal/live"
	"airtable-replay/internal/replay"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"
)

var update = flag.Bool("update", false, "write the golden files anew")

func timestamp(t *testing.T, raw string) deadletter.Version {
	t.Helper()
	v, err := deadletter.ParseVersion(deadletter.VersionSpec{Kind: deadletter.VersionTimestamp}, raw, nil)
	require.NoError(t, err)
	return v
}

// golden is a request and what the services answer to it.
type golden struct {
	request
	script func(*bundle)
}

const entryPath = "/v1/entries/" + entryID

func settled(b *bundle) { b.entry = settledEntry() }

// TestGolden holds every operation's answer, member by member: request, status, headers and JSON.
func TestGolden(t *testing.T) {
	t.Parallel()
	for _, cases := range []map[string]golden{goldenEntries(t), goldenReviewsAndRuns(), goldenWritesAndOperations(t)} {
		for name, c := range cases {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				b := setup(t)
				if c.script != nil {
					c.script(b)
				}
				requireGolden(t, name, c.request, b.call(t, c.request))
			})
		}
	}
}

func goldenEntries(t *testing.T) map[string]golden {
	t.Helper()
	return map[string]golden{
		"file_entry":       {request{method: "POST", path: "/v1/entries", body: filing}, nil},
		"file_entry_again": {request{method: "POST", path: "/v1/entries", body: filing}, func(b *bundle) { b.created = false }},
		"list_entries": {request{method: "GET", path: "/v1/entries?status=resolved&limit=1000000"}, func(b *bundle) {
			b.entry, b.next = settledEntry(), "abc"
		}},
		"summarize_entries": {request{method: "GET", path: "/v1/entries/summary"}, func(b *bundle) {
			b.summary = replay.Summary{
				ByStatus: map[string]int{"pending_review": 3}, ByReason: map[string]int{"no_match": 2, "other": 1},
				BySource: map[string]int{"order-system": 3}, ByHour: map[time.Time]int{at(8).In(time.FixedZone("", 3600)): 3},
			}
		}},
		"show_entry":         {request{method: "GET", path: entryPath}, nil},
		"show_settled_entry": {request{method: "GET", path: "/v1/entries/recDeadLetter0001"}, settled},
		"show_replaying_entry": {request{method: "GET", path: entryPath}, func(b *bundle) {
			b.entry.Status, b.entry.StatusCode = deadletter.Replaying, 500
			b.entry.Replay = &deadletter.Replay{RunID: runID, Mode: deadletter.Checked, RequestedBy: "ada", RequestedAt: at(10)}
		}},
		"show_binary_entry": {request{method: "GET", path: entryPath}, func(b *bundle) { b.entry.RawPayload = []byte{0xff, 0, '<'} }},
		"show_nul_entry":    {request{method: "GET", path: entryPath}, func(b *bundle) { b.entry.RawPayload = []byte("a\x00b \"<&>\" \\u003c \u2028") }},
		"list_entry_history": {request{method: "GET", path: entryPath + "/history"}, func(b *bundle) {
			b.history = []deadletter.HistoryLine{
				{At: at(8), Event: "filed", ToStatus: deadletter.PendingReview, Actor: "write-token"},
				{
					At: at(9), Event: "settled", FromStatus: deadletter.Replaying, ToStatus: deadletter.Resolved, Actor: "replica-1", RunID: runID, Claim: 1,
					Outcome: deadletter.Superseded, Reason: deadletter.ReasonNewerFromSender, Note: "The record is newer.",
					Detail: map[string]any{"version": json.Number("9007199254740993")},
				},
			}
		}},
		"press_replay": {request{method: "POST", path: entryPath + "/replay", body: `{"requested_by": "ada", "with_siblings": true}`}, settled},
		"preview_replay": {request{method: "GET", path: entryPath + "/preview?mode=chosen_fields&fields=Status&fields=A%2CB"}, func(b *bundle) {
			b.preview = replay.Preview{
				Verdict: deadletter.Verdict{
					Outcome: deadletter.NeedsReview, Reason: deadletter.ReasonSharedFieldChanged, Note: "Status was edited.",
					Checks: []deadletter.FieldCheck{
						{Field: "Amount", Current: nil, Incoming: json.Number("1970670598291982290"), Action: deadletter.FieldWrite, Why: "not shared"},
						{Field: "Status", Current: "Held", Incoming: "Shipped", Action: deadletter.FieldSkip, Why: "edited at 09:00"},
					},
					Skipped: []deadletter.Skip{{Field: "Status", Reason: deadletter.ReasonSharedFieldChanged, ChangedAt: at(9), Current: "Held", Incoming: "Shipped"}},
				},
				Action: deadletter.ActionNone, RecordID: "recOrder000000001", Version: timestamp(t, "2026-10-04T08:00:00Z"),
			}
		}},
	}
}

func goldenReviewsAndRuns() map[string]golden {
	return map[string]golden{
		"reset_entry":  {request{method: "POST", path: entryPath + "/reset"}, nil},
		"ignore_entry": {request{method: "POST", path: entryPath + "/ignore", body: `{"reason": "a test"}`}, settled},
		"reopen_entry": {request{method: "POST", path: entryPath + "/reopen", body: `{"reason": "again"}`}, nil},
		"assign_owner": {request{method: "POST", path: entryPath + "/owner", body: `{"assigned_owner": "ada"}`}, settled},
		"edit_payload": {request{method: "PUT", path: entryPath + "/payload", body: `{"raw_payload": "{\"id\": 2}", "reason": "a wrong ID", "expect_revision": 1}`}, func(b *bundle) {
			b.entry.RawPayload, b.entry.PayloadRevision = []byte(`{"id": 2}`), 2
		}},
		"edit_payload_late": {request{method: "PUT", path: entryPath + "/payload", body: `{"raw_payload_base64": "/w==", "reason": "not UTF-8"}`}, func(b *bundle) {
			b.err = &deadletter.Error{Code: deadletter.CodeConflict, Problem: "payload-changed", Message: "the payload is at revision 2 by now", EntryStatus: deadletter.PendingReview}
		}},
		"list_payloads": {request{method: "GET", path: entryPath + "/payloads"}, func(b *bundle) {
			b.payloads = []deadletter.Payload{
				{Raw: []byte{0xff, '<'}, EditedBy: "write-token", CreatedAt: at(8)},
				{Revision: 1, Raw: []byte(`{"id": 1970670598291982290, "at": "2026-10-04"}`), EditedBy: "ada", Reason: "mended", CreatedAt: at(9)},
			}
		}},
		"ignore_entries": {request{method: "POST", path: "/v1/entries/ignore", body: `{"ids": ["` + entryID + `", "recDeadLetter0001"], "reason": "tests"}`}, func(b *bundle) {
			b.bulk = replay.BulkResult{Changed: []string{entryID}, Refused: []replay.BulkRefusal{
				{ID: "recDeadLetter0001", Problem: "entry-not-pending", Detail: "an entry that is resolved cannot be ignored"},
			}}
		}},
		"reopen_entries": {request{method: "POST", path: "/v1/entries/reopen", body: `{"ids": ["` + entryID + `"], "reason": "again"}`}, nil},
		"assign_entries": {request{method: "POST", path: "/v1/entries/owner", body: `{"ids": ["` + entryID + `"], "assigned_owner": ""}`}, func(b *bundle) {
			b.bulk.Changed = []string{entryID}
		}},
		"restore_entry": {request{method: "POST", path: entryPath + "/restore", body: `{"requested_by": "ada", "reason": "a wrong feed"}`}, func(b *bundle) {
			b.run.Kind, b.run.RequestedBy, b.run.Note, b.run.Selector = deadletter.RunRestore, "ada", "a wrong feed", deadletter.Selector{IDs: []string{entryID}}
			b.run.Status, b.run.Counts = deadletter.RunCompleted, deadletter.Counts{Claimed: 3, Restored: 2, Refused: 1}
		}},
		"preview_restore": {request{method: "GET", path: entryPath + "/restore"}, func(b *bundle) {
			b.restore = replay.RestorePreview{Possible: true, RecordID: "recOrder000000001", Notes: []string{"Note was left as it is: edited <since>."}, Fields: []deadletter.FieldCheck{
				{Field: "Amount", Current: json.Number("9007199254740993.10"), Incoming: nil, Action: deadletter.FieldWrite, Why: "it holds what the replay wrote"},
				{Field: "Note", Current: "c", Incoming: "a", Action: deadletter.FieldSkip, Why: "edited <since>"},
			}}
		}},
		"preview_impossible_restore": {request{method: "GET", path: entryPath + "/restore"}, func(b *bundle) {
			b.restore.Notes = []string{"the replay created the record"}
		}},
		"start_run": {request{method: "POST", path: "/v1/runs", body: `{"selector": {"reason": "no_match", "first_attempt_from": "2026-10-01T00:00:00+02:00"}, "dry_run": true}`}, func(b *bundle) {
			b.run.Selector, b.run.DryRun = deadletter.Selector{Reason: deadletter.ReasonNoMatch, FirstAttemptFrom: at(0)}, true
		}},
		"show_run": {request{method: "GET", path: "/v1/runs/" + runID}, func(b *bundle) {
			b.run = deadletter.Run{
				ID: runID, Kind: deadletter.RunMany, Status: deadletter.RunStopped, Reason: deadletter.ReasonBaseHalted, Mode: deadletter.UnchangedFields,
				RequestedBy: "ada", Note: "after the outage", Selector: deadletter.Selector{IDs: []string{entryID}},
				Counts: deadletter.Counts{Claimed: 21, Replayed: 1, PartiallyReplayed: 2, Superseded: 3, NeedsReview: 4, ReplayFailed: 5, Released: 6},
				Reconciliation: deadletter.Reconciliation{
					Created: 1, Updated: 1, Unchanged: 1, Balanced: true, SkippedByReason: map[deadletter.Reason]int{deadletter.ReasonNewerFromSender: 3},
				},
				Why: []deadletter.Why{
					{Outcome: deadletter.Superseded, Reason: deadletter.ReasonNewerFromSender, Entries: 3}, {Reason: deadletter.ReasonBaseHalted, Entries: 6},
				},
				CreatedAt: at(8), StartedAt: at(9), FinishedAt: at(10),
			}
		}},
		"show_dry_run": {request{method: "GET", path: "/v1/runs/" + runID}, func(b *bundle) {
			b.run.DryRun, b.run.LeftOut = true, 2
			b.run.Forecast = &deadletter.Forecast{
				Selected: 12, Checked: 9, Outcomes: map[deadletter.Outcome]int{deadletter.Replayed: 8, deadletter.NeedsReview: 1},
				Reasons: map[deadletter.Reason]int{deadletter.ReasonSharedFieldChanged: 1}, Created: 1, Updated: 6, Merged: 1, Records: 10, Requests: 4,
				Duration: 1100 * time.Millisecond,
			}
		}},
		"cancel_run": {request{method: "POST", path: "/v1/runs/" + runID + "/cancel", body: `{"reason": "wrong window"}`}, func(b *bundle) {
			b.run.Status, b.run.Reason = deadletter.RunCancelled, deadletter.ReasonCancelled
		}},
		"list_runs": {request{method: "GET", path: "/v1/runs?limit=2&cursor=abc"}, nil},
	}
}

func goldenWritesAndOperations(t *testing.T) map[string]golden {
	t.Helper()
	return map[string]golden{
		"accept_writes": {request{method: "POST", path: "/v1/writes", body: `{"writes": [{"source_system": "order-system", "payload": {"id": 1}}, {"source_system": "order-system", "payload": "text"}]}`}, nil},
		"show_write":    {request{method: "GET", path: "/v1/writes/" + writeID}, nil},
		"show_dead_lettered_write": {request{method: "GET", path: "/v1/writes/" + writeID}, func(b *bundle) {
			b.write = live.Write{
				ID: writeID, SourceSystem: "order-system", TargetTable: "Orders", TargetID: "O-1", Status: "dead_lettered", EntryID: entryID, RecordID: "recOrder000000001",
				Note: "no such option", Reason: deadletter.ReasonInvalidOption, AcceptedAt: at(8), SettledAt: at(9),
			}
		}},
		"validate_payload": {request{method: "POST", path: "/v1/validate", body: `{"source_system": "order-system", "payload": {}}`}, func(b *bundle) {
			b.check = live.Check{
				Valid: true, Target: "Orders", Key: "O-1", Version: timestamp(t, "2026-10-04T08:00:00.5Z"),
				Fields: map[string]any{"Amount": json.Number("0.10"), "Account": []any{"A-1"}, "Note": nil},
			}
		}},
		"validate_bad_payload": {request{method: "POST", path: "/v1/validate", body: `{"source_system": "order-system", "payload": {}}`}, func(b *bundle) {
			b.check = live.Check{Errors: []deadletter.FieldError{{Field: "Status", Rule: "oneof", Detail: `must be one of Pending, Shipped; "<b>" is neither`}}, Target: "Orders"}
		}},
		"list_stuck":  {request{method: "GET", path: "/v1/stuck"}, nil},
		"reset_stuck": {request{method: "POST", path: "/v1/stuck/reset"}, func(b *bundle) { b.reset = 3 }},
		"list_bases":  {request{method: "GET", path: "/v1/bases"}, nil},
		"halt_base": {request{method: "POST", path: "/v1/bases/orders/halt", body: `{"reason": "token expired"}`}, func(b *bundle) {
			b.base = replay.BaseState{
				Name: "orders", State: "halted", Reason: "token expired", HaltedAt: at(9), HaltedBy: "admin-token", PausedUntil: at(10), Waiting: 6,
				WaitingEntries: 1, WaitingWrites: 2, WaitingMirror: 3, LeaseHolder: "replica-1", LeaseUntil: at(11),
				MirrorHeldUntil: at(12), MirrorProblem: "the dead letter table is gone",
			}
		}},
		"resume_base":     {request{method: "POST", path: "/v1/bases/orders/resume"}, nil},
		"check_health":    {request{method: "GET", path: "/healthz", token: "-"}, nil},
		"check_readiness": {request{method: "GET", path: "/readyz", token: "-"}, nil},
		"not_ready": {request{method: "GET", path: "/readyz", token: "-"}, func(b *bundle) {
			b.err = deadletter.Errorf(deadletter.CodeUnavailable, "", "the database does not answer")
		}},
		"refused_press": {request{method: "POST", path: entryPath + "/replay"}, func(b *bundle) {
			b.err = &deadletter.Error{
				Code: deadletter.CodeConflict, Problem: "entry-not-pending", Message: "already replayed at 2026-10-04T11:00:00Z by ada",
				EntryStatus: deadletter.Resolved, RunID: runID,
			}
		}},
		"faults":        {request{method: "POST", path: "/v1/entries", body: `{"source_system": " ", "reason_code": "nonsense", "first_attempt_at": "yesterday"}`}, nil},
		"unknown_token": {request{method: "GET", path: "/v1/bases", token: "stolen"}, nil},
		"no_route":      {request{method: "GET", path: "/v2/entries"}, nil},
	}
}

const filing = `{
  "source_system": "order-system", "target_id": "O-1", "raw_payload": "{\"id\": 1}", "reason_code": "no_response_exhausted",
  "error_detail": "timeout", "status_code": 504, "attempts": 5, "first_attempt_at": "2026-10-04T08:00:00Z"
}`

func requireGolden(t *testing.T, name string, q request, a answer) {
	t.Helper()
	var got bytes.Buffer
	fmt.Fprintf(&got, "%s %s\n%s\n\n%d\n", q.method, q.path, q.body, a.status)
	for _, h := range []string{"Content-Type", "Location", "WWW-Authenticate", "X-Request-Id"} {
		if v := a.header.Get(h); v != "" {
			fmt.Fprintf(&got, "%s: %s\n", h, v)
		}
	}
	got.WriteByte('\n')
	require.NoError(t, json.Indent(&got, []byte(strings.TrimSpace(a.body)), "", "  "))
	got.WriteByte('\n')
	file := filepath.Join("testdata", "golden", name+".txt")
	if *update {
		require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o755))
		require.NoError(t, os.WriteFile(file, got.Bytes(), 0o644))
	}
	want, err := os.ReadFile(file)
	require.NoError(t, err)
	require.Empty(t, cmp.Diff(string(want), got.String()))
}

func TestGoldenFilesAllBelongToACase(t *testing.T) {
	t.Parallel()
	source, err := os.ReadFile("golden_test.go")
	require.NoError(t, err)
	files, err := filepath.Glob("testdata/golden/*.txt")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, f := range files {
		require.Contains(t, string(source), `"`+strings.TrimSuffix(filepath.Base(f), ".txt")+`"`)
	}
}
