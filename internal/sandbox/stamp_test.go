package sandbox_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"airtable-replay/internal/sandbox"
)

const (
	order1    = "/Orders/recOrder000000001"
	dateGuard = "Delivery Date Changed At"
)

func TestStampsAreWholeSecondsNeverBehindTheDateHeader(t *testing.T) {
	t.Parallel()
	w := newWorld(t, noLimits())
	a := w.api("PATCH", order1, `{"fields":{"Qty":1}}`)
	require.Equal(t, "2026-10-04T12:00:00.000Z", a.fields()["Changed"])
	require.Equal(t, "Sun, 04 Oct 2026 12:00:00 GMT", a.header.Get("Date"))
	w.pass(300 * time.Millisecond)
	w.set(func(o *sandbox.Options) { o.StampAhead = sandbox.Duration(time.Second) })
	created := w.api("POST", "/Orders", `{"fields":{}}`)
	require.Equal(t, "2026-10-04T12:00:01.000Z", created.json()["createdTime"], "up to one second ahead")
	require.Equal(t, "2026-10-04T12:00:01.000Z", created.fields()["Changed"])
	require.Equal(t, "Sun, 04 Oct 2026 12:00:00 GMT", created.header.Get("Date"))
	w.set(func(o *sandbox.Options) { o.StampAhead = 0 })
	require.Equal(t, "2026-10-04T12:00:00.000Z", w.api("POST", "/Orders", `{"fields":{}}`).json()["createdTime"])
}

func TestLastModifiedFollowsTheWatchedFields(t *testing.T) {
	t.Parallel()
	w := newWorld(t, noLimits())
	w.pass(time.Minute)
	got := w.api("PATCH", order1, `{"fields":{"Qty":1}}`).fields()
	require.Equal(t, "2026-10-04T12:01:00.000Z", got["Changed"])
	require.Equal(t, "2026-09-28T10:00:00.000Z", got[dateGuard], "another field moves it not")
	w.pass(time.Minute)
	got = w.api("PATCH", order1, `{"fields":{"Delivery Date":"2026-11-11"}}`).fields()
	require.Equal(t, "2026-10-04T12:02:00.000Z", got[dateGuard], "the answer of the write carries it")
	require.Equal(t, got, w.api("GET", order1, "").fields())
	w.pass(time.Minute)
	got = w.api("PATCH", order1, `{"fields":{"Delivery Date":null}}`).fields()
	require.Equal(t, "2026-10-04T12:03:00.000Z", got[dateGuard], "clearing is a change")
}

func TestSameValueMovesAStampOnlyWhenSwitched(t *testing.T) {
	t.Parallel()
	w := newWorld(t, noLimits())
	same := `{"fields":{"Delivery Date":"2026-10-01"}}`
	require.Equal(t, "2026-09-28T10:00:00.000Z", w.api("PATCH", order1, same).fields()[dateGuard])
	w.set(func(o *sandbox.Options) { o.SameValueBumps = true })
	require.Equal(t, "2026-10-04T12:00:00.000Z", w.api("PATCH", order1, same).fields()[dateGuard])
	require.Empty(t, w.box.Changes(), "either way no cell has changed")
}

func TestInverseLinkMovesAStampUnlessSwitchedOff(t *testing.T) {
	t.Parallel()
	w := newWorld(t, noLimits())
	stamp := func() any { return w.api("GET", "/Accounts/recBolt0000000001", "").fields()["Orders Changed At"] }
	w.api("PATCH", order1, `{"fields":{"Account":["recBolt0000000001"]}}`).fields()
	require.Equal(t, "2026-10-04T12:00:00.000Z", stamp())
	w.pass(time.Minute)
	w.set(func(o *sandbox.Options) { o.InverseLinkBumps = false })
	w.api("PATCH", order1, `{"fields":{"Account":[]}}`).fields()
	require.Equal(t, "2026-10-04T12:00:00.000Z", stamp())
}

func TestComputedFieldsMoveNoStamp(t *testing.T) {
	t.Parallel()
	w := newWorld(t, noLimits())
	before := w.api("GET", "/Orders/recOrder000000002", "").fields()["Changed"]
	w.api("PATCH", "/Accounts/recAcme0000000001", `{"fields":{"Name":"Acme Ltd"}}`).fields()
	got := w.api("GET", "/Orders/recOrder000000002", "").fields()
	require.Equal(t, []any{"Acme Ltd"}, got["Account Name"])
	require.Equal(t, before, got["Changed"])
}

func TestEditByHandMovesStampsToItsTime(t *testing.T) {
	t.Parallel()
	w := newWorld(t, noLimits())
	got := w.control("PATCH", "/"+baseID+order1, `{"fields":{"Delivery Date":"2026-12-24"},"at":"2026-10-03T09:00:00Z"}`).fields()
	require.Equal(t, "2026-10-03T09:00:00.000Z", got[dateGuard])
	got = w.control("PATCH", "/"+baseID+order1, `{"fields":{"Status":"Shipped"}}`).fields()
	require.Equal(t, "2026-10-04T12:00:00.000Z", got["Changed"])
	require.Equal(t, "2026-10-03T09:00:00.000Z", got[dateGuard])
}

func TestSubsecondOfDateTimeCells(t *testing.T) {
	t.Parallel()
	w := newWorld(t, noLimits())
	write := func() any {
		return w.api("PATCH", order1, `{"fields":{"Source Updated At":"2026-01-02T03:04:05.678Z"}}`).fields()["Source Updated At"]
	}
	require.Equal(t, "2026-01-02T03:04:05.678Z", write())
	w.set(func(o *sandbox.Options) { o.Subsecond = "truncated" })
	require.Equal(t, "2026-01-02T03:04:05.000Z", write())
}

func TestClock(t *testing.T) {
	t.Parallel()
	cfg := noLimits()
	cfg.Offset = time.Hour
	w := newWorld(t, cfg)
	require.Equal(t, start.Add(time.Hour), w.box.Now())
	require.Equal(t, "2027-01-01T00:00:00Z", w.control("POST", "/clock", `{"now":"2027-01-01T00:00:00Z"}`).json()["now"])
	w.pass(time.Second)
	require.Equal(t, "2027-01-01T00:00:01Z", w.control("GET", "/clock", "").json()["now"], "time runs on from there")
	require.Equal(t, "2026-10-04T12:10:01Z", w.control("POST", "/clock", `{"offset":"10m"}`).json()["now"])
	require.Equal(t, "2026-10-04T12:10:31Z", w.control("POST", "/clock", `{"advance":30}`).json()["now"])
	require.Equal(t, 422, w.send("POST", "/_sandbox/clock", `{}`).status)
	require.Equal(t, 400, w.send("POST", "/_sandbox/clock", `{"now":"noon"}`).status)
}
