// Package httpapi is the REST API: it turns requests into calls on the services below and their
// answers and errors into JSON. Routes, models and parameters are generated from api/openapi.yaml into
// the nested package oapi; a reader starts with the operations table and from there finds one method
// per operation, of the operation's name.
//
// A request passes, in this order: observe (request ID, panics, one log line, metrics), identify (the
// operation, its token and scope), readBody (size, UTF-8, JSON), answerOnce (Idempotency-Key), the
// generated binding, refuseUnknown, and the operation. Every error leaves through one function,
// describe in problem.go.
//
// It must never decide anything about an entry, log or show a token or a payload that was not asked
// for, or answer with a private cause. Only app may import it.
package httpapi
