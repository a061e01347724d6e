package mirror

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"

	"airtable-replay/internal/airtable"
	"airtable-replay/internal/deadletter"
	"airtable-replay/internal/store"
)

// Press is a box that somebody ticked.
type Press struct {
	RecordID string // of the row
	By       string // who ticked it, as far as Airtable tells
	Key      string // names this tick and no other (R10)
}

// presser presses Replay for rows.
type presser interface {
	// TakeInEntry makes an entry of a row that only the table has; another it leaves alone.
	TakeInEntry(ctx context.Context, recordID string) error
	// PressOnce presses Replay on a row's entry, once for each key. A refusal is noted on the entry and is no
	// error.
	PressOnce(ctx context.Context, recordID, by, key string) error
}

// readPages presses for every tick that the webhook recorded since the cursor, and moves the cursor on behind
// each page.
func (m *Mirror) readPages(ctx context.Context, read *store.HookRead) error {
	for {
		if err := m.openForPresses(ctx); err != nil {
			return err
		}
		page, err := m.Client.ListHookPayloads(ctx, m.BaseID, read.Hook.ID, read.Cursor)
		if err != nil {
			return err
		}
		var presses []Press
		for _, p := range page.Payloads {
			presses = append(presses, ticks(read.Hook, p)...)
		}
		if err := m.press(ctx, read.Hook, presses); err != nil {
			return err
		}
		read.Cursor = page.Cursor
		if !page.More || len(page.Payloads) == 0 {
			return nil
		}
	}
}

// openForPresses is open, but for a halt that is about data: a press is refused then, and that is told in the
// row, which goes on (R9).
func (m *Mirror) openForPresses(ctx context.Context) error {
	b, err := m.Store.FindBase(ctx, m.BaseName)
	if err == nil && b.Halted && b.HaltKind == store.HaltData && b.PausedUntil.IsZero() {
		return m.Pacer.Wait(ctx, m.BaseName, 1)
	}
	return m.open(ctx)
}

// press takes all rows in first, so that they share requests (case B126), and then presses in the order of
// the ticks.
func (m *Mirror) press(ctx context.Context, h store.Hook, presses []Press) error {
	problems := make([]error, len(presses))
	var all sync.WaitGroup
	for i, p := range presses {
		all.Go(func() { problems[i] = m.Presser.TakeInEntry(ctx, p.RecordID) })
	}
	all.Wait()
	var left error
	for i, p := range presses {
		err := problems[i]
		if err == nil {
			err = m.Presser.PressOnce(ctx, p.RecordID, p.By, p.Key)
		}
		switch code := deadletter.CodeOf(err); {
		case err == nil, code == deadletter.CodeInvalid, code == deadletter.CodeConflict:
			// Pressed, or the row says by now why not.
		case h.Tries >= giveUpRow && code != deadletter.CodeUnavailable:
			m.Logger.WarnContext(ctx, "press given up", "base", m.BaseName, "row", p.RecordID, "error", err)
		default:
			left = err // the others go on; this one comes up again with its page
		}
	}
	return left
}

// ticks are the boxes that a transaction has ticked: those that were not ticked before. The state of a box
// is no press, its change is (R10).
func ticks(h store.Hook, p airtable.HookPayload) []Press {
	var out []Press
	table := p.Tables[h.Table]
	press := func(id string, values map[string]any) {
		out = append(out, Press{RecordID: id, By: whoTicked(h, p, values), Key: fmt.Sprintf("%s/%d/%s", h.ID, p.Transaction, id)})
	}
	for _, id := range slices.Sorted(maps.Keys(table.Changed)) {
		c := table.Changed[id]
		if ticked(c.Current.Values[h.Box]) && !ticked(c.Previous.Values[h.Box]) {
			values := maps.Clone(c.Unchanged.Values)
			if values == nil {
				values = map[string]any{}
			}
			maps.Copy(values, c.Current.Values)
			press(id, values)
		}
	}
	for _, id := range slices.Sorted(maps.Keys(table.Created)) {
		if values := table.Created[id].Values; ticked(values[h.Box]) {
			press(id, values)
		}
	}
	return out
}

func ticked(cell any) bool {
	on, ok := cell.(bool)
	return ok && on
}

// whoTicked is the name in Replay Requested By, else the person whom Airtable names.
func whoTicked(h store.Hook, p airtable.HookPayload, values map[string]any) string {
	if by := cellText(values[h.By]); h.By != "" && by != "" {
		return by
	}
	user := p.Action.Metadata.User
	for _, name := range []string{user.Email, user.Name, user.ID} {
		if name != "" {
			return name
		}
	}
	return "Airtable (" + p.Action.Source + ")"
}
