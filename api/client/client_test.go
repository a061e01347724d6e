package client_test

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"airtable-replay/api/client"

	"github.com/stretchr/testify/require"
)

// serve answers one request with a status and a body of a type, and keeps what was sent.
func serve(t *testing.T, status int, contentType, body string) (c *client.ClientWithResponses, sent *[]byte) {
	t.Helper()
	sent = new([]byte)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		*sent, _ = io.ReadAll(r.Body)
		w.Header().Set("Content-Type", contentType)
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	}))
	t.Cleanup(s.Close)
	token := func(_ context.Context, r *http.Request) error {
		r.Header.Set("Authorization", "Bearer t")
		return nil
	}
	c, err := client.NewClientWithResponses(s.URL, client.WithRequestEditorFn(token))
	require.NoError(t, err)
	return c, sent
}

func TestDigitsSurviveTheClient(t *testing.T) {
	t.Parallel()
	c, sent := serve(t, 202, "application/json", `{"run_id": "r", "entry": {"replay": {"fields_replayed": {"id": 1970670598291982290, "note": null}}}}`)
	expect := map[string]json.RawMessage{"id": json.RawMessage(`1970670598291982290`)}
	mode := client.ModeChosenFields
	a, err := c.PressReplayWithResponse(t.Context(), "e", nil, client.Press{Mode: &mode, Fields: []string{"id"}, Expect: &expect})
	require.NoError(t, err)
	require.JSONEq(t, `{"mode": "chosen_fields", "fields": ["id"], "expect": {"id": 1970670598291982290}}`, string(*sent))
	require.Contains(t, string(*sent), "1970670598291982290")
	require.Equal(t, "1970670598291982290", string(a.JSON202.Entry.Replay.FieldsReplayed["id"]))
	require.Equal(t, "null", string(a.JSON202.Entry.Replay.FieldsReplayed["note"]))
}

func TestProblemsReachTheCaller(t *testing.T) {
	t.Parallel()
	c, _ := serve(t, 409, "application/problem+json",
		`{"type": "/problems/entry-not-pending", "title": "Entry not pending", "status": 409, "detail": "d", "request_id": "x", "entry_status": "resolved", "run_id": "r"}`)
	a, err := c.PressReplayWithResponse(t.Context(), "e", nil, client.Press{})
	require.NoError(t, err)
	require.Equal(t, 409, a.StatusCode())
	require.Nil(t, a.JSON202)
	require.Equal(t, "/problems/entry-not-pending", a.ApplicationProblemJSONDefault.Type)
	require.Equal(t, client.StatusResolved, *a.ApplicationProblemJSONDefault.EntryStatus)
}
