package doctor

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"airtable-replay/internal/airtable"
	"airtable-replay/internal/config"
	"airtable-replay/internal/pipeline"
)

// The scopes that the service needs of a token, and the one that only setup needs.
const (
	scopeRead   = "data.records:read"
	scopeWrite  = "data.records:write"
	scopeSchema = "schema.bases:read"
	scopeSetup  = "schema.bases:write"
)

// checkBase looks at a base and at everything within.
func (c *check) checkBase(ctx context.Context, b *config.Base) {
	c.checkHalt(b)
	l := c.dial(b)
	defer l.close()
	if !c.checkToken(ctx, l) {
		c.unchecked(b, "nothing could be asked with its token")
		return
	}
	tables, ok := c.readSchema(ctx, l)
	if !ok {
		c.unchecked(b, "its schema cannot be read")
		return
	}
	c.checkTables(ctx, l, tables)
	c.checkHook(ctx, l)
}

// unchecked names what a failure before has left unseen.
func (c *check) unchecked(b *config.Base, why string) {
	for _, t := range c.book.TargetsOf(b.Name) {
		c.add(AreaTarget, t.Name, Warning, "was not checked: "+why, "mend the base first")
	}
	if d := c.File.DeadLetters; d != nil && d.Base == b.Name {
		c.add(AreaDeadLetters, d.Table, Warning, "was not checked: "+why, "mend the base first")
	}
}

// checkToken asks whom the token acts as, and looks at the clocks along the way.
func (c *check) checkToken(ctx context.Context, l *line) bool {
	if err := l.wait(ctx); err != nil {
		c.refused(l.base, AreaToken, err)
		return false
	}
	before, timed := c.now(ctx)
	who, err := l.client.WhoAmI(ctx)
	if timed {
		c.checkClock(ctx, l, before)
	}
	if err != nil {
		c.refused(l.base, AreaToken, err)
		return false
	}
	if l.lacks = lacking(who.Scopes, c.scopes(l.base)); len(l.lacks) > 0 {
		c.add(AreaToken, l.base.Name, Fault, "lacks the scope "+strings.Join(l.lacks, " and "), "add it to the token where tokens are made in Airtable; the token itself stays")
		return true
	}
	c.add(AreaToken, l.base.Name, OK, "acts as "+who.ID, "")
	return true
}

// lacking lists the scopes that are missing, where Airtable tells any (documented for OAuth alone).
func lacking(scopes, needed []string) []string {
	if len(scopes) == 0 {
		return nil
	}
	return slices.DeleteFunc(needed, func(s string) bool { return slices.Contains(scopes, s) })
}

// readSchema reads the base's tables.
func (c *check) readSchema(ctx context.Context, l *line) ([]airtable.Table, bool) {
	err := l.wait(ctx)
	var tables []airtable.Table
	if err == nil {
		tables, err = l.client.Schema(ctx, l.base.ID)
	}
	if err != nil {
		c.hindered(l, "read the schema of", scopeSchema, err)
		return nil, false
	}
	return tables, true
}

// checkTables holds the base's tables to the configuration.
func (c *check) checkTables(ctx context.Context, l *line, tables []airtable.Table) {
	schema := pipeline.NewSchema(tables)
	probe := ""
	if d := c.File.DeadLetters; d != nil && d.Base == l.base.Name {
		if table, ok := schema.Table(d.Table); ok {
			probe = table.ID
		}
	}
	for _, t := range c.book.TargetsOf(l.base.Name) {
		if table, ok := schema.Table(t.Table); ok {
			probe = table.ID
		}
	}
	readable := probe != "" && c.checkRights(ctx, l, probe)
	for _, t := range c.book.TargetsOf(l.base.Name) {
		c.checkTarget(ctx, &targetCheck{line: l, book: c.book, target: t, schema: schema, tables: tables, readable: readable})
	}
	c.checkDeadLetters(l.base, tables)
}

// nobody is a record that no table has, and nothing a field that none has: a write of it changes nothing
// whatever the answer, and is refused for want of the right before it is refused for that.
const (
	nobody  = "rec00000000000000"
	nothing = "airtable-replay doctor"
)

// checkRights tries whether records may be read and written; it tells whether they can be read.
func (c *check) checkRights(ctx context.Context, l *line, table string) bool {
	err := l.wait(ctx)
	if err == nil {
		_, _, err = l.client.ListPage(ctx, airtable.ListRequest{Base: l.base.ID, Table: table, MaxRecords: 1, PageSize: 1}, "")
	}
	if err != nil {
		c.hindered(l, "read records of", scopeRead, err)
	}
	readable := err == nil
	if err = l.wait(ctx); err == nil {
		_, err = l.client.WriteRecords(ctx, airtable.WriteRequest{Base: l.base.ID, Table: table, Records: []airtable.WriteRecord{
			{ID: nobody, Fields: airtable.Fields{nothing: nil}},
		}})
	}
	switch refusal, ok := errors.AsType[*airtable.Error](err); {
	case err != nil && (!ok || refusal.Status != http.StatusUnprocessableEntity && refusal.Status != http.StatusNotFound):
		c.hindered(l, "write records of", scopeWrite, err)
	case readable:
		c.add(AreaToken, l.base.Name, OK, "may read the schema, and read and write records", "")
	}
	return readable
}

// hindered words that the token may not do something.
func (c *check) hindered(l *line, what, scope string, err error) {
	b := l.base
	refusal, ok := errors.AsType[*airtable.Error](err)
	if !ok || refusal.Status != http.StatusForbidden {
		c.refused(b, AreaToken, err)
		return
	}
	if slices.Contains(l.lacks, scope) {
		return // said already, and better
	}
	c.add(AreaToken, b.Name, Fault, fmt.Sprintf("may not %s the base %s", what, b.ID),
		fmt.Sprintf("see that the token has the scope %s and the base on its list, that its user may edit the base, and that the ID is right", scope))
}

// refused words a request that failed.
func (c *check) refused(b *config.Base, area string, err error) {
	refusal, ok := errors.AsType[*airtable.Error](err)
	switch {
	case !ok:
		c.add(area, b.Name, Fault, fmt.Sprint(err), "run the check again")
	case errors.Is(err, airtable.ErrConfig):
		c.add(area, b.Name, Fault, refusal.Reason(), "mend bases."+b.Name+" in the configuration")
	case refusal.Status == http.StatusUnauthorized || refusal.Status == http.StatusForbidden:
		c.add(area, b.Name, Fault, "is refused by Airtable: "+refusal.Reason(), fmt.Sprintf(
			"make a personal access token with the scopes %s and the base %s on its list, and put it where bases.%s.token points",
			strings.Join(c.scopes(b), ", "), b.ID, b.Name))
	case refusal.IsQuota():
		c.add(area, b.Name, Fault, refusal.Reason(), "the workspace's calls of this month are used up: choose a larger plan, or wait for the next month")
	case refusal.IsRateLimit():
		c.add(area, b.Name, Fault, refusal.Reason(), "wait half a minute and run the check again; another program uses the base, too")
	case refusal.Status == 0:
		c.add(area, b.Name, Fault, "cannot be tried, since "+b.APIURL+" does not answer: "+refusal.Reason(), "check bases."+b.Name+".api_url, the network and the proxy")
	default:
		c.add(area, b.Name, Fault, refusal.Reason(), "run the check again; if it stays, look at Airtable's status page")
	}
}
