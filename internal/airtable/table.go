package airtable

import (
	"context"
	"errors"
	"fmt"
	"net/http"
)

// CreateTable adds a table to a base (scope schema.bases:write) and returns it with its IDs. The first
// field becomes the primary one. Computed fields cannot be made this way.
func (c *Client) CreateTable(ctx context.Context, base, name, description string, fields []Field) (Table, error) {
	in := call{op: "create table", method: http.MethodPost, base: base, table: name}
	if base == "" || name == "" || len(fields) == 0 {
		return Table{}, invalid(in.op, fmt.Errorf("table %q with %d fields: name base and table, and give one field or more", name, len(fields)))
	}
	body, err := encode(map[string]any{"name": name, "description": description, "fields": fields})
	if err != nil {
		return Table{}, invalid(in.op, err)
	}
	var answer Table
	in.url, in.body, in.answer = c.endpoint("meta", "bases", base, "tables"), body, &answer
	in.check = func() error {
		if answer.ID == "" {
			return errors.New("no table in it")
		}
		return nil
	}
	if err := c.send(ctx, in); err != nil {
		return Table{}, err
	}
	return answer, nil
}
