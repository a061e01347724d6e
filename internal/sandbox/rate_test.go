package sandbox_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"airtable-replay/internal/sandbox"
)

const (
	pluralLimit   = `{"errors":[{"error":"RATE_LIMIT_REACHED","message":"Rate limit exceeded. Please try again later"}]}`
	singularLimit = `{"error":{"type":"RATE_LIMIT_REACHED","message":"Rate limit exceeded. Please try again later"}}`
)

const twoBases = `
bases:
  - id: appOrdersSandbox01
    tokens: [patSandbox.full, {token: patMate.one, owner: shared}, {token: patMate.two, owner: shared}]
    tables: [{name: Orders, fields: [{name: A, type: singleLineText}]}]
  - id: appOther
    tokens: [patSandbox.full, {token: patMate.two, owner: shared}]
    tables: [{name: Orders, fields: [{name: A, type: singleLineText}]}]
`

func (w *world) status(base string) int {
	w.t.Helper()
	return w.send("GET", "/v0/"+base+"/Orders", "").status
}

func TestSixthRequestInASecondBlocksTheBase(t *testing.T) {
	t.Parallel()
	w := seededWorld(t, twoBases, sandbox.DefaultConfig())
	for range 5 {
		require.Equal(t, 200, w.status(baseID))
		w.pass(199 * time.Millisecond)
	}
	a := w.api("GET", "/Orders", "")
	a.is(http.StatusTooManyRequests, pluralLimit)
	require.Empty(t, a.header.Get("Retry-After"))
	require.Equal(t, 200, w.status("appOther"), "another base is not affected")
	w.pass(30*time.Second - time.Millisecond)
	require.Equal(t, 429, w.status(baseID), "the whole penalty long")
	require.Equal(t, 429, w.send("GET", "/v0/meta/bases/"+baseID+"/tables", "").status)
	w.pass(time.Millisecond)
	require.Equal(t, 200, w.status(baseID), "a request during the penalty does not extend it")
}

func TestWindowRolls(t *testing.T) {
	t.Parallel()
	w := seededWorld(t, twoBases, sandbox.DefaultConfig())
	for range 50 {
		require.Equal(t, 200, w.status(baseID))
		w.pass(200 * time.Millisecond)
	}
}

func TestControlRequestsDoNotCount(t *testing.T) {
	t.Parallel()
	w := seededWorld(t, twoBases, sandbox.DefaultConfig())
	for range 20 {
		w.control("GET", "/"+baseID+"/Orders", "")
	}
	for range 5 {
		require.Equal(t, 200, w.status(baseID))
	}
	require.Len(t, w.box.Requests(), 5)
}

func TestPenaltySwitches(t *testing.T) {
	t.Parallel()
	w := seededWorld(t, twoBases, sandbox.DefaultConfig())
	w.control("PATCH", "/options", `{"penalty":"0s","rate_limit_envelope":"singular","retry_after_on_429":"29500ms"}`)
	for range 5 {
		require.Equal(t, 200, w.status(baseID))
	}
	a := w.api("GET", "/Orders", "")
	a.is(http.StatusTooManyRequests, singularLimit)
	require.Equal(t, "30", a.header.Get("Retry-After"))
	w.pass(time.Second)
	require.Equal(t, 200, w.status(baseID), "without a penalty the next second is free")

	w.control("PATCH", "/options", `{"penalty":"10s","penalty_extends":true}`)
	for range 5 {
		w.status(baseID)
	}
	w.pass(9 * time.Second)
	require.Equal(t, 429, w.status(baseID))
	w.pass(9 * time.Second)
	require.Equal(t, 429, w.status(baseID), "each request begins it anew")
	w.pass(10 * time.Second)
	require.Equal(t, 200, w.status(baseID))
	w.control("PATCH", "/options", `{"rate":0}`)
	for range 20 {
		require.Equal(t, 200, w.status(baseID))
	}
}

func TestOwnerSharesALimitOverAllBases(t *testing.T) {
	t.Parallel()
	w := seededWorld(t, twoBases, sandbox.Config{OwnerRate: 4, Penalty: 30 * time.Second})
	get := func(token, base string) int {
		return w.send("GET", "/v0/"+base+"/Orders", "", "Authorization", "Bearer "+token).status
	}
	for range 2 {
		require.Equal(t, 200, get("patMate.one", baseID))
		require.Equal(t, 200, get("patMate.two", "appOther"))
	}
	require.Equal(t, 429, get("patMate.one", baseID))
	require.Equal(t, 429, get("patMate.two", "appOther"))
	require.Equal(t, 200, get(token, baseID), "another owner is not affected")
	w.pass(30 * time.Second)
	require.Equal(t, 200, get("patMate.two", "appOther"))
}

func TestMonthlyQuotaLeavesMetaCallsAlone(t *testing.T) {
	t.Parallel()
	w := seededWorld(t, twoBases, noLimits())
	w.set(func(o *sandbox.Options) { o.QuotaExceeded = true })
	w.api("GET", "/Orders", "").is(http.StatusTooManyRequests, `{"errors":[{"error":"PUBLIC_API_BILLING_LIMIT_EXCEEDED","message":"API billing plan limit exceeded. You've reached the maximum number of requests allowed for this month."}]}`)
	require.Equal(t, 200, w.send("GET", "/v0/meta/bases/"+baseID+"/tables", "").status)
	w.pass(24 * time.Hour)
	require.Equal(t, 429, w.status(baseID), "no waiting helps")
	w.set(func(o *sandbox.Options) { o.QuotaExceeded = false })
	require.Equal(t, 200, w.status(baseID))
}

func TestRefusedRequestUsesUpNoFault(t *testing.T) {
	t.Parallel()
	w := seededWorld(t, twoBases, sandbox.Config{Rate: 1, Penalty: time.Second})
	require.Equal(t, 200, w.status(baseID))
	w.control("POST", "/faults", `{"status":503}`)
	require.Equal(t, 429, w.status(baseID))
	w.pass(time.Second)
	require.Equal(t, 503, w.status(baseID))
}
