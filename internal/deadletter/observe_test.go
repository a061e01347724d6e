package deadletter_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"airtable-replay/internal/deadletter"
)

const intentID = "0199c0de-0000-7000-8000-000000000001"

var restOver = time.Date(2026, 10, 5, 9, 0, 0, 0, time.UTC)

// sighted is a record as a fresh read shows it.
func sighted(t *testing.T, id, version string, fields map[string]any) deadletter.Record {
	return deadletter.Record{ID: id, Version: parse(t, timestamps, version, ""), Fields: fields}
}

func TestObserve(t *testing.T) {
	t.Parallel()

	const v1, v2, v3 = "2026-10-05T08:00:01Z", "2026-10-05T08:00:02Z", "2026-10-05T08:00:03Z"
	before := map[string]any{"Status": "Pending"}
	sent := map[string]any{"Status": "Shipped", "Paid": false}
	version := func(raw string) deadletter.Version { return parse(t, timestamps, raw, "") }

	update := deadletter.Intent{
		ID: intentID, RecordID: "recA", Fields: sent, Before: map[string]any{"Status": "Pending", "Paid": nil},
		Version: version(v2), VersionBefore: version(v1), MayLandUntil: restOver,
	}
	fraction, sameSecond := update, update
	fraction.Version = version("2026-10-05T08:00:02.75Z")
	sameSecond.Version, sameSecond.VersionBefore = fraction.Version, version(v2)
	unversioned, forced, versionAlone, creation, plainCreation := update, update, update, update, update
	unversioned.Version, unversioned.VersionBefore = version(""), version("")
	forced.VersionBefore = version(v2) // a forced old payload: the version stayed as it was
	versionAlone.Fields, versionAlone.Before = map[string]any{}, map[string]any{}
	creation.Creates, creation.RecordID, creation.Before, creation.VersionBefore = true, "", nil, version("")
	plainCreation.Creates, plainCreation.RecordID, plainCreation.Before = true, "", nil
	plainCreation.Version, plainCreation.VersionBefore = version(""), version("")
	sameAsBefore := unversioned
	sameAsBefore.Before = sent

	type fields = map[string]any
	const open, landed, not, unknown = deadletter.FateOpen, deadletter.FateLanded, deadletter.FateNotLanded, deadletter.FateUnknown
	for _, tt := range []struct {
		name    string
		intent  deadletter.Intent
		matches []deadletter.Record
		stamp   string
		early   deadletter.Fate // while the write may still land
		late    deadletter.Fate // once it no longer can
		record  string
		content bool
	}{
		{name: "stamp is ours, whatever else was edited", intent: update, stamp: "Stamp", early: landed, late: landed, record: "recA",
			matches: []deadletter.Record{sighted(t, "recA", v3, fields{"Status": "Lost", "Stamp": intentID})}},
		{name: "stamp is another write's", intent: update, stamp: "Stamp", early: open, late: not,
			matches: []deadletter.Record{sighted(t, "recA", v2, fields{"Status": "Shipped", "Stamp": "another"})}},
		{name: "no stamp yet", intent: update, stamp: "Stamp", early: open, late: not,
			matches: []deadletter.Record{sighted(t, "recA", v1, before)}},
		{name: "version is ours, edited since", intent: update, early: landed, late: landed, record: "recA",
			matches: []deadletter.Record{sighted(t, "recA", v2, fields{"Status": "Lost"})}},
		{name: "cell cuts fractions, values as sent", intent: fraction, early: landed, late: landed, record: "recA", content: true,
			matches: []deadletter.Record{sighted(t, "recA", v2, fields{"Status": "Shipped"})}},
		{name: "cell cuts fractions, a value was edited", intent: fraction, early: open, late: unknown,
			matches: []deadletter.Record{sighted(t, "recA", v2, fields{"Status": "Lost"})}},
		{name: "cell cuts fractions, and the version before was of the same second", intent: sameSecond, early: open, late: unknown,
			matches: []deadletter.Record{sighted(t, "recA", v2, fields{"Status": "Shipped"})}},
		{name: "all as read before", intent: update, early: open, late: not,
			matches: []deadletter.Record{sighted(t, "recA", v1, before)}},
		{name: "version as before, but a value was edited", intent: update, early: open, late: unknown,
			matches: []deadletter.Record{sighted(t, "recA", v1, fields{"Status": "Lost"})}},
		{name: "version as before, values as sent: somebody else may have typed them", intent: update, early: open, late: unknown,
			matches: []deadletter.Record{sighted(t, "recA", v1, fields{"Status": "Shipped"})}},
		{name: "a newer version covers whatever happened", intent: update, early: open, late: unknown,
			matches: []deadletter.Record{sighted(t, "recA", v3, fields{"Status": "Shipped"})}},
		{name: "version field unreadable", intent: update, early: open, late: unknown,
			matches: []deadletter.Record{{ID: "recA", Fields: before, VersionUnreadable: true}}},
		{name: "version blanked", intent: update, early: open, late: unknown,
			matches: []deadletter.Record{sighted(t, "recA", "", before)}},
		{name: "record gone", intent: update, early: open, late: unknown},
		{name: "another record has the key now", intent: update, early: open, late: unknown,
			matches: []deadletter.Record{sighted(t, "recB", v2, fields{"Status": "Shipped"})}},
		{name: "the record among several of its key", intent: update, early: landed, late: landed, record: "recA",
			matches: []deadletter.Record{sighted(t, "recB", v1, before), sighted(t, "recA", v2, fields{"Status": "Shipped"})}},

		{name: "version alone landed", intent: versionAlone, early: landed, late: landed, record: "recA",
			matches: []deadletter.Record{sighted(t, "recA", v2, before)}},
		{name: "version alone did not land", intent: versionAlone, early: open, late: not,
			matches: []deadletter.Record{sighted(t, "recA", v1, before)}},

		{name: "no version: content as sent", intent: unversioned, early: landed, late: landed, record: "recA", content: true,
			matches: []deadletter.Record{sighted(t, "recA", "", fields{"Status": "Shipped"})}},
		{name: "no version: content as before", intent: unversioned, early: open, late: not,
			matches: []deadletter.Record{sighted(t, "recA", "", before)}},
		{name: "no version: something in between", intent: unversioned, early: open, late: unknown,
			matches: []deadletter.Record{sighted(t, "recA", "", fields{"Status": "Lost"})}},
		{name: "no version: nothing was to change", intent: sameAsBefore, early: open, late: not,
			matches: []deadletter.Record{sighted(t, "recA", "", fields{"Status": "Shipped"})}},
		{name: "no version: somebody brought one", intent: unversioned, early: open, late: unknown,
			matches: []deadletter.Record{sighted(t, "recA", v1, fields{"Status": "Shipped"})}},
		{name: "version did not change: content as sent", intent: forced, early: landed, late: landed, record: "recA", content: true,
			matches: []deadletter.Record{sighted(t, "recA", v2, fields{"Status": "Shipped"})}},
		{name: "version did not change: content as before", intent: forced, early: open, late: not,
			matches: []deadletter.Record{sighted(t, "recA", v2, before)}},
		{name: "version did not change: a newer one came", intent: forced, early: open, late: unknown,
			matches: []deadletter.Record{sighted(t, "recA", v3, fields{"Status": "Shipped"})}},

		{name: "creation: nothing there", intent: creation, early: open, late: not},
		{name: "creation: nothing there, with a stamp", intent: creation, stamp: "Stamp", early: open, late: not},
		{name: "creation: there with our version", intent: creation, early: landed, late: landed, record: "recN",
			matches: []deadletter.Record{sighted(t, "recN", v2, fields{"Status": "Shipped"})}},
		{name: "creation: there with our stamp", intent: creation, stamp: "Stamp", early: landed, late: landed, record: "recN",
			matches: []deadletter.Record{sighted(t, "recN", "", fields{"Stamp": intentID})}},
		{name: "creation: somebody else's record", intent: creation, stamp: "Stamp", early: open, late: not,
			matches: []deadletter.Record{sighted(t, "recN", v2, fields{"Status": "Shipped"})}},
		{name: "creation: there without our version", intent: creation, early: open, late: unknown,
			matches: []deadletter.Record{sighted(t, "recN", v1, fields{"Status": "Shipped"})}},
		{name: "creation: there, but empty", intent: plainCreation, early: open, late: unknown,
			matches: []deadletter.Record{sighted(t, "recN", "", nil)}},
		{name: "creation: by content", intent: plainCreation, early: landed, late: landed, record: "recN", content: true,
			matches: []deadletter.Record{sighted(t, "recN", "", fields{"Status": "Shipped"})}},
		{name: "creation: several", intent: creation, early: open, late: unknown,
			matches: []deadletter.Record{sighted(t, "recN", v2, fields{"Status": "Shipped"}), sighted(t, "recM", v2, fields{"Status": "Shipped"})}},
		{name: "creation: several, one of them stamped", intent: creation, stamp: "Stamp", early: landed, late: landed, record: "recM",
			matches: []deadletter.Record{sighted(t, "recN", v2, nil), sighted(t, "recM", v2, fields{"Stamp": intentID})}},
		{name: "creation: landed twice", intent: creation, stamp: "Stamp", early: open, late: unknown,
			matches: []deadletter.Record{sighted(t, "recN", v2, fields{"Stamp": intentID}), sighted(t, "recM", v2, fields{"Stamp": intentID})}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			for now, fate := range map[time.Time]deadletter.Fate{
				restOver.Add(-time.Nanosecond): tt.early,
				restOver:                       tt.late,
				restOver.Add(time.Hour):        tt.late,
			} {
				want := deadletter.Sighting{Fate: fate, RecordID: tt.record, ByContent: tt.content}
				require.Equal(t, want, deadletter.Observe(tt.intent, tt.matches, tt.stamp, now, orders().Fields), "at %s", now)
			}
		})
	}
}

