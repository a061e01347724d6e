package httpapi

import (
	"context"
	"slices"

	"airtable-replay/internal/store"
)

// exchange is what is known of one request while it is answered; the log line is made of it.
type exchange struct {
	op    operation
	token store.Token
	body  []byte // as read by readBody

	entryID, runID, writeID string
	problem                 string // the last segment of the problem's type
	err                     error  // the private cause of an answer of 5xx
	panicked                []byte // the stack
	replayed                bool   // answered from the store of idempotency keys
}

type exchangeKey struct{}

func withExchange(ctx context.Context, x *exchange) context.Context {
	return context.WithValue(ctx, exchangeKey{}, x)
}

// exchangeOf is the exchange of a request that passed observe.
func exchangeOf(ctx context.Context) *exchange {
	x, ok := ctx.Value(exchangeKey{}).(*exchange)
	if !ok {
		panic("a request that did not pass observe")
	}
	return x
}

// allows tells whether the request's token has a scope; admin has them all.
func (x *exchange) allows(scope string) bool {
	return slices.Contains(x.token.Scopes, scope) || slices.Contains(x.token.Scopes, ScopeAdmin)
}
