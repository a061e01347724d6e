package store

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"airtable-replay/internal/deadletter"

	"github.com/jackc/pgx/v5"
)

// Filter narrows a list of entries; empty members do not.
type Filter struct {
	IDs              []string
	Status           deadletter.Status
	Outcome          deadletter.Outcome
	Reason           deadletter.Reason
	Source           string
	Target           string
	TargetID         string
	Run              string
	Owner            string
	FirstAttemptFrom time.Time // inclusive
	FirstAttemptTo   time.Time // exclusive
	Q                string    // part of the target ID, the error detail or the notes
}

// Page is one page of a list in keyset order.
type Page struct {
	Limit  int
	Cursor string // where the previous page ended; empty: the first page
}

// conditions gives the WHERE clause of a filter over the entries of an alias, and its arguments.
func (f Filter) conditions(alias string) (string, pgx.NamedArgs) {
	var where []string
	args := pgx.NamedArgs{}
	add := func(clause, name string, value any) {
		where = append(where, strings.ReplaceAll(clause, "e.", alias+"."))
		args[name] = value
	}
	equal := func(column, name, value string) {
		if value != "" {
			add("e."+column+" = @"+name, name, value)
		}
	}
	equal("status", "status", string(f.Status))
	equal("outcome", "outcome", string(f.Outcome))
	equal("reason_code", "reason", string(f.Reason))
	equal("source_system", "source", f.Source)
	equal("target_table", "target", f.Target)
	equal("target_id", "target_id", f.TargetID)
	equal("assigned_owner", "owner", f.Owner)
	if len(f.IDs) > 0 {
		add("e.id = ANY (@ids::uuid[])", "ids", f.IDs)
	}
	if f.Run != "" {
		add("e.id IN (SELECT entry_id FROM run_entry WHERE run_id = @run::uuid)", "run", f.Run)
	}
	if !f.FirstAttemptFrom.IsZero() {
		add("e.first_attempt_at >= @from", "from", f.FirstAttemptFrom)
	}
	if !f.FirstAttemptTo.IsZero() {
		add("e.first_attempt_at < @to", "to", f.FirstAttemptTo)
	}
	if f.Q != "" {
		add("(strpos(e.target_id, @q) > 0 OR strpos(e.error_detail, @q) > 0 OR strpos(e.notes, @q) > 0)", "q", f.Q)
	}
	if len(where) == 0 {
		return "true", args
	}
	return strings.Join(where, " AND "), args
}

type cursor struct {
	At time.Time `json:"a"`
	ID string    `json:"i"`
}

func (c cursor) String() string {
	b, _ := json.Marshal(c)
	return base64.RawURLEncoding.EncodeToString(b)
}

func parseCursor(s string) (c cursor, err error) {
	b, err := base64.RawURLEncoding.DecodeString(s)
	if err == nil {
		err = json.Unmarshal(b, &c)
	}
	if err != nil || c.ID == "" {
		return c, &deadletter.Error{
			Code: deadletter.CodeInvalid, Problem: "invalid-cursor", Message: "the cursor is not one of ours",
			Fields: []deadletter.FieldError{{Field: "cursor", Rule: "cursor", Detail: "use next_cursor of the previous page as it is"}},
			Err:    fmt.Errorf("parse cursor: %w", err),
		}
	}
	return c, nil
}

// ListEntries lists entries by First Attempt At, the newest first. next is the cursor of the
// following page, empty at the end.
func (s *Store) ListEntries(ctx context.Context, f Filter, p Page) (es []deadletter.Entry, next string, err error) {
	where, args := f.conditions("e")
	if p.Cursor != "" {
		c, err := parseCursor(p.Cursor)
		if err != nil {
			return nil, "", err
		}
		where += " AND (e.first_attempt_at, e.id) < (@after_at, @after_id::uuid)"
		args["after_at"], args["after_id"] = c.At, c.ID
	}
	args["limit"] = p.Limit + 1
	rows, err := s.db(ctx).Query(ctx, `SELECT `+entryColumns+` FROM entry e WHERE `+where+`
		ORDER BY e.first_attempt_at DESC, e.id DESC LIMIT @limit`, args)
	if err != nil {
		return nil, "", interpretError("list entries", err)
	}
	es, err = pgx.CollectRows(rows, scanEntry)
	if err != nil {
		return nil, "", interpretError("list entries", err)
	}
	if len(es) > p.Limit {
		es = es[:p.Limit]
		last := es[len(es)-1]
		next = cursor{At: last.FirstAttemptAt, ID: last.ID}.String()
	}
	return es, next, nil
}

// Summary counts entries by what people group them by.
type Summary struct {
	ByStatus, ByReason, BySource, ByTarget map[string]int
	ByHour                                 map[time.Time]int
}

// SummarizeEntries counts the entries of a filter.
func (s *Store) SummarizeEntries(ctx context.Context, f Filter) (Summary, error) {
	where, args := f.conditions("e")
	sum := Summary{ByStatus: map[string]int{}, ByReason: map[string]int{}, BySource: map[string]int{}, ByTarget: map[string]int{}, ByHour: map[time.Time]int{}}
	rows, err := s.db(ctx).Query(ctx, `
		SELECT CASE grouping(e.status, e.reason_code, e.source_system, e.target_table, date_trunc('hour', e.first_attempt_at, 'UTC'))
				WHEN 15 THEN 'status' WHEN 23 THEN 'reason' WHEN 27 THEN 'source' WHEN 29 THEN 'target' ELSE 'hour' END,
			coalesce(e.status, e.reason_code, e.source_system, e.target_table, ''),
			date_trunc('hour', e.first_attempt_at, 'UTC'), count(*)
		FROM entry e WHERE `+where+`
		GROUP BY GROUPING SETS (e.status, e.reason_code, e.source_system, e.target_table, date_trunc('hour', e.first_attempt_at, 'UTC'))`, args)
	if err != nil {
		return sum, interpretError("summarize entries", err)
	}
	var by, name string
	var hour instant
	var n int
	_, err = pgx.ForEachRow(rows, []any{&by, &name, &hour, &n}, func() error {
		switch by {
		case "status":
			sum.ByStatus[name] = n
		case "reason":
			sum.ByReason[name] = n
		case "source":
			sum.BySource[name] = n
		case "target":
			sum.ByTarget[name] = n
		default:
			sum.ByHour[hour.Time] = n
		}
		return nil
	})
	return sum, interpretError("summarize entries", err)
}
