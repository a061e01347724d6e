package httpapi_test

import (
	"strings"
	"testing"

	"airtable-replay/internal/deadletter"
	"airtable-replay/internal/replay"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"
)

func TestFilingIsHandedOnInFull(t *testing.T) {
	t.Parallel()
	b := setup(t)
	a := b.call(t, request{method: "POST", path: "/v1/entries", token: "write", body: `{
		"source_system": "order-system", "target_table": "Orders", "target_id": "O'Brien \"1\"", "operation": "upsert", "raw_payload_base64": "/wA8",
		"reason_code": "no_response_exhausted", "error_detail": "timeout", "status_code": null, "attempts": 5, "source_version": "17",
		"source_updated_at": "2026-10-04T07:00:00Z", "first_attempt_at": "2026-10-04T10:00:00.5+02:00", "assigned_owner": "ada", "dlq_record_id": "recDeadLetter0001"
	}`})
	require.Equal(t, 201, a.status, a.body)
	require.Empty(t, cmp.Diff([]any{replay.Filing{
		SourceSystem: "order-system", TargetTable: "Orders", TargetID: `O'Brien "1"`, Operation: deadletter.Upsert, RawPayload: []byte{0xff, 0, '<'},
		ReasonCode: deadletter.ReasonNoResponseExhausted, ErrorDetail: "timeout", Attempts: 5, SourceVersion: "17", FirstAttemptAt: at(8).Add(5e8),
		AssignedOwner: "ada", DLQRecordID: "recDeadLetter0001", Actor: "write-token",
	}}, b.calls))
}

func TestFilingDefaults(t *testing.T) {
	t.Parallel()
	b := setup(t)
	a := b.call(t, request{method: "POST", path: "/v1/entries", body: `{
		"source_system": "s", "raw_payload": "", "reason_code": "other", "first_attempt_at": "2026-10-04T08:00:00Z",
		"source_updated_at": "2026-10-04T09:00:00+02:00", "status_code": 0, "dlq_record_id": null
	}`})
	require.Equal(t, 201, a.status, a.body)
	f := b.calls[0].(replay.Filing)
	require.Equal(t, deadletter.Update, f.Operation)
	require.Equal(t, []byte{}, f.RawPayload, "an empty payload is a payload (case B45)")
	require.Equal(t, "2026-10-04T09:00:00+02:00", f.SourceVersion, "a version that is a time, as sent")
	require.Zero(t, f.StatusCode)
}

func TestFaultyFilings(t *testing.T) {
	t.Parallel()
	const good = `"source_system": "s", "raw_payload": "x", "reason_code": "other", "first_attempt_at": "2026-10-04T08:00:00Z"`
	for body, rules := range map[string][]string{
		`{}`: {"source_system required", "raw_payload required", "reason_code required", "first_attempt_at required"},
		`{` + good + `, "raw_payload_base64": ""}`:                                          {"raw_payload_base64 excluded"},
		`{` + good + `, "operation": "delete"}`:                                             {"operation one_of"},
		`{` + good + `, "status_code": 99}`:                                                 {"status_code range"},
		`{` + good + `, "status_code": 600}`:                                                {"status_code range"},
		`{` + good + `, "attempts": -1}`:                                                    {"attempts minimum"},
		`{` + good + `, "dlq_record_id": "rec/1"}`:                                          {"dlq_record_id id"},
		`{` + good + `, "source_updated_at": "17"}`:                                         {"source_updated_at rfc3339"},
		`{` + good + `, "target_id": "` + strings.Repeat("x", 501) + `"}`:                   {"target_id max_length"},
		`{` + good + `, "status": "resolved"}`:                                              {"status unknown"},
		strings.Replace(`{`+good+`}`, `"raw_payload": "x"`, `"raw_payload_base64": "*"`, 1): {"raw_payload_base64 base64"},
		strings.Replace(`{`+good+`}`, `"raw_payload": "x"`, `"raw_payload": "\ud800"`, 1):   {"raw_payload unicode"},
		strings.Replace(`{`+good+`}`, `2026-10-04T08:00:00Z`, `2026-10-04 08:00:00`, 1):     {"first_attempt_at rfc3339"},
		strings.Replace(`{`+good+`}`, `"other"`, `"timeout"`, 1):                            {"reason_code one_of"},
		strings.Replace(`{`+good+`}`, `"s"`, `null`, 1):                                     {"source_system required"},
	} {
		b := setup(t)
		a := b.call(t, request{method: "POST", path: "/v1/entries", body: body})
		require.Equal(t, 422, a.status, body)
		require.ElementsMatch(t, rules, a.problem(t).rules(), body)
		require.Empty(t, b.calls)
	}
}
