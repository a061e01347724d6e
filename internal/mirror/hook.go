package mirror

import (
	"context"
	"errors"
	"fmt"
	"time"

	"airtable-replay/internal/airtable"
	"airtable-replay/internal/config"
	"airtable-replay/internal/deadletter"
	"airtable-replay/internal/store"
)

// The times of the webhook that tells of presses.
const (
	hookLife   = 7 * 24 * time.Hour // from each reading
	readEvery  = 10 * time.Minute   // without a ping: pings may be lost, and a reading keeps the webhook alive
	readHold   = time.Minute        // one reading takes no longer
	retryFirst = 2 * time.Second    // doubled with each failure, up to readEvery
	// giveUpRow is how often a row that cannot be found is looked for: one may not be readable at once after
	// its webhook (case B124).
	giveUpRow = 5
)

// hookSources are the origins of a change that count as a press: people and automations. Writes over the
// API, our own among them, do not: whoever has a token can press over REST (case B120).
var hookSources = []string{"client", "formSubmission", "formPageSubmission", "automation", "anonymousUser"}

// ReadPresses reads what Airtable's webhook recorded when it is due, and presses Replay for every box that
// was ticked (T3, R10). It makes the webhook where there is none. Several processes may call it at once.
func (m *Mirror) ReadPresses(ctx context.Context) error {
	if m.NotificationURL == "" {
		return nil
	}
	h, ok, err := m.Store.TakeHook(ctx, m.BaseName, readHold)
	if err != nil || !ok {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, readHold)
	defer cancel()
	read := store.HookRead{Hook: h, Cursor: h.Cursor, Wait: readEvery}
	if err := m.readHook(ctx, &read); err != nil {
		read.Problem, read.Wait = err.Error(), min(retryFirst<<min(h.Tries, 10), readEvery)
		m.Logger.WarnContext(ctx, "read presses", "base", m.BaseName, "error", err)
	}
	return m.Store.SettleHook(context.WithoutCancel(ctx), read)
}

// readHook goes through the pages, and replaces a webhook that has lapsed or is gone.
func (m *Mirror) readHook(ctx context.Context, read *store.HookRead) error {
	now, err := m.Store.Now(ctx)
	if err != nil {
		return err
	}
	if read.Hook.ID == "" {
		return m.makeHook(ctx, read)
	}
	lapsed := !read.Hook.ExpiresAt.After(now)
	switch err := m.readPages(ctx, read); {
	case gone(err):
		lapsed = true
	case err != nil:
		return err
	}
	if _, err := m.unseal(read.Hook.Secret); err != nil {
		lapsed = true // the token was replaced, and with it the key
	}
	if !lapsed {
		read.Until = now.Add(hookLife)
		return nil
	}
	old := read.Hook
	if err := m.makeHook(ctx, read); err != nil {
		return err
	}
	m.Logger.WarnContext(ctx, "webhook lapsed", "base", m.BaseName)
	return m.Announce(ctx, config.EventMirrorLapsed, old.ID, map[string]any{
		"base": m.BaseName, "base_id": m.BaseID, "table": m.Table,
		"detail": "Airtable's webhook for the dead letter table had lapsed and was made anew. A box that was ticked meanwhile may have to be ticked again.",
	})
}

// gone tells whether Airtable does not know the webhook any more; it says so with a 403 or a 404.
func gone(err error) bool {
	e, ok := errors.AsType[*airtable.Error](err)
	return ok && (e.Status == 403 || e.Status == 404)
}

// makeHook makes a webhook, and takes the old one away if it is still there.
func (m *Mirror) makeHook(ctx context.Context, read *store.HookRead) error {
	spec, h, err := m.hookSpec(ctx)
	if err != nil {
		return err
	}
	if err := m.open(ctx); err != nil {
		return err
	}
	made, err := m.Client.CreateHook(ctx, m.BaseID, spec)
	if gone(err) {
		return fmt.Errorf("Airtable refuses to make a webhook: its token needs the scope webhook:manage and a creator's role: %w", err)
	}
	if err != nil {
		return err
	}
	if h.Secret, err = m.seal(made.Secret); err != nil {
		return err
	}
	h.ID, h.Cursor, h.ExpiresAt = made.ID, 1, made.ExpiresAt
	if err := m.Store.ReplaceHook(ctx, h); err != nil {
		return err
	}
	old := read.Hook.ID
	read.Hook, read.Cursor = h, 1
	if old != "" {
		m.dropHook(ctx, old)
	}
	return nil
}

// dropHook takes a webhook away that has been replaced. Should it stay, it does no harm: it lapses.
func (m *Mirror) dropHook(ctx context.Context, id string) {
	err := m.open(ctx)
	if err == nil {
		err = m.Client.DeleteHook(ctx, m.BaseID, id)
	}
	if err != nil && !gone(err) {
		m.Logger.WarnContext(ctx, "delete webhook", "base", m.BaseName, "error", err)
	}
}

// hookSpec finds the table and the fields that are watched; webhooks know IDs alone.
func (m *Mirror) hookSpec(ctx context.Context) (airtable.HookSpec, store.Hook, error) {
	spec := airtable.HookSpec{URL: m.NotificationURL, Sources: hookSources}
	h := store.Hook{Base: m.BaseName}
	if err := m.open(ctx); err != nil {
		return spec, h, err
	}
	tables, err := m.Client.Schema(ctx, m.BaseID)
	if err != nil {
		return spec, h, err
	}
	for _, t := range tables {
		if t.Name != m.Table && t.ID != m.Table {
			continue
		}
		h.Table = t.ID
		for _, f := range t.Fields {
			switch f.Name {
			case fieldRequested:
				h.Box = f.ID
			case fieldRequestedBy:
				h.By = f.ID
			}
		}
	}
	if h.Box == "" {
		return spec, h, deadletter.Errorf(deadletter.CodeInvalid, "", "the dead letter table %q has no field %s to watch; run setup", m.Table, fieldRequested)
	}
	spec.Table, spec.Watch = h.Table, []string{h.Box}
	if h.By != "" {
		spec.Include = []string{h.By}
	}
	return spec, h, nil
}