// TestObserveAttachments: a read of unchanged attachments counts as unchanged, although their URLs
// differ each time, and a write of new ones is never recognised by its content.
func TestObserveAttachments(t *testing.T) {
	t.Parallel()

	photo := func(id, url string) []any { return []any{map[string]any{"id": id, "url": url}} }
	fields := map[string]deadletter.Field{"Photos": {Name: "Photos", Kind: deadletter.KindAttachments}}
	in := deadletter.Intent{
		RecordID: "recA", MayLandUntil: restOver,
		Fields: map[string]any{"Photos": []any{map[string]any{"url": "https://files.example/b.png"}}},
		Before: map[string]any{"Photos": photo("attA", "https://dl.example/1")},
	}
	observe := func(now any) deadletter.Fate {
		r := deadletter.Record{ID: "recA", Fields: map[string]any{"Photos": now}}
		return deadletter.Observe(in, []deadletter.Record{r}, "", restOver, fields).Fate
	}
	require.Equal(t, deadletter.FateNotLanded, observe(photo("attA", "https://dl.example/2")))
	require.Equal(t, deadletter.FateUnknown, observe(photo("attB", "https://files.example/b.png")))
}

func TestSameWrite(t *testing.T) {
	t.Parallel()

	version := parse(t, tied, "2026-10-05T09:00:00Z", "1")
	in := deadletter.Intent{RecordID: "recA", Version: version, Fields: map[string]any{"Qty": json.Number("1.0"), "Tags": []any{"a"}, "Notes": nil}}
	plan := func(change func(*deadletter.Plan)) deadletter.Plan {
		p := deadletter.Plan{Action: deadletter.ActionUpdate, RecordID: "recA", Version: version, Fields: map[string]any{"Qty": json.Number("1"), "Tags": []string{"a"}, "Notes": nil}}
		change(&p)
		return p
	}
	require.True(t, deadletter.SameWrite(plan(func(*deadletter.Plan) {}), in))
	for name, change := range map[string]func(*deadletter.Plan){
		"nothing is written": func(p *deadletter.Plan) { p.Action = deadletter.ActionNone },
		"creation":           func(p *deadletter.Plan) { p.Action = deadletter.ActionCreate },
		"another record":     func(p *deadletter.Plan) { p.RecordID = "recB" },
		"another value":      func(p *deadletter.Plan) { p.Fields["Qty"] = json.Number("2") },
		"a field less":       func(p *deadletter.Plan) { delete(p.Fields, "Notes") },
		"a field more":       func(p *deadletter.Plan) { p.Fields["Status"] = "Shipped" },
		"another version":    func(p *deadletter.Plan) { p.Version = parse(t, tied, "2026-10-05T09:00:00Z", "2") },
		"no version":         func(p *deadletter.Plan) { p.Version = deadletter.Version{} },
	} {
		require.False(t, deadletter.SameWrite(plan(change), in), name)
	}

	creation := deadletter.Intent{Creates: true, Version: version, Fields: map[string]any{"Qty": json.Number("1")}}
	require.True(t, deadletter.SameWrite(deadletter.Plan{Action: deadletter.ActionCreate, Version: version, Fields: map[string]any{"Qty": json.Number("1")}}, creation))
}
