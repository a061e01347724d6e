package sandbox

import (
	"slices"
	"strings"
)

// allScopes are those of a token that the seed lists without any.
var allScopes = []string{
	"data.records:read", "data.records:write", "data.recordComments:read", "data.recordComments:write",
	"schema.bases:read", "schema.bases:write", "webhook:manage", "user.email:read",
}

type tokenState string

const (
	tokenValid     tokenState = "valid"
	tokenRevoked   tokenState = "revoked"
	tokenForbidden tokenState = "forbidden"
)

// token is a personal access token. It reaches the bases that list it, with
// the scopes given there.
type token struct {
	secret string
	owner  person
	state  tokenState
	grants map[string]grant // by base ID
}

// grant is what a token may do on a base: its own scopes, and the role that
// its owner has there. Either alone is not enough.
type grant struct {
	scopes []string
	role   role
}

// label is the part of a token that may be shown: what stands before the dot.
func (t *token) label() string { return tokenLabel(t.secret) }

func tokenLabel(secret string) string {
	label, _, dotted := strings.Cut(secret, ".")
	if !dotted && len(label) > 17 {
		return label[:8]
	}
	return label
}

func (s *Sandbox) token(secret string) *token {
	for _, t := range s.tokens {
		if t.secret == secret {
			return t
		}
	}
	return nil
}

// allows says whether the token may do on a base what needs scope.
func (t *token) allows(baseID, scope string) bool {
	return slices.Contains(t.grants[baseID].scopes, scope)
}

// scopes is the union over its bases.
func (t *token) scopes() []string {
	var all []string
	for _, scope := range allScopes {
		for _, granted := range t.grants {
			if slices.Contains(granted.scopes, scope) {
				all = append(all, scope)
				break
			}
		}
	}
	return all
}

// anonymous is who writes to an open base without a token.
var anonymous = person{ID: "usrAnonymousSandb", Name: "Anonymous"}

func bearer(header string) string {
	scheme, secret, ok := strings.Cut(header, " ")
	if !ok || !strings.EqualFold(scheme, "Bearer") {
		return ""
	}
	return strings.TrimSpace(secret)
}
