package sandbox_test

import (
	"context"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"

	"airtable-replay/internal/sandbox"
)

// focused tells which cell has the focus: the row's record, and the column's name.
const focused = `(() => {
	const cell = document.activeElement.closest('[data-column]');
	if (!cell) return document.activeElement.id || document.activeElement.tagName;
	const editing = cell.matches('.editing') ? 'editing ' : '';
	const heads = [...document.querySelectorAll('#grid thead th')];
	const head = heads.find(th => th.dataset.column === cell.dataset.column);
	return editing + (cell.parentNode.dataset.record ?? 'head') + ' ' + (head.querySelector('.glyph')?.nextSibling.textContent ?? head.textContent);
})()`

func (p *tab) at(want string) {
	p.t.Helper()
	p.until(focused + ` === ` + quote(want))
}

// changed waits for the log to end with that change.
func (w *world) changed(want sandbox.Change) {
	w.t.Helper()
	ctx, cancel := context.WithTimeout(w.t.Context(), 3*time.Minute)
	defer cancel()
	var last sandbox.Change
	err := w.box.Await(ctx, func() bool {
		if all := w.box.Changes(); len(all) > 0 {
			last = all[len(all)-1]
		}
		return last.Record == want.Record && last.Field == want.Field && last.By == want.By && cmp.Equal(want.New, last.New)
	})
	require.NoError(w.t, err, "waiting for %+v, the last one is %+v", want, last)
	require.Zero(w.t, last.Request, "a person makes no API request")
}

// testKeyboard does everything without a mouse.
func (b *browser) testKeyboard(t *testing.T) {
	w := newWorld(t, noLimits())
	p := b.open(t, w.url+"/", wide)
	p.run(chromedp.Focus(chromedp.CSS("#tabs [aria-selected=true]")))
	p.press(kb.ArrowRight)
	p.until(`document.querySelector('#grid').getAttribute('aria-label') === 'Orders'`)
	for range 3 { // search, button, keys
		p.press(kb.Tab)
	}
	p.press(kb.Tab)
	p.at("recOrder000000001 Order ID")
	require.Equal(t, 1, ask[int](p, `document.querySelectorAll('#grid [tabindex="0"]').length`), "one cell of the grid can be tabbed to")

	p.press(kb.ArrowDown)
	p.at("recOrder000000002 Order ID")
	p.press(kb.ArrowDown, kb.ArrowUp, kb.ArrowUp, kb.ArrowUp)
	p.at("head Order ID")
	p.press(kb.ArrowDown, kb.ArrowRight, kb.ArrowRight, kb.ArrowRight)
	p.at("recOrder000000001 Qty")
	p.press(kb.End)
	p.at("recOrder000000001 Open")
	p.press(kb.Home)
	p.at("recOrder000000001 Record#")
	p.press(kb.ArrowRight, kb.ArrowRight, kb.ArrowRight, kb.ArrowRight)
	p.at("recOrder000000001 Qty")

	outline := ask[string](p, `getComputedStyle(document.activeElement).outlineStyle + ' ' + getComputedStyle(document.activeElement).outlineWidth`)
	require.Equal(t, "solid 2px", outline, "the focus can be seen")

	p.press(kb.Enter)
	p.until(`document.activeElement.tagName === 'INPUT'`)
	p.press("12")
	p.press(kb.Escape)
	p.at("recOrder000000001 Qty")
	require.Empty(t, w.box.Changes(), "Escape leaves the cell as it was")

	p.press("7", ".", "5", kb.Enter)
	p.at("recOrder000000001 Qty")
	w.changed(sandbox.Change{Record: "recOrder000000001", Field: "Qty", By: "Support agent", New: 7.5})
	p.until(`document.activeElement.textContent === '7.5'`)

	p.press("x", kb.Enter)
	p.until(`document.activeElement.getAttribute('aria-invalid') === 'true'`)
	p.until(`[...document.querySelectorAll('[role=alert]')].some(e => e.textContent === 'Qty takes a number such as 12.5.')`)
	p.press(kb.Escape)
	p.press(kb.Delete)
	w.changed(sandbox.Change{Record: "recOrder000000001", Field: "Qty", By: "Support agent", New: nil})
	p.at("recOrder000000001 Qty")

	p.editOthers(w)
	p.renameByKeys(w)
	p.recordByKeys(w)
	p.sound()
}

