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
	Q                string    // part of the target ID, the error detail or the notes, in whatever case
}

// isEmpty tells whether the filter narrows nothing.
func (f Filter) isEmpty() bool {
	where, _ := f.conditions("e")
	return where == "true"
}

// check refuses IDs that cannot be ours.
func (f Filter) check() error {
	err := deadletter.Errorf(deadletter.CodeInvalid, "", "the filter names something that is no ID")
	for _, id := range f.IDs {
		if checkID(id) != nil {
			err.Fields = append(err.Fields, deadletter.FieldError{Field: "ids", Rule: "id", Detail: fmt.Sprintf("%q is not the ID of an entry", id)})
		}
	}
	if f.Run != "" && checkID(f.Run) != nil {
		err.Fields = append(err.Fields, deadletter.FieldError{Field: "run", Rule: "id", Detail: fmt.Sprintf("%q is not the ID of a run", f.Run)})
	}
	if len(err.Fields) == 0 {
		return nil
	}
	return err
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
		add("(strpos(lower(e.target_id), lower(@q)) > 0 OR strpos(lower(e.error_detail), lower(@q)) > 0 OR strpos(lower(e.notes), lower(@q)) > 0)", "q", f.Q)
	}
	if len(where) == 0 {
		return "true", args
	}
	return strings.Join(where, " AND "), args
}

// cursor is where a page ended: for entries the last one's First Attempt At and ID, for runs the last
// one's number.
type cursor struct {
	At time.Time `json:"a,omitzero"`
	ID string    `json:"i"`
}

func (c cursor) String() string {
	b, _ := json.Marshal(c)
	return base64.RawURLEncoding.EncodeToString(b)
}

// parseCursor reads a cursor whose ID passes check.
func parseCursor(s string, check func(id string) error) (c cursor, err error) {
	b, err := base64.RawURLEncoding.DecodeString(s)
	if err == nil {
		err = json.Unmarshal(b, &c)
	}
	if err == nil {
		err = check(c.ID)
	}
	if err != nil {
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
	query, args, err := listQuery(f, p)
	if err != nil {
		return nil, "", err
	}
	rows, err := s.db(ctx).Query(ctx, query, args)
	if err != nil {
		return nil, "", interpretError("list entries", err)
	}
	es, err = pgx.CollectRows(rows, scanEntry)
	if err != nil {
		return nil, "", interpretError("list entries", err)
	}
	if len(es) > p.limit() {
		es = es[:p.limit()]
		last := es[len(es)-1]
		next = cursor{At: last.FirstAttemptAt, ID: last.ID}.String()
	}
	return es, next, nil
}

func (p Page) limit() int { return max(1, p.Limit) }

// listQuery lists one entry more than the page holds, in keyset order. The entries of a run are read
// in that order from what stands of the run, for which there is an index.
func listQuery(f Filter, p Page) (string, pgx.NamedArgs, error) {
	if err := f.check(); err != nil {
		return "", nil, err
	}
	from, at, id := "entry e", "e.first_attempt_at", "e.id"
	run := f.Run
	if f.Run = ""; run != "" {
		from, at, id = "run_entry m JOIN entry e ON e.id = m.entry_id", "m.first_attempt_at", "m.entry_id"
	}
	where, args := f.conditions("e")
	if run != "" {
		where += " AND m.run_id = @run::uuid"
		args["run"] = run
	}
	if p.Cursor != "" {
		c, err := parseCursor(p.Cursor, checkID)
		if err != nil {
			return "", nil, err
		}
		where += fmt.Sprintf(" AND (%s, %s) < (@after_at, @after_id::uuid)", at, id)
		args["after_at"], args["after_id"] = c.At, c.ID
	}
	args["limit"] = p.limit() + 1
	return fmt.Sprintf(`SELECT %s FROM %s WHERE %s ORDER BY %s DESC, %s DESC LIMIT @limit`, entryColumns, from, where, at, id), args, nil
}

// Summary counts entries by what people group them by.
type Summary struct {
	ByStatus, ByReason, BySource, ByTarget map[string]int
	ByHour                                 map[time.Time]int
}

// SummarizeEntries counts the entries of a filter.
func (s *Store) SummarizeEntries(ctx context.Context, f Filter) (Summary, error) {
	if err := f.check(); err != nil {
		return Summary{}, err
	}
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
