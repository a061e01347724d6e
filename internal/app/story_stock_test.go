package app_test

import (
	"encoding/json"
	"testing"

	"airtable-replay/internal/app/apptest"

	"github.com/stretchr/testify/require"
)

// Stock is the table of the stories about kinds of senders: a field of the sender's own, a shared one,
// and a place for every kind of version.
const stockTable = `
- name: Stock
  primary: SKU
  fields:
    - {name: SKU, type: singleLineText}
    - {name: Price, type: number}
    - {name: Shelf, type: singleLineText}
    - {name: Shelf Changed At, type: lastModifiedTime, watches: [Shelf]}
    - {name: Version, type: dateTime}
    - {name: Sequence, type: number}
    - {name: Serial, type: singleLineText}
    - {name: Stamp, type: singleLineText}
  records:
    - {_id: recStk00000000001, SKU: S-1, Price: 10, Shelf: A, Version: 2026-09-30T08:00:00Z, Sequence: 5, Serial: "9007199254740992"}
    - {_id: recStk00000000002, SKU: S-2, Price: 10, Shelf: A}
`

const stockRecord = "recStk00000000001"

// stock is one way to configure the table. Version and source are YAML in flow style.
type stock struct {
	version string // of the target; empty: none
	target  string // more members of the target
	source  string // members of the source beside target, id and fields
	more    string // more sources
}

func newStock(t *testing.T, c stock, o apptest.Options) *apptest.World {
	t.Helper()
	version := ""
	if c.version != "" {
		version = "version: " + c.version + ", "
	}
	o.Seed = apptest.SeedWith(stockTable)
	o.Config = apptest.ConfigWith(t, apptest.Rules{
		Targets: "Stock: {base: orders, table: Stock, key: SKU, " + version + c.target + " fields: {Price: {}, Shelf: {shared: Shelf Changed At}}}",
		Sources: "stock-system: {target: Stock, id: sku, " + c.source + ", fields: {Price: price, Shelf: shelf}}\n" + c.more,
	})
	return apptest.New(t, o)
}

// item is a payload of the stock system.
func item(t *testing.T, sku string, members apptest.Doc) string {
	t.Helper()
	p := apptest.Doc{"sku": sku}
	for k, v := range members {
		p[k] = v
	}
	b, err := json.Marshal(p)
	require.NoError(t, err)
	return string(b)
}

func fileItem(t *testing.T, w *apptest.World, payload string) string {
	t.Helper()
	return w.File(t, payload, apptest.Doc{"source_system": "stock-system"})
}

func stockCells(t *testing.T, w *apptest.World, sku string) apptest.Doc {
	t.Helper()
	return w.Cells(t, "Stock", "SKU", sku)
}
