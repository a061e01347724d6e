package store

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"time"

	"airtable-replay/internal/deadletter"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// ErrStale says that a guard matched no row: the lease, the claim or the status is no longer what
// the caller believed. Nothing was changed.
var ErrStale = errors.New("no longer held")

// unavailableWait is when to ask a database again that does not answer.
const unavailableWait = 2 * time.Second

// interpretError turns a driver's error into the domain's; doing says what was attempted. An error
// that is the domain's already, or ErrStale, stays as it is.
func interpretError(doing string, err error) error {
	if err == nil {
		return nil
	}
	if _, ok := errors.AsType[*deadletter.Error](err); ok || errors.Is(err, ErrStale) {
		return err
	}
	cause := fmt.Errorf("%s: %w", doing, err)
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return cause
	}
	if errors.Is(err, pgx.ErrNoRows) {
		return &deadletter.Error{Code: deadletter.CodeNotFound, Message: "not found", Err: cause}
	}
	if pg, ok := errors.AsType[*pgconn.PgError](err); ok {
		return interpretCode(pg.Code, cause)
	}
	if isConnection(err) {
		return unavailable(cause)
	}
	return cause
}

// interpretCode judges by Postgres' own code. What is left over is a mistake of ours.
func interpretCode(code string, cause error) error {
	switch {
	case lostRace(code):
		return &deadletter.Error{Code: deadletter.CodeUnavailable, Message: "the database is busy", RetryAfter: unavailableWait, Err: cause}
	case code[:2] == "08", code[:2] == "53", code[:2] == "57", code == "55P03", code == "25006":
		return unavailable(cause)
	case code == "22021", code == "22P05":
		return &deadletter.Error{
			Code: deadletter.CodeInvalid, Message: "a text holds a character that cannot be stored; leave out NUL and send valid UTF-8", Err: cause,
		}
	}
	return cause
}

func unavailable(cause error) error {
	return &deadletter.Error{Code: deadletter.CodeUnavailable, Message: "the database does not answer", RetryAfter: unavailableWait, Err: cause}
}

// lostRace tells a deadlock and a serialization failure: the same may succeed when it is tried again.
func lostRace(code string) bool { return code == "40P01" || code == "40001" }

// isConnection tells whether the connection failed, before or while it was used.
func isConnection(err error) bool {
	if _, ok := errors.AsType[*pgconn.ConnectError](err); ok {
		return true
	}
	if _, ok := errors.AsType[net.Error](err); ok {
		return true
	}
	return pgconn.SafeToRetry(err) || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF)
}
