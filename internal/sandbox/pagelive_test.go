package sandbox_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/stretchr/testify/require"

	"airtable-replay/internal/sandbox"
)

// quote makes a JavaScript string.
func quote(text string) string {
	raw, err := json.Marshal(text)
	if err != nil {
		panic(err)
	}
	return string(raw)
}

// shows waits for a text somewhere in what a selector finds.
func (p *tab) shows(selector, text string) {
	p.t.Helper()
	p.until(`[...document.querySelectorAll(` + quote(selector) + `)].some(e => e.textContent.includes(` + quote(text) + `))`)
}

// testReplayButton presses Replay on a dead letter, by mouse and by key.
func (b *browser) testReplayButton(t *testing.T) {
	w, presses := deadLetterWorld(t)
	p := b.open(t, w.url, wide)
	p.shows("#grid", "d-1")
	button := `[data-record=recLetter00000001] .replay button`
	p.click(button)
	require.Equal(t, posted{"/v1/entries/recLetter00000001/replay", "Bearer button-secret", `{"requested_by":"Support agent"}`}, <-presses)
	p.shows(button, "Requested")
	p.click(button)
	require.True(t, ask[bool](p, `document.querySelector(`+quote(button)+`).getAttribute('aria-disabled') === 'true'`))

	w.api("PATCH", "/Dead%20Letter%20Queue/recLetter00000001", `{"fields":{"Replay Requested":false,"Status":"Resolved","Replay Outcome":"Replayed"}}`).fields()
	p.until(`document.querySelector(` + quote(button) + `).textContent === 'Replay'`)
	p.shows("[data-record=recLetter00000001]", "Resolved")

	p.fill("#person", "Dana")
	p.click("[data-record=recLetter00000002] .primary")
	p.press(kb.ArrowLeft, kb.Enter)
	require.Equal(t, posted{"/v1/entries/recLetter00000002/replay", "Bearer button-secret", `{"requested_by":"Dana"}`}, <-presses)
	require.Empty(t, presses, "a button that waits is not pressed twice")
	p.sound()
}

// testLive shows what others do, as they do it.
func (b *browser) testLive(t *testing.T) {
	w := newWorld(t, sandbox.Config{Rate: 5, Penalty: 30 * time.Second})
	p := b.open(t, w.url+"/#"+baseID+"/"+w.tableID("Orders"), wide)
	p.shows("#grid", "O-2")

	w.api("PATCH", "/Orders/recOrder000000001", `{"fields":{"Delivery Date":"2026-10-09"}}`).fields()
	p.shows("#grid td", "2026-10-09")
	p.until(`document.querySelector('#grid td.changed')?.textContent === '2026-10-09'`)
	p.shows("#change-log .api", "Delivery Date: 2026-10-01 → 2026-10-09")
	p.click("#change-log .jump")
	p.until(`document.activeElement.id === 'request-1'`)
	p.shows("#request-log li", "PATCH")
	p.shows("#request-log pre", `"Delivery Date": "2026-10-09"`)

	w.control("PATCH", "/"+baseID+"/Orders/recOrder000000002", `{"fields":{"Qty":11},"by":"Dana"}`)
	p.shows("#change-log .hand", "Qty: 0 → 11by Dana")
	made := w.api("POST", "/Orders", `{"fields":{"Order ID":"O-3"}}`).json()["id"].(string)
	p.shows("#grid tr.new", "O-3")
	p.shows("#tabs [aria-selected=true] .count", "3")
	require.Equal(t, http.StatusOK, w.api("DELETE", "/Orders/"+made, "").status)
	p.until(`document.querySelectorAll('#grid tbody tr').length === 2`)

	for range 4 {
		w.api("GET", "/Orders", "")
	}
	p.shows("#notices", "The rate limit was passed: Orders refuses everything until 12:00:30 UTC.")
	p.shows("#request-log .status", "429")
	p.click("#clear-requests")
	p.until(`document.querySelector('#request-log').children.length === 0`)
	p.click("#tab-time")
	p.click("[data-advance='30s']")
	p.until(`document.querySelector('#notices').children.length === 0`)
	p.shows("#offset", "That is 30s from the real time.")
	require.Equal(t, start.Add(30*time.Second), w.box.Now())

	w.api("PATCH", "/Orders/recOrder000000001", `{"fields":{"Order ID":"O-1b"}}`).fields()
	p.shows("#grid .primary", "O-1b")
	p.run(chromedp.SendKeys(chromedp.CSS("#find"), "o-1B"))
	p.until(`document.querySelectorAll('#grid tbody tr').length === 1`)
	p.shows("#total", "1 record found")
	p.run(chromedp.SendKeys(chromedp.CSS("#find"), "nothing reads so"))
	p.shows("#empty", "No cell of this table reads so.")
	p.sound()
}

