package telemetry

import (
	"context"

	"github.com/google/uuid"
)

type requestIDKey struct{}

// NewRequestID makes an ID for a request that came without one.
func NewRequestID() string { return uuid.NewString() }

// WithRequestID ties the context, and what is logged with it, to a request.
func WithRequestID(ctx context.Context, id string) context.Context {
	return context.WithValue(ctx, requestIDKey{}, id)
}

// RequestID is the ID of the request that the context belongs to; empty when it belongs to none.
func RequestID(ctx context.Context) string {
	id, _ := ctx.Value(requestIDKey{}).(string)
	return id
}

// ValidRequestID tells whether an ID that a caller sent may be taken over into logs and answers: 1 to
// 64 letters, digits, dots, dashes and underscores.
func ValidRequestID(id string) bool {
	if len(id) == 0 || len(id) > 64 {
		return false
	}
	for _, c := range []byte(id) {
		switch {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', c == '.', c == '-', c == '_':
		default:
			return false
		}
	}
	return true
}
