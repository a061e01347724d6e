package sandbox_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

const patchOne = `{"fields":{"Qty":9}}`

// cut sends a request whose connection must break off without an answer.
func (w *world) cut(method, path, body string) {
	w.t.Helper()
	req, err := http.NewRequestWithContext(w.t.Context(), method, w.url+"/v0/"+baseID+path, strings.NewReader(body))
	require.NoError(w.t, err)
	req.Header.Set("Authorization", "Bearer "+token)
	resp, err := client.Do(req)
	if err == nil {
		_ = resp.Body.Close()
	}
	require.ErrorIs(w.t, err, io.EOF)
}

func (w *world) qty() any {
	w.t.Helper()
	return w.control("GET", "/"+baseID+"/Orders", "").records()[0]["fields"].(map[string]any)["Qty"]
}

func TestFaultAnswersInsteadOfServing(t *testing.T) {
	t.Parallel()
	w := newWorld(t, noLimits())
	w.control("POST", "/faults", `{"method":"PATCH","table":"Orders","times":2,"status":503,"body":"<html>down</html>","headers":{"Retry-After":"7"}}`)
	for range 2 {
		a := w.api("PATCH", "/Orders/recOrder000000001", patchOne)
		a.is(503, "<html>down</html>")
		require.Equal(t, "7", a.header.Get("Retry-After"))
		require.Contains(t, a.header.Get("Content-Type"), "text/html")
	}
	require.Nil(t, w.qty())
	require.Empty(t, w.box.Changes())
	require.Equal(t, number("9"), w.api("PATCH", "/Orders/recOrder000000001", patchOne).fields()["Qty"])
	log := w.box.Requests()
	require.Equal(t, []int{503, 503, 200}, []int{log[0].Status, log[1].Status, log[2].Status})
	require.Equal(t, 1, log[0].Fault)
	require.Zero(t, log[2].Fault)
}

func TestFaultBodies(t *testing.T) {
	t.Parallel()
	w := newWorld(t, noLimits())
	for fault, want := range map[string]string{
		`{"status":422,"body":{"error":{"type":"X","message":"Y"}}}`: `{"error":{"type":"X","message":"Y"}}`,
		`{"status":422,"body":{}}`:                                   `{}`,
		`{"status":422,"body":""}`:                                   ``,
		`{"status":404}`:                                             `{"error":"NOT_FOUND"}`,
		`{"status":429}`:                                             `{"errors":[{"error":"RATE_LIMIT_REACHED","message":"Rate limit exceeded. Please try again later"}]}`,
		`{"status":401}`:                                             `{"error":{"type":"AUTHENTICATION_REQUIRED","message":"Authentication required"}}`,
		`{"status":503}`:                                             `{"error":{"type":"RETRIABLE_ERROR","message":"Server encountered an error while processing your request, and it is safe to retry the request"}}`,
		`{"status":502}`:                                             `<html><head><title>502 Bad Gateway</title></head><body><h1>502 Bad Gateway</h1></body></html>`,
	} {
		w.control("POST", "/faults", fault)
		require.Equal(t, want, w.api("GET", "/Orders", "").body)
	}
}

func TestFaultConditions(t *testing.T) {
	t.Parallel()
	w := newWorld(t, noLimits())
	broken := func(fault, method, path, body string) bool {
		w.control("DELETE", "/faults", "")
		w.control("POST", "/faults", strings.TrimSuffix(fault, "}")+`,"status":500}`)
		return w.api(method, path, body).status == 500
	}
	require.True(t, broken(`{"times":1}`, "GET", "/Orders", ""))
	require.True(t, broken(`{"method":"patch"}`, "PATCH", "/Orders/recOrder000000001", patchOne))
	require.False(t, broken(`{"method":"PATCH"}`, "GET", "/Orders", ""))
	require.False(t, broken(`{"table":"Accounts"}`, "GET", "/Orders", ""))
	require.False(t, broken(`{"base":"appOther"}`, "GET", "/Orders", ""))
	require.True(t, broken(`{"contains":"recOrder000000001"}`, "GET", "/Orders/recOrder000000001", ""))
	require.True(t, broken(`{"contains":"{Order ID}='O-1'"}`, "GET", "/Orders?filterByFormula=%7BOrder+ID%7D%3D%27O-1%27", ""))
	require.True(t, broken(`{"contains":"\"Qty\":9"}`, "PATCH", "/Orders/recOrder000000001", patchOne))
	require.False(t, broken(`{"contains":"Nothing"}`, "PATCH", "/Orders/recOrder000000001", patchOne))
	require.False(t, broken(`{"skip":1,"times":1}`, "GET", "/Orders", ""))
	require.Equal(t, 500, w.api("GET", "/Orders", "").status, "the second one breaks")
	require.Equal(t, 200, w.api("GET", "/Orders", "").status)
	w.control("POST", "/faults", `{"status":500,"times":-1}`)
	require.Equal(t, 500, w.api("GET", "/Orders", "").status)
	w.control("DELETE", "/faults", "")
	require.Equal(t, 200, w.api("GET", "/Orders", "").status)
	require.Equal(t, 200, w.send("GET", "/_sandbox/requests", "").status, "the control API never breaks")
}

