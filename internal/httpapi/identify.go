package httpapi

import (
	"crypto/sha256"
	"fmt"
	"net/http"
	"strings"

	"airtable-replay/internal/deadletter"

	"github.com/go-chi/chi/v5"
)

// identify names the operation of a routed request and lets it pass when its token has the scope.
func (s *server) identify(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		x := exchangeOf(r.Context())
		pattern := chi.RouteContext(r.Context()).RoutePattern()
		op, ok := operationOf(r.Method, pattern)
		if !ok {
			// Without its row nobody knows which scope it needs.
			refuse(w, r, fmt.Errorf("route %s %s has no row in the operations table", r.Method, pattern))
			return
		}
		x.op = op
		if op.scope != "" {
			if err := s.authorize(r, x); err != nil {
				refuse(w, r, err)
				return
			}
		}
		next.ServeHTTP(w, r)
	})
}

func (s *server) authorize(r *http.Request, x *exchange) error {
	secret, ok := bearer(r.Header.Values("Authorization"))
	if !ok {
		return &refusal{
			status: http.StatusUnauthorized, problem: "unauthenticated", challenge: `Bearer realm="airtable-replay"`,
			detail: "send a token as Authorization: Bearer TOKEN; `airtable-replay token create` makes one",
		}
	}
	token, err := s.Tokens.TokenByHash(r.Context(), sha256.Sum256([]byte(secret)))
	if deadletter.CodeOf(err) == deadletter.CodeNotFound {
		return &refusal{
			status: http.StatusUnauthorized, problem: "unauthenticated",
			challenge: `Bearer realm="airtable-replay", error="invalid_token"`,
			detail:    "the token is unknown or revoked",
		}
	}
	if err != nil {
		return fmt.Errorf("find token: %w", err)
	}
	x.token = token
	return x.require(x.op.scope)
}

// require refuses a request whose token lacks a scope.
func (x *exchange) require(scope string) error {
	if x.allows(scope) {
		return nil
	}
	return &refusal{
		status: http.StatusForbidden, problem: "forbidden",
		challenge: fmt.Sprintf(`Bearer realm="airtable-replay", error="insufficient_scope", scope="%s"`, scope),
		detail:    fmt.Sprintf("%s needs the scope %s, which this token does not have", x.op.name, scope),
	}
}

// bearer takes the secret out of the Authorization header, which must be there exactly once.
func bearer(values []string) (string, bool) {
	if len(values) != 1 {
		return "", false
	}
	scheme, secret, _ := strings.Cut(values[0], " ")
	secret = strings.TrimSpace(secret)
	return secret, strings.EqualFold(scheme, "Bearer") && secret != ""
}
