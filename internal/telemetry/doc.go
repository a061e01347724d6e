// Package telemetry sets up what the service tells about itself: structured logs (text for people,
// JSON in production), the names of log keys, the ID that ties all lines of one request together, and
// the registry of metrics.
//
// It must never log a payload, a token or any other secret, and it keeps no global state: loggers and
// registries are made once at start and handed down. Every package but the domain may import it.
package telemetry
