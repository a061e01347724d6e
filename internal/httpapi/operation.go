package httpapi

import "net/http"

// The scopes of a token. Admin implies all others; no other scope implies another.
const (
	ScopeRead   = "read"
	ScopeWrite  = "write"
	ScopeReplay = "replay"
	ScopeAdmin  = "admin"
)

// Scopes lists every scope that a token can have.
func Scopes() []string { return []string{ScopeRead, ScopeWrite, ScopeReplay, ScopeAdmin} }

// operation is one row of the API: the operationId, which is also the name of its method and of its
// log line, the scope that it needs, and whether it takes an Idempotency-Key.
type operation struct {
	name    string
	scope   string // empty: open to everybody
	creates bool
}

// operations finds the operation of a method and route pattern. A test holds it and the spec together.
var operations = map[string]operation{
	"POST /v1/entries":                {"FileEntry", ScopeWrite, true},
	"GET /v1/entries":                 {"ListEntries", ScopeRead, false},
	"GET /v1/entries/summary":         {"SummarizeEntries", ScopeRead, false},
	"GET /v1/entries/{id}":            {"ShowEntry", ScopeRead, false},
	"GET /v1/entries/{id}/history":    {"ListEntryHistory", ScopeRead, false},
	"POST /v1/entries/{id}/replay":    {"PressReplay", ScopeReplay, true},
	"GET /v1/entries/{id}/preview":    {"PreviewReplay", ScopeReplay, false},
	"POST /v1/entries/{id}/reset":     {"ResetEntry", ScopeAdmin, false},
	"POST /v1/entries/{id}/ignore":    {"IgnoreEntry", ScopeReplay, false},
	"POST /v1/entries/{id}/reopen":    {"ReopenEntry", ScopeAdmin, false},
	"POST /v1/entries/{id}/owner":     {"AssignOwner", ScopeReplay, false},
	"PUT /v1/entries/{id}/payload":    {"EditPayload", ScopeReplay, false},
	"GET /v1/entries/{id}/payloads":   {"ListPayloads", ScopeRead, false},
	"GET /v1/entries/{id}/restore":    {"PreviewRestore", ScopeReplay, false},
	"POST /v1/entries/{id}/restore":   {"RestoreEntry", ScopeReplay, true},
	"POST /v1/entries/ignore":         {"IgnoreEntries", ScopeReplay, false},
	"POST /v1/entries/reopen":         {"ReopenEntries", ScopeAdmin, false},
	"POST /v1/entries/owner":          {"AssignEntries", ScopeReplay, false},
	"POST /v1/runs":                   {"StartRun", ScopeReplay, true},
	"GET /v1/runs":                    {"ListRuns", ScopeRead, false},
	"GET /v1/runs/{id}":               {"ShowRun", ScopeRead, false},
	"POST /v1/runs/{id}/cancel":       {"CancelRun", ScopeReplay, false},
	"GET /v1/runs/{id}/events":        {"WatchRun", ScopeRead, false},
	"GET /v1/runs/{id}/evidence":      {"ShowEvidence", ScopeRead, false},
	"POST /v1/writes":                 {"AcceptWrites", ScopeWrite, true},
	"GET /v1/writes/{id}":             {"ShowWrite", ScopeRead, false},
	"POST /v1/validate":               {"ValidatePayload", ScopeWrite, false},
	"GET /v1/stuck":                   {"ListStuck", ScopeRead, false},
	"POST /v1/stuck/reset":            {"ResetStuck", ScopeAdmin, false},
	"GET /v1/bases":                   {"ListBases", ScopeRead, false},
	"POST /v1/bases/{name}/halt":      {"HaltBase", ScopeAdmin, false},
	"POST /v1/bases/{name}/resume":    {"ResumeBase", ScopeAdmin, false},
	"POST /v1/airtable/notifications": {"HearNotification", "", false},
	"GET /healthz":                    {"CheckHealth", "", false},
	"GET /readyz":                     {"CheckReadiness", "", false},
	"GET /metrics":                    {"ShowMetrics", "", false},
	"GET /openapi.yaml":               {"ShowSpec", "", false},
}

// operationOf finds the operation of a routed request. HEAD is answered as GET.
func operationOf(method, pattern string) (operation, bool) {
	if method == http.MethodHead {
		method = http.MethodGet
	}
	op, ok := operations[method+" "+pattern]
	return op, ok
}