// editOthers changes cells of other types.
func (p *tab) editOthers(w *world) {
	p.t.Helper()
	p.press(kb.ArrowLeft, kb.ArrowLeft)
	p.at("recOrder000000001 Status")
	p.press(kb.Enter)
	p.until(`document.activeElement.tagName === 'SELECT'`)
	p.press(kb.ArrowUp, kb.ArrowUp, kb.Enter)
	w.changed(sandbox.Change{Record: "recOrder000000001", Field: "Status", By: "Support agent", New: "Pending"})
	p.at("recOrder000000001 Status")

	p.press(kb.ArrowRight, kb.Enter)
	p.until(`document.activeElement.type === 'checkbox'`)
	p.press(" ", kb.Tab, " ", kb.Enter)
	w.changed(sandbox.Change{Record: "recOrder000000001", Field: "Tags", By: "Support agent", New: []any{"red", "green"}})
	p.at("recOrder000000001 Tags")

	p.to("Active")
	p.press(" ")
	w.changed(sandbox.Change{Record: "recOrder000000001", Field: "Active", By: "Support agent", New: true})

	p.to("Notes")
	p.press(kb.Enter)
	p.until(`document.activeElement.tagName === 'TEXTAREA'`)
	p.press("one")
	p.pressWith(chromedp.ModifierShift, kb.Enter)
	p.press("two", kb.Enter)
	w.changed(sandbox.Change{Record: "recOrder000000001", Field: "Notes", By: "Support agent", New: "one\ntwo"})
	p.at("recOrder000000001 Notes")

	p.to("Account")
	p.press(kb.Enter)
	p.until(`document.querySelectorAll('.choices label').length === 2`)
	p.press("bolt")
	p.until(`document.querySelectorAll('.choices label').length === 1`)
	p.press(kb.Tab, " ", kb.Enter)
	w.changed(sandbox.Change{Record: "recBolt0000000001", Field: "Orders", By: "Support agent", New: []string{"recOrder000000001"}})
	p.at("recOrder000000001 Account")

	p.to("Label")
	p.press(kb.Enter)
	p.until(`[...document.querySelectorAll('.toast')].some(e => e.textContent === 'Label is computed; nobody can edit it.')`)
	p.at("recOrder000000001 Label")
}

// to goes to a column of the first row by the arrow keys.
func (p *tab) to(column string) {
	p.t.Helper()
	p.press(kb.Home)
	for range 40 {
		if ask[string](p, focused) == "recOrder000000001 "+column {
			return
		}
		p.press(kb.ArrowRight)
	}
	p.t.Fatalf("no column %s", column)
}

func (p *tab) renameByKeys(w *world) {
	p.t.Helper()
	p.to("Qty")
	p.press(kb.ArrowUp, kb.Enter)
	p.until(`document.activeElement.tagName === 'INPUT'`)
	p.press("Quantity", kb.Enter)
	p.at("head Quantity")
	w.api("PATCH", "/Orders/recOrder000000001", `{"fields":{"Qty":1}}`).fails(422, "UNKNOWN_FIELD_NAME", `Unknown field name: "Qty"`)
}

func (p *tab) recordByKeys(w *world) {
	p.t.Helper()
	p.press(kb.ArrowDown)
	p.to("Label")
	p.press(" ")
	p.until(`document.querySelector('#record').open`)
	p.press(kb.Escape)
	p.until(`!document.querySelector('#record').open`)
	p.at("recOrder000000001 Label")
	p.press(kb.Home, kb.ArrowDown, kb.Enter)
	p.until(`document.querySelector('#record').open && document.querySelector('#record-title').textContent === 'O-2'`)
	p.run(chromedp.Focus(chromedp.CSS("#record-fields input")))
	p.press(kb.End, "b", kb.Enter)
	w.changed(sandbox.Change{Record: "recOrder000000002", Field: "Order ID", By: "Support agent", New: "O-2b"})
	p.until(`!document.querySelector('#record').open`)
	p.press(kb.Enter)
	p.until(`document.querySelector('#record').open`)
	p.run(chromedp.Focus(chromedp.CSS("#record-delete")))
	p.press(kb.Enter)
	p.until(`document.querySelector('#record-delete').textContent === 'Really delete?'`)
	require.NotNil(p.t, w.record("recOrder000000002"))
	p.press(kb.Enter)
	p.until(`document.querySelectorAll('#grid tbody tr').length === 1`)
	require.Nil(p.t, w.record("recOrder000000002"))
}

// record finds an order, nil when it is gone.
func (w *world) record(id string) *sandbox.Record {
	w.t.Helper()
	all, err := w.box.Records(baseID, "Orders")
	require.NoError(w.t, err)
	for i := range all {
		if all[i].ID == id {
			return &all[i]
		}
	}
	return nil
}
