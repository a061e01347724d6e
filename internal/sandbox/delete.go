package sandbox

import (
	"net/http"
	"net/url"
)

// deletedJSON keeps Airtable's order of keys.
type deletedJSON struct {
	Deleted bool   `json:"deleted"`
	ID      string `json:"id"`
}

func serveDelete(c *call) (any, error) {
	r, err := c.record()
	if err != nil {
		return nil, err
	}
	return c.destroy([]*record{r})[0], nil
}

// serveDeleteBatch takes the ids in the query. One that is missing fails all.
func serveDeleteBatch(c *call) (any, error) {
	ids := queryList(c.query, "records")
	if len(ids) == 0 || len(ids) > maxBatch {
		return nil, invalidRecords("You must provide an array of up to 10 record IDs.")
	}
	records := make([]*record, len(ids))
	seen := map[string]bool{}
	for i, id := range ids {
		r := c.table.byID[id]
		switch {
		case r == nil && c.s.options.BatchDeleteMissing == http.StatusNotFound:
			return nil, recordNotFound()
		case r == nil:
			return nil, rowMissing(id)
		case seen[id]:
			return nil, twiceInBatch()
		}
		seen[id] = true
		records[i] = r
	}
	return map[string]any{"records": c.destroy(records)}, nil
}

func (c *call) destroy(records []*record) []deletedJSON {
	tx := c.s.begin(c.base, c.actor(), c.now)
	out := make([]deletedJSON, len(records))
	for i, r := range records {
		tx.destroy(c.table, r)
		out[i] = deletedJSON{Deleted: true, ID: r.id}
	}
	tx.finish()
	return out
}

// queryList reads records[]=a&records[]=b, records=a and records[0]=a. Numbered
// keys break past index 20, as they do behind Airtable's parser.
func queryList(query url.Values, name string) []string {
	values := append(append([]string{}, query[name+"[]"]...), query[name]...)
	for i := range 21 {
		values = append(values, query[indexedKey(name, i)]...)
	}
	return values
}
