package store

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"
)

// Hook is the webhook by which Airtable tells of presses (T3).
type Hook struct {
	Base      string
	ID        string // Airtable's; empty: there is none yet
	Secret    []byte // sealed by its owner; never in the clear
	Table     string // tbl…
	Box       string // fld… of Replay Requested
	By        string // fld… of Replay Requested By; empty: the table has none
	Cursor    int    // of the next payload
	ExpiresAt time.Time
	Tries     int // readings in a row that failed
}

// EnsureHook makes room for the webhook of a base, and has it looked at.
func (s *Store) EnsureHook(ctx context.Context, base string) error {
	_, err := s.db(ctx).Exec(ctx, `INSERT INTO press_hook (base) VALUES ($1) ON CONFLICT DO NOTHING`, base)
	return interpretError("ensure hook", err)
}

const hookColumns = `base, hook_id, secret, table_id, box_id, by_id, cursor, expires_at, tries`

func scanHook(row pgx.CollectableRow) (h Hook, err error) {
	var expires instant
	err = row.Scan(&h.Base, &h.ID, &h.Secret, &h.Table, &h.Box, &h.By, &h.Cursor, &expires, &h.Tries)
	h.ExpiresAt = expires.Time
	return h, err
}

// TakeHook takes the webhook of a base when it is due to be read, and keeps it from others for a while; ok
// is false when it is not due.
func (s *Store) TakeHook(ctx context.Context, base string, hold time.Duration) (h Hook, ok bool, err error) {
	const takeHook = `UPDATE press_hook SET due_at = replay_now() + $2::interval WHERE base = $1 AND due_at <= replay_now() RETURNING ` + hookColumns
	rows, err := s.db(ctx).Query(ctx, takeHook, base, hold)
	if err != nil {
		return h, false, interpretError("take hook", err)
	}
	hs, err := pgx.CollectRows(rows, scanHook)
	if err != nil || len(hs) == 0 {
		return h, false, interpretError("take hook", err)
	}
	return hs[0], true, nil
}

// FindHook finds a webhook by Airtable's ID.
func (s *Store) FindHook(ctx context.Context, id string) (h Hook, ok bool, err error) {
	rows, err := s.db(ctx).Query(ctx, `SELECT `+hookColumns+` FROM press_hook WHERE hook_id = $1 AND hook_id <> ''`, id)
	if err != nil {
		return h, false, interpretError("find hook", err)
	}
	hs, err := pgx.CollectRows(rows, scanHook)
	if err != nil || len(hs) == 0 {
		return h, false, interpretError("find hook", err)
	}
	return hs[0], true, nil
}

// ReplaceHook stores a webhook that was just created in the place of the one before.
func (s *Store) ReplaceHook(ctx context.Context, h Hook) error {
	const replaceHook = `UPDATE press_hook SET hook_id = @id, secret = @secret, table_id = @table, box_id = @box, by_id = @by, cursor = @cursor,
		expires_at = @expires, due_at = replay_now(), tries = 0, problem = '' WHERE base = @base`
	_, err := s.db(ctx).Exec(ctx, replaceHook, names{
		"base": h.Base, "id": h.ID, "secret": h.Secret, "table": h.Table, "box": h.Box, "by": h.By, "cursor": h.Cursor, "expires": h.ExpiresAt,
	})
	return interpretError("replace hook", err)
}

// HookRead is how far the reading of a webhook came.
type HookRead struct {
	Hook    Hook
	Cursor  int           // of the next payload
	Until   time.Time     // the webhook's new expiry; zero: as before
	Wait    time.Duration // until the next reading
	Problem string        // why it came no further; empty: all was read
}

// SettleHook notes how far a reading came. A hook that was pinged meanwhile stays due.
func (s *Store) SettleHook(ctx context.Context, r HookRead) error {
	const settleHook = `
		UPDATE press_hook SET cursor = greatest(cursor, @cursor), tries = CASE WHEN @problem = '' THEN 0 ELSE tries + 1 END, problem = @problem,
			expires_at = coalesce(@until::timestamptz, expires_at),
			due_at = CASE WHEN due_at <= replay_now() AND @problem = '' THEN due_at ELSE replay_now() + @wait::interval END
		WHERE base = @base AND hook_id = @id`
	_, err := s.db(ctx).Exec(ctx, settleHook, names{
		"base": r.Hook.Base, "id": r.Hook.ID, "cursor": r.Cursor, "until": orNull(r.Until), "wait": r.Wait, "problem": text(r.Problem),
	})
	return interpretError("settle hook", err)
}

// PingHook has a webhook read soon.
func (s *Store) PingHook(ctx context.Context, id string) error {
	_, err := s.db(ctx).Exec(ctx, `UPDATE press_hook SET due_at = replay_now() WHERE hook_id = $1 AND hook_id <> ''`, id)
	return interpretError("ping hook", err)
}
