package sandbox

import (
	"net/http"
	"strings"
)

// breakToken changes what becomes of a token, or of its owner's role on a base.
func (c *control) breakToken() (any, error) {
	var order struct {
		Token      string     `json:"token"`
		State      tokenState `json:"state"`
		Base       string     `json:"base"`
		Permission string     `json:"permission"`
	}
	if err := c.decode(&order); err != nil {
		return nil, err
	}
	switch {
	case order.State != "" && order.Permission == "" && order.Base == "":
		return struct{}{}, c.s.SetToken(order.Token, string(order.State))
	case order.State == "" && order.Permission != "":
		return struct{}{}, c.s.SetPermission(order.Token, order.Base, order.Permission)
	}
	return nil, refuse(http.StatusUnprocessableEntity, "state, permission: exactly one of them is needed; base goes with permission")
}

// SetPermission changes the role that a token's owner has on a base: none,
// read, comment, edit or create. Base is an ID, or empty for all bases of the
// token, which is named in full or by what stands before its dot.
func (s *Sandbox) SetPermission(name, baseID, permission string) error {
	next, ok := parseRole(permission)
	if !ok {
		return refuse(http.StatusUnprocessableEntity, "permission: %q is none of %s", permission, strings.Join(roleNames, ", "))
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	found := false
	for _, t := range s.tokens {
		if t.secret != name && t.label() != name {
			continue
		}
		for id, held := range t.grants {
			if baseID == "" || id == baseID {
				held.role = next
				t.grants[id], found = held, true
			}
		}
	}
	if !found {
		return refuse(http.StatusNotFound, "token: the seed lists none of that name for the base")
	}
	return nil
}

// SetToken makes a token valid, revoked (answered 401) or forbidden (403). It
// is named in full or by what stands before its dot.
func (s *Sandbox) SetToken(name, state string) error {
	next := tokenState(state)
	if next != tokenValid && next != tokenRevoked && next != tokenForbidden {
		return refuse(http.StatusUnprocessableEntity, "state: %q is none of valid, revoked, forbidden", state)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	found := false
	for _, t := range s.tokens {
		if t.secret == name || t.label() == name {
			t.state, found = next, true
		}
	}
	if !found {
		return refuse(http.StatusNotFound, "token: the seed lists none of that name")
	}
	return nil
}
