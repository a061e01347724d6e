package doctor

import (
	"context"
	"fmt"
	"net/http"
	"sync"
	"time"

	"airtable-replay/internal/airtable"
	"airtable-replay/internal/config"
	"airtable-replay/internal/pacing"
)

// line is the way to one base: its client, its pace, and what Airtable's clock said last.
type line struct {
	client *airtable.Client
	base   *config.Base
	pacer  *pacing.Pacer // nil: the base is not known to the database
	dates  *dates
	lacks  []string // scopes that Airtable says the token has not
	idle   func()
	last   time.Time
}

func (c *check) dial(b *config.Base) *line {
	transport, idle := c.Transport, func() {}
	if transport == nil {
		own := &http.Transport{Proxy: http.ProxyFromEnvironment}
		transport, idle = own, own.CloseIdleConnections
	}
	l := &line{base: b, dates: &dates{next: transport}, idle: idle}
	l.client = airtable.New(airtable.Config{
		BaseURL: b.APIURL, Token: b.Token.Reveal(), RequestTimeout: b.Retry.RequestTimeout, HTTP: &http.Client{Transport: l.dates},
	})
	if _, known := c.bases[b.Name]; known && c.Store != nil {
		l.pacer = pacing.New(c.Store, []pacing.Base{{Name: b.Name, Owner: b.TokenOwner, Rate: b.RequestsPerSecond, Lease: c.File.Lease(b)}})
	}
	return l
}

func (l *line) close() { l.idle() }

// wait lets a request leave when its turn has come: booked among those of the service where the
// database knows the base, else spaced by itself.
func (l *line) wait(ctx context.Context) error {
	if l.pacer != nil {
		return l.pacer.Wait(ctx, l.base.Name, 1)
	}
	t := time.NewTimer(time.Until(l.last.Add(time.Duration(float64(time.Second) / l.base.RequestsPerSecond))))
	defer t.Stop()
	select {
	case <-ctx.Done():
		return fmt.Errorf("wait for slot: %w", ctx.Err())
	case l.last = <-t.C:
		return nil
	}
}

// dates notes the Date of every answer.
type dates struct {
	next http.RoundTripper
	mu   sync.Mutex
	last time.Time
}

// RoundTrip implements http.RoundTripper.
func (d *dates) RoundTrip(r *http.Request) (*http.Response, error) {
	resp, err := d.next.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	if at, err := http.ParseTime(resp.Header.Get("Date")); err == nil {
		d.mu.Lock()
		d.last = at
		d.mu.Unlock()
	}
	return resp, nil
}

// seen is the Date of the last answer; zero: there was none.
func (d *dates) seen() time.Time {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.last
}
