package telemetry

// The keys of log lines. One thing has one name in every package, so that a search finds all of it.
const (
	KeyRequestID  = "request_id"
	KeyOperation  = "operation" // the operationId of the API
	KeyMethod     = "method"
	KeyPath       = "path" // the route's pattern or, where none matched, the path as asked for
	KeyStatus     = "status"
	KeyDurationMS = "duration_ms"
	KeyBytes      = "bytes"
	KeyToken      = "token" // the name of an API token, never its secret
	KeyProblem    = "problem"
	KeyReplayed   = "idempotent_replayed"
	KeyStack      = "stack"

	KeyEntryID = "entry_id"
	KeyRunID   = "run_id"
	KeyWriteID = "write_id"
	KeyBase    = "base"
	KeyTarget  = "target"
	KeySource  = "source"
	KeyReason  = "reason"
	KeyCount   = "count"
	KeyActor   = "actor"
	KeyError   = "error"
)
