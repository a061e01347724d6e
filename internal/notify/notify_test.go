package notify_test

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"sync/atomic"
	"testing"

	"airtable-replay/internal/config"
	"airtable-replay/internal/notify"
	"airtable-replay/internal/store"
	"airtable-replay/internal/store/storetest"

	"github.com/stretchr/testify/require"
)

func TestMain(m *testing.M) { os.Exit(storetest.Main(m)) }

// The vector of the Standard Webhooks specification's own libraries.
func TestSignIsStandardWebhooks(t *testing.T) {
	t.Parallel()
	got := notify.Sign("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", "msg_p5jXN8AQM9LWM0D4loKWxJek", "1614265330", []byte(`{"test": 2432232314}`))
	require.Equal(t, "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=", got)
}

// receiver is an endpoint that fails a number of times and keeps what it was sent.
type receiver struct {
	fails   atomic.Int32
	headers []http.Header
	bodies  [][]byte
}

// ServeHTTP implements http.Handler.
func (r *receiver) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	body, _ := io.ReadAll(req.Body)
	r.headers, r.bodies = append(r.headers, req.Header.Clone()), append(r.bodies, body)
	if r.fails.Add(-1) >= 0 {
		w.WriteHeader(http.StatusBadGateway)
	}
}

func TestAnnouncedOnceDeliveredAtLeastOnce(t *testing.T) {
	t.Parallel()
	db := storetest.NewDB(t)
	st := store.New(db.Pool, "")
	r := &receiver{}
	r.fails.Store(1)
	server := httptest.NewServer(r)
	t.Cleanup(server.Close)
	file := load(t, server.URL)
	var queued []string
	n := notify.New(notify.Config{
		Store: st, Endpoints: file.Notify, Bases: file.Bases,
		Enqueue: func(_ context.Context, id string) error { queued = append(queued, id); return nil },
	})
	ctx := t.Context()
	require.NoError(t, n.AnnounceBase(ctx, "orders", config.EventBaseHalted, map[string]string{"base": "orders", "reason": "no"}))
	require.NoError(t, n.AnnounceBase(ctx, "orders", config.EventRunCompleted, nil), "not subscribed")
	require.Len(t, queued, 1)

	require.ErrorContains(t, n.DeliverNotification(ctx, queued[0]), "HTTP 502")
	m, err := st.FindNotification(ctx, queued[0])
	require.NoError(t, err)
	require.False(t, m.Delivered)
	require.Equal(t, 1, m.Attempts)
	require.Contains(t, m.LastError, "HTTP 502")
	require.NoError(t, n.DeliverNotification(ctx, queued[0]))
	require.NoError(t, n.DeliverNotification(ctx, queued[0]), "a repeated job sends nothing more")
	require.Len(t, r.bodies, 2)
	require.Equal(t, r.headers[0].Get("Webhook-Id"), r.headers[1].Get("Webhook-Id"))
	require.Equal(t, notify.Sign("shared-secret", queued[0], r.headers[1].Get("Webhook-Timestamp"), r.bodies[1]), r.headers[1].Get("Webhook-Signature"))
	var body struct {
		Type string
		Data map[string]string
	}
	require.NoError(t, json.Unmarshal(r.bodies[1], &body))
	require.Equal(t, "base.halted", body.Type)
	require.Equal(t, "no", body.Data["reason"])
}

func load(t *testing.T, url string) *config.File {
	t.Helper()
	text := `
bases:
  orders: {id: appOrdersSandbox01, token: "${T}", alert: [ops]}
targets:
  Orders: {base: orders, key: Order ID, version: {field: V}, fields: {Status: {}}}
notify:
  ops: {url: "` + url + `", secret: "${S}", on: [base.halted]}
`
	env := map[string]string{"T": "pat", "S": "shared-secret"}
	file, err := config.Load([]byte(text), func(k string) (string, bool) { v, ok := env[k]; return v, ok })
	require.NoError(t, err)
	return file
}
