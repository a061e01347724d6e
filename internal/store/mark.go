package store

import (
	"context"
	"time"

	"airtable-replay/internal/deadletter"

	"github.com/jackc/pgx/v5"
)

type markDoc struct {
	Highest string `json:"highest,omitempty"`
	Stored  string `json:"stored,omitempty"`
}

type guardDoc struct {
	Stamp string `json:"stamp"`
	Value any    `json:"value"`
}

// FindMark is what is remembered of one record; the zero Mark where nothing is.
func (s *Store) FindMark(ctx context.Context, ref RecordRef) (Mark, error) {
	marks, err := s.marks(ctx, ref.Target, []string{ref.Key})
	return marks[ref.Key], interpretError("find mark", err)
}

func (s *Store) marks(ctx context.Context, target string, keys []string) (map[string]Mark, error) {
	const listMarks = `SELECT record_key, record_id, clocks, guards, restored, rest_until, coalesce(rest_until > replay_now(), false), deaths
		FROM record_mark WHERE target_table = $1 AND record_key = ANY ($2)`
	rows, err := s.db(ctx).Query(ctx, listMarks, target, keys)
	if err != nil {
		return nil, err
	}
	marks := map[string]Mark{}
	var key string
	var clocks, guards []byte
	var m Mark
	var rest instant
	_, err = pgx.ForEachRow(rows, []any{&key, &m.RecordID, &clocks, &guards, &m.Restored, &rest, &m.Resting, &m.Deaths}, func() error {
		m.RestUntil = rest.Time
		if len(m.Restored) == 0 {
			m.Restored = nil
		}
		var err error
		if m.Clocks, err = readClocks(clocks); err != nil {
			return err
		}
		if m.Guards, err = readGuards(guards); err != nil {
			return err
		}
		marks[key] = m
		return nil
	})
	return marks, err
}

func readClocks(b []byte) (map[string]ClockMark, error) {
	var docs map[string]markDoc
	if err := read(b, &docs); err != nil {
		return nil, err
	}
	out := map[string]ClockMark{}
	for clock, d := range docs {
		highest, err := parseVersion(d.Highest)
		if err != nil {
			return nil, err
		}
		stored, err := parseVersion(d.Stored)
		if err != nil {
			return nil, err
		}
		out[clock] = ClockMark{Highest: highest, Stored: stored}
	}
	return out, nil
}

func readGuards(b []byte) (map[string]deadletter.GuardMark, error) {
	var docs map[string]guardDoc
	if err := read(b, &docs); err != nil {
		return nil, err
	}
	out := map[string]deadletter.GuardMark{}
	for field, d := range docs {
		out[field] = deadletter.GuardMark(d)
	}
	return out, nil
}

// saveMark writes what is remembered of a record after a landing. rest is kept as it is unless
// clearRest.
func (s *Store) saveMark(ctx context.Context, ref RecordRef, m Mark, clearRest bool) error {
	clocks := map[string]markDoc{}
	for clock, c := range m.Clocks {
		highest, _ := versionColumns(c.Highest)
		stored, _ := versionColumns(c.Stored)
		clocks[clock] = markDoc{Highest: highest, Stored: stored}
	}
	guards := map[string]guardDoc{}
	for field, g := range m.Guards {
		guards[field] = guardDoc(g)
	}
	clockText, err := doc(clocks)
	if err != nil {
		return err
	}
	guardText, err := doc(guards)
	if err != nil {
		return err
	}
	const saveMark = `
		INSERT INTO record_mark (target_table, record_key, record_id, clocks, guards, restored) VALUES (@target, @key, @record, @clocks, @guards, @restored)
		ON CONFLICT (target_table, record_key) DO UPDATE SET record_id = @record, clocks = @clocks, guards = @guards, restored = @restored, deaths = 0,
			rest_until = CASE WHEN @clear THEN NULL ELSE record_mark.rest_until END`
	_, err = s.db(ctx).Exec(ctx, saveMark, names{
		"target": ref.Target, "key": ref.Key, "record": m.RecordID, "clocks": clockText, "guards": guardText, "restored": append([]string{}, m.Restored...), "clear": clearRest,
	})
	return err
}

// rest makes a record rest until an unanswered write can no longer land (R4b). A longer rest stays.
func (s *Store) rest(ctx context.Context, ref RecordRef, until time.Time) error {
	const restRecord = `INSERT INTO record_mark (target_table, record_key, rest_until) VALUES ($1, $2, $3)
		ON CONFLICT (target_table, record_key) DO UPDATE SET rest_until = greatest(coalesce(record_mark.rest_until, '-infinity'), $3)`
	_, err := s.db(ctx).Exec(ctx, restRecord, ref.Target, ref.Key, until)
	return err
}