func TestFaultDropCutsBeforeOrAfterTheWrite(t *testing.T) {
	t.Parallel()
	w := newWorld(t, noLimits())
	w.control("POST", "/faults", `{"drop":true}`)
	w.cut("PATCH", "/Orders/recOrder000000001", patchOne)
	require.Nil(t, w.qty())
	w.control("POST", "/faults", `{"drop":true,"after_apply":true}`)
	w.cut("PATCH", "/Orders/recOrder000000001", patchOne)
	require.Equal(t, 9.0, w.qty())
	log := w.box.Requests()
	require.True(t, log[0].Dropped)
	require.Zero(t, log[0].Status)
	require.Equal(t, log[1].ID, w.box.Changes()[0].Request)
}

func TestFaultAfterApplyAnswersAnError(t *testing.T) {
	t.Parallel()
	w := newWorld(t, noLimits())
	w.control("POST", "/faults", `{"status":503,"after_apply":true}`)
	require.Equal(t, 503, w.api("PATCH", "/Orders/recOrder000000001", patchOne).status)
	require.Equal(t, 9.0, w.qty())
}

func TestFaultApplyLaterLandsInOrderWhenTheClockGetsThere(t *testing.T) {
	t.Parallel()
	w := newWorld(t, noLimits())
	w.control("POST", "/faults", `{"drop":true,"apply_later":"40s","contains":"\"Qty\":1"}`)
	w.control("POST", "/faults", `{"status":503,"apply_later":"20s","contains":"\"Qty\":2"}`)
	w.cut("PATCH", "/Orders/recOrder000000001", `{"fields":{"Qty":1}}`)
	require.Equal(t, 503, w.api("PATCH", "/Orders/recOrder000000001", `{"fields":{"Qty":2}}`).status)
	w.pass(19 * time.Second)
	require.Nil(t, w.qty())
	w.pass(time.Hour)
	require.Equal(t, 1.0, w.qty(), "the one due last stands")
	changes := w.box.Changes()
	require.Len(t, changes, 2)
	require.Equal(t, start.Add(20*time.Second), changes[0].At)
	require.Equal(t, start.Add(40*time.Second), changes[1].At)
	require.Equal(t, []int{2, 1}, []int{changes[0].Request, changes[1].Request})
	log := w.box.Requests()
	require.Equal(t, []int{200, 200}, []int{log[0].Landed, log[1].Landed})
	require.Equal(t, "2026-10-04T12:00:40.000Z", w.api("GET", "/Orders/recOrder000000001", "").fields()["Changed"])
}

// A late write lands by itself, in real time, when nobody asks.
func TestFaultApplyLaterNeedsNoRequest(t *testing.T) {
	t.Parallel()
	cfg := noLimits()
	cfg.Now = time.Now
	w := newWorld(t, cfg)
	pinged := w.listenForPings()
	w.control("POST", "/faults", `{"method":"PATCH","drop":true,"apply_later":"50ms"}`)
	w.cut("PATCH", "/Orders/recOrder000000001", patchOne)
	<-pinged // the webhook tells of the change; no request has come in since
	require.Equal(t, 9.0, w.qty())
}

