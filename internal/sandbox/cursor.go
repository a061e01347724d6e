package sandbox

import (
	"strings"
	"time"
)

// cursor is a listing that was not read to its end.
type cursor struct {
	base, table string
	rest        map[string][]string // from the next record's ID on
	expires     time.Time
}

// maxCursors bounds what is kept; the oldest listing is forgotten first.
const maxCursors = 1_000

// pause keeps the rest of a listing and gives the offset of its next page,
// which looks like itr…/rec….
func (c *call) pause(offset string, rest []string) string {
	id, _, _ := strings.Cut(offset, "/")
	cur := c.s.cursors[id]
	if cur == nil {
		id = newID("itr")
		cur = &cursor{base: c.base.id, table: c.table.id, rest: map[string][]string{}}
		c.s.cursors[id] = cur
		c.s.cursorOrder = append(c.s.cursorOrder, id)
		if len(c.s.cursorOrder) > maxCursors {
			delete(c.s.cursors, c.s.cursorOrder[0])
			c.s.cursorOrder = c.s.cursorOrder[1:]
		}
	}
	cur.expires = c.now.Add(time.Duration(c.s.options.CursorLife))
	cur.rest[rest[0]] = rest
	return id + "/" + rest[0]
}

// resume gives what is left of a listing. A client that idled too long has to
// begin again.
func (c *call) resume(offset string) ([]string, error) {
	id, next, ok := strings.Cut(offset, "/")
	if !ok || !prefixedID("itr", id) || !prefixedID("rec", next) {
		return nil, unprocessable("INVALID_OFFSET_VALUE", "The value of offset %s is invalid", offset)
	}
	cur := c.s.cursors[id]
	if cur == nil || !c.now.Before(cur.expires) || cur.base != c.base.id || cur.table != c.table.id {
		return nil, unprocessable("LIST_RECORDS_ITERATOR_NOT_AVAILABLE", "")
	}
	rest, ok := cur.rest[next]
	if !ok {
		return nil, unprocessable("LIST_RECORDS_ITERATOR_NOT_AVAILABLE", "")
	}
	return rest, nil
}
