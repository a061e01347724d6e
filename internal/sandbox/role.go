package sandbox

import (
	"net/http"
	"slices"
)

// role is what a token's owner may do on a base, as Airtable's permission
// levels rank it. The owner of a base counts as a creator.
type role int

const (
	roleNone role = iota
	roleRead
	roleComment
	roleEdit
	roleCreate
)

// roleNames are the permission levels by rank.
var roleNames = []string{"none", "read", "comment", "edit", "create"}

func (r role) String() string { return roleNames[r] }

func parseRole(name string) (role, bool) {
	rank := slices.Index(roleNames, name)
	return role(max(rank, 0)), rank >= 0
}

// role is that of the request's token on the base; an open base lets everybody
// do everything.
func (c *call) role() role {
	switch {
	case c.base.open:
		return roleCreate
	case c.token == nil:
		return roleNone
	}
	return c.token.grants[c.base.id].role
}

// mayWrite refuses writes to those who only read and comment, in the words of
// what they asked for.
func (c *call) mayWrite() error {
	if !c.route.writes() || c.role() >= roleEdit {
		return nil
	}
	if c.method == http.MethodPost {
		return notPermitted("create records in table " + c.table.name + " (" + c.table.id + ")")
	}
	if f := c.firstField(); f != nil {
		return notPermitted("write cell values in field " + f.name + " (" + f.id + ")")
	}
	return notPermitted("")
}

// firstField is the first one that an update names; none for an upsert, which
// may be about to create.
func (c *call) firstField() *field {
	o, err := parseObject(c.body)
	if err != nil || o.has("performUpsert") {
		return nil
	}
	if items, ok := o.list("records"); ok && len(items) > 0 {
		if o, err = parseObject(items[0]); err != nil {
			return nil
		}
	}
	if o, err = parseObject(o.values["fields"]); err != nil || len(o.keys) == 0 {
		return nil
	}
	return c.table.field(o.keys[0])
}

// mayMint says whether typecast may add options to a select field.
func (w *writer) mayMint() bool {
	least, _ := parseRole(w.options.TypecastRole)
	return w.typecast && w.role >= least
}