func TestFaultDelayHoldsTheRequestOnTheSandboxClock(t *testing.T) {
	t.Parallel()
	w := newWorld(t, noLimits())
	w.control("POST", "/faults", `{"delay":"3s"}`)
	done := make(chan answer, 1)
	go func() { done <- w.api("PATCH", "/Orders/recOrder000000001", patchOne) }()
	w.awaitRequests(1)
	require.Nil(t, w.qty())
	w.pass(3 * time.Second)
	require.Equal(t, number("9"), (<-done).fields()["Qty"])
	require.Equal(t, start.Add(3*time.Second), w.box.Changes()[0].At)
}

// A request that reached the server is served, whether or not anybody waits.
func TestDelayedWriteLandsAfterItsClientGaveUp(t *testing.T) {
	t.Parallel()
	w := newWorld(t, noLimits())
	w.control("POST", "/faults", `{"delay":"25s"}`)
	ctx, giveUp := context.WithCancel(t.Context())
	failed := make(chan error, 1)
	go func() {
		req, err := http.NewRequestWithContext(ctx, "PATCH", w.url+"/v0/"+baseID+order1, strings.NewReader(patchOne))
		if err != nil {
			failed <- err
			return
		}
		req.Header.Set("Authorization", "Bearer "+token)
		resp, err := client.Do(req)
		if err == nil {
			err = errors.Join(errors.New("answered"), resp.Body.Close())
		}
		failed <- err
	}()
	w.awaitRequests(1)
	giveUp()
	require.ErrorIs(t, <-failed, context.Canceled)
	require.Nil(t, w.qty())
	w.pass(25 * time.Second)
	w.await(func() bool { return len(w.box.Changes()) == 1 })
	require.Equal(t, 9.0, w.qty())
}

func TestFaultAnswerDelayHoldsTheAnswerAfterTheWrite(t *testing.T) {
	t.Parallel()
	w := newWorld(t, noLimits())
	w.control("POST", "/faults", `{"method":"PATCH","answer_delay":"3s"}`)
	done := make(chan answer, 1)
	go func() { done <- w.api("PATCH", "/Orders/recOrder000000001", patchOne) }()
	w.await(func() bool { return w.qty() != nil })
	require.Empty(t, done)
	w.pass(3 * time.Second)
	require.Equal(t, 200, (<-done).status)
}

func TestCloseLetsGoOfHeldRequests(t *testing.T) {
	t.Parallel()
	w := newWorld(t, noLimits())
	w.control("POST", "/faults", `{"delay":"3h"}`)
	failed := make(chan error, 1)
	go func() {
		req, err := http.NewRequestWithContext(t.Context(), "GET", w.url+"/v0/"+baseID+"/Orders", nil)
		if err != nil {
			failed <- err
			return
		}
		resp, err := client.Do(req)
		if err == nil {
			err = errors.Join(errors.New("answered"), resp.Body.Close())
		}
		failed <- err
	}()
	w.awaitRequests(1)
	w.box.Close()
	require.ErrorIs(t, <-failed, io.EOF)
}

func TestContradictoryFaultsAreRefused(t *testing.T) {
	t.Parallel()
	w := newWorld(t, noLimits())
	for fault, reason := range map[string]string{
		`{"status":99}`:              "status: 99 is no HTTP status",
		`{"status":500,"drop":true}`: "drop: a cut connection has no status",
		`{"drop":true,"after_apply":true,"apply_later":"1s"}`: "apply_later: a write cannot land both",
		`{"body":"x"}`:     "body: needs a status",
		`{"times":-2}`:     "times: -2 is below -1",
		`{"delay":"soon"}`: `\"soon\" is no duration`,
		`{"statsu":500}`:   "unknown field",
	} {
		a := w.send("POST", "/_sandbox/faults", fault)
		require.GreaterOrEqual(t, a.status, 400, fault)
		require.Contains(t, a.body, reason)
	}
	require.Equal(t, 200, w.api("GET", "/Orders", "").status, "nothing was armed")
}

// awaitRequests waits until so many requests have arrived.
func (w *world) awaitRequests(n int) {
	w.t.Helper()
	w.await(func() bool { return len(w.box.Requests()) >= n })
}

func (w *world) await(cond func() bool) {
	w.t.Helper()
	require.NoError(w.t, w.box.Await(w.t.Context(), cond))
}
