// Package console is the web console: pages for the people who work through dead letters. It turns
// requests into calls on the services below, and their answers into pages; templates and assets stand
// in web/console, and nothing is built.
//
// A request passes, in this order: observe (request ID, panics, one log line), the cross-origin check,
// and admit (the session and its scope); a page is rendered whole before its first byte is sent. Every
// page works without JavaScript; scripts add the drag on the timeline, previews in place, live
// progress and keys.
//
// It must never decide anything about an entry, never log a token or a payload, and never put a value
// into a page unescaped. Only app may import it.
package console
