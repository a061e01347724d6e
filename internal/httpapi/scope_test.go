package httpapi_test

import (
	"errors"
	"net/http"
	"strings"
	"testing"

	"airtable-replay/internal/httpapi"

	"github.com/stretchr/testify/require"
)

// bodies are requests that each operation takes, where it needs more than nothing.
var bodies = map[string]string{
	"FileEntry":        filing,
	"ReopenEntry":      `{"reason": "again"}`,
	"AssignOwner":      `{"assigned_owner": "ada"}`,
	"EditPayload":      `{"raw_payload": "{}", "reason": "mended"}`,
	"IgnoreEntries":    `{"ids": ["` + entryID + `"]}`,
	"ReopenEntries":    `{"ids": ["` + entryID + `"], "reason": "again"}`,
	"AssignEntries":    `{"ids": ["` + entryID + `"], "assigned_owner": "ada"}`,
	"HearNotification": `{"webhook": {"id": "ach1"}}`,
	"StartRun":         `{"selector": {"source": "order-system"}}`,
	"AcceptWrites":     `{"source_system": "order-system", "payload": {}}`,
	"ValidatePayload":  `{"source_system": "order-system", "payload": {}}`,
}

func sample(route string, op httpapi.Operation) request {
	method, path, _ := strings.Cut(route, " ")
	id := entryID
	switch {
	case strings.HasPrefix(path, "/v1/runs"):
		id = runID
	case strings.HasPrefix(path, "/v1/writes"):
		id = writeID
	}
	return request{method: method, path: strings.NewReplacer("{id}", id, "{name}", "orders").Replace(path), body: bodies[op.Name]}
}

// TestScopes asks every operation with every scope, no token, and a wrong one.
func TestScopes(t *testing.T) {
	t.Parallel()
	for route, op := range httpapi.Operations() {
		t.Run(op.Name, func(t *testing.T) {
			t.Parallel()
			for _, scope := range append(httpapi.Scopes(), "none") {
				b := setup(t)
				q := sample(route, op)
				q.token = scope
				a := b.call(t, q)
				if op.Scope == "" || scope == op.Scope || scope == httpapi.ScopeAdmin {
					require.Less(t, a.status, 300, "%s: %s", scope, a.body)
					continue
				}
				require.Equal(t, http.StatusForbidden, a.status, scope)
				p := a.problem(t)
				require.Equal(t, "/problems/forbidden", p.Type)
				require.Contains(t, p.Detail, "the scope "+op.Scope+",")
				require.Contains(t, a.header.Get("WWW-Authenticate"), `error="insufficient_scope", scope="`+op.Scope+`"`)
				require.Empty(t, b.calls)
			}
			for _, token := range []string{"-", "stolen"} {
				b := setup(t)
				q := sample(route, op)
				q.token = token
				a := b.call(t, q)
				if op.Scope == "" {
					require.Less(t, a.status, 300)
					continue
				}
				require.Equal(t, http.StatusUnauthorized, a.status)
				require.Equal(t, "/problems/unauthenticated", a.problem(t).Type)
				require.Contains(t, a.header.Get("WWW-Authenticate"), "Bearer")
				require.Empty(t, b.calls)
			}
		})
	}
}

func TestAuthorizationHeader(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for value, status := range map[string]int{
		"Bearer secret-read": 200, "bearer secret-read": 200, "BEARER   secret-read": 200,
		"": 401, "Bearer": 401, "Bearer ": 401, "Basic secret-read": 401, "secret-read": 401, "Bearer secret-read x": 401,
	} {
		a := b.call(t, request{method: "GET", path: "/v1/bases", token: "-", header: map[string]string{"Authorization": value}})
		require.Equal(t, status, a.status, value)
	}
}

func TestTokensThatCannotBeLookedUpAreNoRefusal(t *testing.T) {
	t.Parallel()
	b := setup(t, func(c *httpapi.Config) { c.Tokens = brokenTokens{} })
	a := b.call(t, request{method: "GET", path: "/v1/bases"})
	require.Equal(t, 500, a.status)
	require.Equal(t, "find token: database is gone", b.lines(t)[0]["error"])
}

func TestAuthorizationComesBeforeTheRequestIsLookedAt(t *testing.T) {
	t.Parallel()
	b := setup(t)
	require.Equal(t, 401, b.call(t, request{method: "GET", path: "/v1/entries?limit=abc", token: "-"}).status)
	require.Equal(t, 403, b.call(t, request{method: "POST", path: "/v1/runs", body: "{", token: "read"}).status)
}

func TestConfigMustBeComplete(t *testing.T) {
	t.Parallel()
	_, err := httpapi.New(httpapi.Config{})
	require.ErrorContains(t, err, "is missing")
	s := newServices()
	c := httpapi.Config{Filing: s, Entries: s, Presses: s, Reviews: s, Payloads: s, Restores: s, Runs: s, Stuck: s, Bases: s, Writes: s, Tokens: tokens{}, Answers: &answers{}}
	_, err = httpapi.New(c)
	require.ErrorContains(t, err, "Logger")
	c.Stuck = nil
	_, err = httpapi.New(c)
	require.EqualError(t, err, "httpapi: Config.Stuck is missing")
}

var errGone = errors.New("database is gone")
