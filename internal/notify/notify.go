package notify

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"time"

	"airtable-replay/internal/config"
	"airtable-replay/internal/store"
	"airtable-replay/internal/telemetry"
)

// timeout bounds one delivery.
const timeout = 15 * time.Second

// Config is what a Notifier is made of.
type Config struct {
	Store     *store.Store
	Endpoints map[string]*config.Endpoint
	Bases     map[string]*config.Base
	Targets   map[string]*config.Target
	Logger    *slog.Logger
	// Enqueue asks for the delivery of a stored message, inside the transaction that ctx carries.
	Enqueue func(ctx context.Context, id string) error
	Client  *http.Client // nil: a client of its own that follows no redirects
}

// Notifier announces events and delivers them. It is safe for concurrent use.
type Notifier struct {
	Config
	now func() time.Time
}

// New makes a Notifier.
func New(c Config) *Notifier {
	if c.Client == nil {
		c.Client = &http.Client{Timeout: timeout, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	}
	return &Notifier{Config: c, now: time.Now}
}

// message is the body of a notification.
type message struct {
	Type      string    `json:"type"`
	Timestamp time.Time `json:"timestamp"`
	Data      any       `json:"data"`
}

// AnnounceBase tells the endpoints of a base that subscribe to an event.
func (n *Notifier) AnnounceBase(ctx context.Context, base, event string, data any) error {
	b, ok := n.Bases[base]
	if !ok {
		return nil
	}
	return n.announce(ctx, b.Alert, event, base, data)
}

// Announce tells every endpoint that subscribes to an event about something, named by its ID.
func (n *Notifier) Announce(ctx context.Context, event, about string, data any) error {
	return n.announce(ctx, slices.Sorted(maps.Keys(n.Endpoints)), event, about, data)
}

// AnnounceOnce is Announce for something that may be noticed again and again; only the first time is told.
func (n *Notifier) AnnounceOnce(ctx context.Context, event, about string, data any) error {
	told, err := n.Store.ListNotifications(ctx, about)
	if err != nil || slices.ContainsFunc(told, func(t store.Notification) bool { return t.Event == event }) {
		return err
	}
	return n.Announce(ctx, event, about, data)
}

func (n *Notifier) announce(ctx context.Context, names []string, event, about string, data any) error {
	body, err := json.Marshal(message{Type: event, Timestamp: n.now().UTC(), Data: data})
	if err != nil {
		return fmt.Errorf("encode notification: %w", err)
	}
	for _, name := range names {
		e := n.Endpoints[name]
		if e == nil || !slices.Contains(e.On, event) {
			continue
		}
		id, err := n.Store.AddNotification(ctx, store.Notification{Endpoint: name, Event: event, About: about, Payload: body})
		if err != nil {
			return err
		}
		if err := n.Enqueue(ctx, id); err != nil {
			return err
		}
	}
	return nil
}

// DeliverNotification sends one stored message. An error asks for another attempt; what happened is
// stored either way.
func (n *Notifier) DeliverNotification(ctx context.Context, id string) error {
	m, err := n.Store.FindNotification(ctx, id)
	if err != nil || m.Delivered {
		return err
	}
	cause := n.post(ctx, m)
	problem := ""
	if cause != nil {
		problem = cause.Error()
	}
	if err := n.Store.NoteDelivery(ctx, id, problem); err != nil {
		return err
	}
	return cause
}

func (n *Notifier) post(ctx context.Context, m store.Notification) error {
	e := n.Endpoints[m.Endpoint]
	if e == nil {
		return fmt.Errorf("deliver to %q: no longer configured under notify", m.Endpoint)
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, e.URL, bytes.NewReader(m.Payload))
	if err != nil {
		return fmt.Errorf("deliver to %q: the url cannot be used", m.Endpoint)
	}
	at := strconv.FormatInt(n.now().Unix(), 10)
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Webhook-Id", m.ID)
	req.Header.Set("Webhook-Timestamp", at)
	req.Header.Set("Webhook-Signature", Sign(e.Secret.Reveal(), m.ID, at, m.Payload))
	resp, err := n.Client.Do(req)
	if err != nil {
		return fmt.Errorf("deliver to %q: no answer: %w", m.Endpoint, telemetry.WithoutURL(err))
	}
	defer func() { _ = resp.Body.Close() }()
	if _, err := io.Copy(io.Discard, io.LimitReader(resp.Body, 64<<10)); err != nil {
		return fmt.Errorf("deliver to %q: the answer broke off", m.Endpoint)
	}
	if resp.StatusCode/100 != 2 {
		return fmt.Errorf("deliver to %q: answered HTTP %d", m.Endpoint, resp.StatusCode)
	}
	return nil
}
