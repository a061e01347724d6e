package store

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"
)

// Notification is one message to one endpoint.
type Notification struct {
	ID        string
	Endpoint  string // a key of the configuration's notify
	Event     string
	About     string // the ID of a run, the name of a base
	Payload   []byte // JSON, exactly what is sent
	Delivered bool
	CreatedAt time.Time
	Attempts  int
	LastError string
}

// AddNotification stores a message that is to be delivered.
func (s *Store) AddNotification(ctx context.Context, n Notification) (id string, err error) {
	id = newID()
	const addNotification = `INSERT INTO notification (id, endpoint, event, about, payload) VALUES ($1, $2, $3, $4, $5)`
	_, err = s.db(ctx).Exec(ctx, addNotification, id, n.Endpoint, n.Event, n.About, string(n.Payload))
	return id, interpretError("add notification", err)
}

// ListNotifications lists the messages about something, the oldest first, without their payloads.
func (s *Store) ListNotifications(ctx context.Context, about string) ([]Notification, error) {
	const listNotifications = `SELECT id::text, endpoint, event, about, delivered_at IS NOT NULL, created_at, attempts, last_error FROM notification
		WHERE about = $1 ORDER BY created_at, id LIMIT 1000`
	rows, err := s.db(ctx).Query(ctx, listNotifications, about)
	if err != nil {
		return nil, interpretError("list notifications", err)
	}
	found, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (n Notification, err error) {
		err = row.Scan(&n.ID, &n.Endpoint, &n.Event, &n.About, &n.Delivered, &n.CreatedAt, &n.Attempts, &n.LastError)
		n.CreatedAt = n.CreatedAt.UTC()
		return n, err
	})
	return found, interpretError("list notifications", err)
}

// FindNotification loads a message.
func (s *Store) FindNotification(ctx context.Context, id string) (n Notification, err error) {
	const findNotification = `SELECT id::text, endpoint, event, about, payload, delivered_at IS NOT NULL, created_at, attempts, last_error FROM notification WHERE id = $1::uuid`
	err = s.db(ctx).QueryRow(ctx, findNotification, id).Scan(&n.ID, &n.Endpoint, &n.Event, &n.About, &n.Payload, &n.Delivered, &n.CreatedAt, &n.Attempts, &n.LastError)
	return n, interpretError("find notification", err)
}

// NoteDelivery stores what became of one attempt to deliver; an empty problem is a success.
func (s *Store) NoteDelivery(ctx context.Context, id, problem string) error {
	const noteDelivery = `UPDATE notification SET attempts = attempts + 1, last_error = $2, delivered_at = CASE WHEN $2 = '' THEN replay_now() ELSE delivered_at END WHERE id = $1::uuid`
	_, err := s.db(ctx).Exec(ctx, noteDelivery, id, text(problem))
	return interpretError("note delivery", err)
}