// testControls breaks and switches what can be broken and switched.
func (b *browser) testControls(t *testing.T) {
	w := newWorld(t, noLimits())
	p := b.open(t, w.url, wide)
	p.click("#tab-faults")
	p.click("[data-preset=landed]")
	p.shows("#fault-list", "Fault 1 · PATCH")
	require.Equal(t, http.StatusServiceUnavailable, w.api("PATCH", "/Orders/recOrder000000001", `{"fields":{"Qty":3}}`).status)
	p.shows("#fault-list", "No fault is armed.")
	require.Equal(t, 3.0, w.record("recOrder000000001").Fields["Qty"], "the write landed")

	p.click("#faults summary")
	p.fill("#fault-form [name=method]", "GET")
	p.fill("#fault-form [name=table]", "Orders")
	p.fill("#fault-form [name=effect]", "502")
	p.fill("#fault-form [name=times]", "-1")
	p.click("#fault-form button")
	p.shows("#fault-list", "without end")
	for range 2 {
		require.Equal(t, http.StatusBadGateway, w.api("GET", "/Orders", "").status)
		require.Equal(t, http.StatusOK, w.api("GET", "/Accounts", "").status)
	}
	p.fill("#fault-form [name=times]", "-2")
	p.click("#fault-form button")
	p.shows("[role=alert]", "times: -2 is below -1; give a count, or -1 for no end")
	p.click("#clear-faults")
	p.shows("#fault-list", "No fault is armed.")
	require.Equal(t, http.StatusOK, w.api("GET", "/Orders", "").status)

	p.fill("#token-list select", "revoked")
	p.shows("#notices", "Token patSandbox is revoked.")
	require.Equal(t, http.StatusUnauthorized, w.api("GET", "/Orders", "").status)

	p.click("#tab-options")
	p.click("#knob-quota_exceeded")
	p.shows("#notices", "The monthly limit is exceeded")
	require.True(t, w.box.Options().QuotaExceeded)
	p.fill("#knob-penalty", "soon")
	p.shows("[role=alert]", `"soon" is no duration such as "30s"`)
	p.until(`document.querySelector('#knob-penalty').value === '30s'`)
	require.Equal(t, sandbox.Duration(30*time.Second), w.box.Options().Penalty)
	p.sound()
}

const hostile = `"><img src=x onerror="window.hacked=1"><script>window.hacked=2</script>'` + "`${window.hacked=3}</td></script><svg onload=window.hacked=4>"

// testHostileValues puts markup wherever somebody else's text can stand.
func (b *browser) testHostileValues(t *testing.T) {
	seed := sandbox.Seed{Bases: []sandbox.SeedBase{
		{ID: baseID, Name: hostile, Tokens: []sandbox.SeedToken{{Token: hostile + ".x"}, {Token: token}},
			People: []sandbox.SeedPerson{{ID: "usrAAAAAAAAAAAAAA", Name: hostile}},
			Tables: []sandbox.SeedTable{{Name: hostile, Fields: []sandbox.SeedField{
				{Name: hostile, Type: "singleLineText"}, {Name: "Long" + hostile, Type: "multilineText"},
				{Name: "Choice", Type: "singleSelect", Choices: []string{hostile}}, {Name: "Choices", Type: "multipleSelects", Choices: []string{hostile}},
				{Name: "Owner", Type: "singleCollaborator"}, {Name: "Computed", Type: "formula", Formula: "RECORD_ID() & {Long" + strings.ReplaceAll(hostile, "}", `\}`) + "}"},
				{Name: "Files", Type: "multipleAttachments"}, {Name: "Done", Type: "checkbox"},
			}}}},
		{ID: "appOther000000001", Name: hostile, Tables: []sandbox.SeedTable{{Name: "Other", Fields: []sandbox.SeedField{{Name: "A", Type: "url"}}}}},
	}}
	box, err := sandbox.New(seed, sandbox.Config{})
	require.NoError(t, err)
	w := serveWorld(t, box)
	fields := map[string]any{hostile: hostile, "Long" + hostile: hostile, "Choice": hostile, "Choices": []string{hostile},
		"Owner": map[string]string{"id": "usrAAAAAAAAAAAAAA"}, "Files": []map[string]string{{"url": "https://a.example/x", "filename": hostile}}}
	id, err := box.Edit(sandbox.Edit{Base: baseID, Table: hostile, Fields: fields, By: hostile})
	require.NoError(t, err)
	w.api("GET", "/"+strings.Repeat("%3Cimg%20src=x%20onerror=hacked=5%3E", 2)+"?x=%3Cscript%3Ehacked=6%3C/script%3E", hostile)
	w.api("POST", "/x", hostile)
	_, err = box.AddFault(sandbox.Fault{Contains: hostile, Table: hostile, Status: 503, Times: -1})
	require.NoError(t, err)
	require.NoError(t, box.SetToken(hostile+".x", "revoked"))

	p := b.open(t, w.url, wide)
	p.shows("#grid .primary", hostile)
	p.shows("#grid thead", "Long"+hostile)
	p.shows("#tabs", hostile+" / "+hostile)
	p.shows("#change-log", hostile)
	p.shows("#request-log", hostile)
	p.shows("#fault-list", hostile)
	p.shows("#notices", "Token "+strings.SplitN(hostile, ".", 2)[0]+" is revoked.")
	p.shows("#token-list", "revoked")
	p.click("[data-record=" + id + "] .open button")
	p.shows("#record-title", hostile)
	require.Equal(t, hostile, ask[string](p, `document.querySelector('#record-fields textarea').value`))
	p.fill("#person", hostile)
	p.click("#record-fields input[type=checkbox]:not(.picker input)")
	p.click("#record .main")
	w.changed(sandbox.Change{Record: id, Field: "Done", By: hostile, New: true})
	p.shows("#change-log", "Done")
	require.Equal(t, 0, ask[int](p, `window.hacked ?? 0`))
	require.Equal(t, 0, ask[int](p, `document.querySelectorAll('main img, dialog img, main svg, main script, dialog script, [onerror], [onload]').length`))
	p.sound()
}
