package store

import (
	"context"

	"airtable-replay/internal/deadletter"

	"github.com/jackc/pgx/v5"
)

// Route is where the entries of one source go by today's configuration.
type Route struct {
	Source, Target, Base string
	Rank                 int // dependency rank of the target (B2)
}

// Claim is a press or the start of a run: which entries, by whom, and how they are to be checked.
type Claim struct {
	Run        deadletter.Run // kind, mode, requested by, note and selector
	Filter     Filter         // the selection; only Pending Review entries are ever claimed
	AttemptCap int            // entries with as many failures of their own stay (O3); 0: no cap
	Limit      int            // claim at most so many, the oldest first; 0: all
	// WithSiblings takes along every other pending entry of the selected entries' records (P4).
	WithSiblings bool
	PressReason  string
	Chosen       []string
	Expect       map[string]map[string]any // by entry ID
	Routes       []Route
	Held         Halts // from LockEntry; nil: the bases are not held yet
}

// Halts are the halted among bases that a transaction holds, with why.
type Halts map[string]string

// Claimed is what a claim took. Its entries stay in the database: a run may have very many.
type Claimed struct {
	RunID string
	Count int
	Bases []string // to be woken
}

// routeTable is the claim's routes as a table of SQL, with the arguments of args.
const routeTable = `route AS (
			SELECT * FROM unnest(@sources::text[], @targets::text[], @bases::text[], @ranks::int[]) AS r (source, target, base, rank)
		)`

func addRoutes(args pgx.NamedArgs, routes []Route) {
	var sources, targets, bases []string
	var ranks []int32
	for _, r := range routes {
		sources, targets, bases, ranks = append(sources, r.Source), append(targets, r.Target), append(bases, r.Base), append(ranks, int32(r.Rank))
	}
	args["sources"], args["targets"], args["bases"], args["ranks"] = sources, targets, bases, ranks
}

// ClaimEntries moves every selected entry from Pending Review to Replaying in one statement, with
// its run, its claim number, its history and its place in the run (P1). Nothing selected: no run is
// made and Claimed is empty. It locks the bases first, so that a pass that is about to end sees the
// new work (R1); when an entry belongs to a halted one, nothing is claimed and base-halted says so.
func (s *Store) ClaimEntries(ctx context.Context, c Claim) (Claimed, error) {
	var out Claimed
	err := s.join(ctx, func(ctx context.Context) (err error) {
		out, err = s.claim(ctx, c)
		return err
	})
	if err != nil {
		return Claimed{}, interpretError("claim entries", err)
	}
	return out, nil
}

func (s *Store) claim(ctx context.Context, c Claim) (Claimed, error) {
	out, err := s.selectInto(ctx, c, s.claimRows)
	if err != nil || out.Count == 0 {
		return out, err
	}
	return out, s.finishClaim(ctx, out.RunID, c)
}

// selectInto makes a run of what take takes for it. The bases are held before, so that none is halted or
// released meanwhile. Without entries there is no run.
func (s *Store) selectInto(ctx context.Context, c Claim, take func(ctx context.Context, run string, c Claim) ([]claimedRow, error)) (Claimed, error) {
	if err := c.Filter.check(); err != nil {
		return Claimed{}, err
	}
	if c.Filter.isEmpty() {
		return Claimed{}, deadletter.Errorf(deadletter.CodeInvalid, "empty-selection", "the selector names nothing to select")
	}
	halted := c.Held
	if halted == nil {
		var err error
		if halted, err = s.shareBases(ctx, c.Routes); err != nil {
			return Claimed{}, err
		}
	}
	run := newID()
	rows, err := take(ctx, run, c)
	if err != nil || len(rows) == 0 {
		return Claimed{}, err
	}
	return gather(run, rows, halted)
}

// gather sums up what was taken, unless some of it belongs to a halted base.
func gather(run string, rows []claimedRow, halted Halts) (Claimed, error) {
	out := Claimed{RunID: run}
	for _, r := range rows {
		if reason, ok := halted[r.Base]; ok {
			return Claimed{}, deadletter.Errorf(deadletter.CodeConflict, "base-halted", "base %s is halted, nothing was started: %s", r.Base, reason)
		}
		out.Count += r.Count
		out.Bases = append(out.Bases, r.Base)
	}
	return out, nil
}

// shareBases keeps the routes' bases from being released or halted until the claim is done, and
// returns the halted ones with their reasons.
func (s *Store) shareBases(ctx context.Context, routes []Route) (halted Halts, err error) {
	bases := []string{""}
	for _, r := range routes {
		bases = append(bases, r.Base)
	}
	const shareBases = `SELECT name, halted_at IS NOT NULL, halt_reason FROM base WHERE name = ANY ($1) ORDER BY name FOR KEY SHARE`
	rows, err := s.db(ctx).Query(ctx, shareBases, bases)
	if err != nil {
		return nil, err
	}
	halted = Halts{}
	var name, reason string
	var isHalted bool
	_, err = pgx.ForEachRow(rows, []any{&name, &isHalted, &reason}, func() error {
		if isHalted {
			halted[name] = reason
		}
		return nil
	})
	return halted, err
}

// claimedRow is how many entries of one base were taken.
type claimedRow struct {
	Base  string
	Count int
}

// selection is the SQL that picks the entries of a claim, as an expression over entry e with joins
// and conditions. A limit counts the selected entries; their siblings come on top, so that no record
// is torn apart.
func (c Claim) selection() (with, join, where string, args pgx.NamedArgs) {
	where, args = c.Filter.conditions("e")
	spare := ""
	if c.AttemptCap > 0 {
		spare = " AND e.own_failures < @cap"
		args["cap"] = c.AttemptCap
	}
	where = "e.status = 'pending_review' AND " + where + spare
	if c.Limit == 0 && !c.WithSiblings {
		return "", "", where, args
	}
	limit := ""
	if c.Limit > 0 {
		limit = " ORDER BY e.first_attempt_at, e.id LIMIT @limit"
		args["limit"] = c.Limit
	}
	with = `, chosen AS (SELECT e.id, e.target_table, e.record_key, e.target_id FROM entry e WHERE ` + where + limit + `)
		, wanted AS (SELECT id FROM chosen`
	if c.WithSiblings {
		with += ` UNION SELECT e.id FROM chosen c JOIN entry e ON e.target_table = c.target_table AND e.record_key = c.record_key
			WHERE c.target_id IS NOT NULL AND e.status = 'pending_review'` + spare
	}
	return with + ")", "JOIN wanted ON wanted.id = e.id", "e.status = 'pending_review'", args
}

func (s *Store) claimRows(ctx context.Context, run string, c Claim) ([]claimedRow, error) {
	with, join, where, args := c.selection()
	addRoutes(args, c.Routes)
	if err := addRun(args, run, c.Run); err != nil {
		return nil, err
	}
	priority := 1
	if c.Run.Kind == deadletter.RunPress {
		priority = 0
	}
	args["chosen"], args["press_reason"], args["priority"] = c.Chosen, text(c.PressReason), priority
	claimEntries := `
		WITH ` + routeTable + with + `, pick AS (
			SELECT e.id, coalesce(r.target, e.target_table) AS target, coalesce(r.base, '') AS base, coalesce(r.rank, 0) AS rank
			FROM entry e ` + join + ` LEFT JOIN route r ON r.source = e.source_system
			WHERE ` + where + ` ORDER BY e.id FOR NO KEY UPDATE OF e
		), claimed AS (
			UPDATE entry e SET status = 'replaying', claim = e.claim + 1, run_id = @run_id, mode = @mode, chosen = coalesce(@chosen::text[], '{}'),
				expect = NULL, press_reason = @press_reason, refusal = '', requested_by = @by, requested_at = replay_now(), updated_at = replay_now(),
				due_at = replay_now(), priority = @priority, rank = pick.rank, base = pick.base, target_table = pick.target,
				tries = 0, last_status = NULL, last_error = '', alone = false,
				outcome = NULL, outcome_reason = '', replayed_by = '', replayed_at = NULL, fields_replayed = NULL, fields_skipped = NULL,
				values_before = NULL, effect = '', notes = '', replay_status = NULL, replay_error = '', replay_attempts = 0
			FROM pick WHERE e.id = pick.id AND e.status = 'pending_review'
			RETURNING e.id, e.base, e.claim, e.first_attempt_at, e.target_id, e.payload_revision
		), history AS (
			INSERT INTO entry_history (entry_id, event, from_status, to_status, actor, run_id, claim, note)
			SELECT id, 'claimed', 'pending_review', 'replaying', @by, @run_id, claim, @note FROM claimed
		), member AS (
			INSERT INTO run_entry (run_id, entry_id, claim, first_attempt_at, target_id, payload_revision)
			SELECT @run_id, id, claim, first_attempt_at, target_id, payload_revision FROM claimed
		), run AS (` + insertRun + ` (SELECT count(*) FROM claimed) WHERE EXISTS (SELECT FROM claimed))
		SELECT base, count(*)::int FROM claimed GROUP BY base ORDER BY base`
	rows, err := s.db(ctx).Query(ctx, claimEntries, args)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, pgx.RowToStructByPos[claimedRow])
}

func (s *Store) finishClaim(ctx context.Context, run string, c Claim) error {
	if err := s.keepExpected(ctx, run, c.Expect); err != nil {
		return err
	}
	if c.Run.Kind != deadletter.RunPress {
		return s.countLeftOut(ctx, run, c)
	}
	return s.touchMirrorOf(ctx, run, mirrorPatience)
}

// countLeftOut notes with a run how many entries its selector picks that the attempt cap keeps out (O3).
func (s *Store) countLeftOut(ctx context.Context, run string, c Claim) error {
	if c.AttemptCap == 0 {
		return nil
	}
	where, args := c.Filter.conditions("e")
	args["left_by"], args["cap"] = run, c.AttemptCap
	_, err := s.db(ctx).Exec(ctx, `UPDATE run SET left_out = (SELECT count(*) FROM entry e WHERE e.status = 'pending_review' AND e.own_failures >= @cap AND `+where+`)
		WHERE id = @left_by::uuid`, args)
	return err
}

// keepExpected stores with each entry the values that its reviewer saw (R11).
func (s *Store) keepExpected(ctx context.Context, run string, expected map[string]map[string]any) error {
	if len(expected) == 0 {
		return nil
	}
	var ids, docs []string
	for id, expect := range expected {
		if checkID(id) != nil {
			return deadletter.Errorf(deadletter.CodeInvalid, "", "expect names %q, which is not the ID of an entry", id)
		}
		d, err := doc(expect)
		if err != nil {
			return err
		}
		ids, docs = append(ids, id), append(docs, d)
	}
	const keepExpected = `UPDATE entry e SET expect = x.expect::json FROM unnest($1::uuid[], $2::text[]) AS x (id, expect) WHERE e.id = x.id AND e.run_id = $3`
	_, err := s.db(ctx).Exec(ctx, keepExpected, ids, docs, run)
	return err
}

// Locked is an entry that a transaction holds.
type Locked struct {
	deadletter.Entry
	Edited bool  // its payload was edited after its last decision
	Held   Halts // the bases of the routes, held too
	// version is as stored, by which Reidentify knows whether there is anything to correct.
	version string
}

// LockEntry locks an entry for the rest of the transaction, after the bases of the routes as everybody
// does, and returns it as it is now.
func (s *Store) LockEntry(ctx context.Context, id string, routes []Route) (Locked, error) {
	held, err := s.shareBases(ctx, routes)
	if err != nil {
		return Locked{}, interpretError("share bases", err)
	}
	return findEntry(ctx, s.db(ctx), id, reading[Locked]{
		columns: `e.version, e.outcome IS NOT NULL AND e.decided_revision <> e.payload_revision, ` + entryColumns, lock: " FOR NO KEY UPDATE",
		scan: func(row pgx.CollectableRow) (l Locked, err error) {
			l.Held = held
			l.Entry, err = scanEntry(prefixed{CollectableRow: row, dest: []any{&l.version, &l.Edited}})
			return l, err
		},
	})
}

// RefusePress notes on an entry why a press was refused, and asks the mirror to untick the box, so
// that the button works again (T3, R10).
func (s *Store) RefusePress(ctx context.Context, id, actor, why string) error {
	err := s.InTx(ctx, func(ctx context.Context) error {
		const refusePress = `
			WITH refused AS (UPDATE entry SET refusal = @why WHERE id = @id RETURNING id, status, run_id)
			INSERT INTO entry_history (entry_id, event, from_status, to_status, actor, run_id, note)
			SELECT id, 'refused', status, status, @actor, run_id, @why FROM refused`
		if _, err := s.db(ctx).Exec(ctx, refusePress, names{"id": id, "actor": text(actor), "why": text(why)}); err != nil {
			return err
		}
		return s.touchMirror(ctx, []string{id}, 0, true)
	})
	return interpretError("refuse press", err)
}

// Reidentify corrects the key and version of a locked entry at Pending Review from its present payload:
// its source may have been configured, or its payload edited, since it was filed. An empty key leaves the
// one that it has.
func (s *Store) Reidentify(ctx context.Context, l Locked, targetID, sourceVersion string, v deadletter.Version) error {
	version, sort := versionColumns(v)
	if (targetID == "" || targetID == l.TargetID) && text(sourceVersion) == l.SourceVersion && version == l.version {
		return nil
	}
	updated, _ := v.Time()
	const reidentify = `
		UPDATE entry SET target_id = coalesce(@target_id, target_id), source_version = @source_version, version = @version,
			version_sort = @version_sort::numeric, source_updated_at = @updated
		WHERE id = @id AND status = 'pending_review'`
	_, err := s.db(ctx).Exec(ctx, reidentify, names{
		"id": l.ID, "target_id": orNullText(targetID), "source_version": text(sourceVersion), "version": version, "version_sort": sort, "updated": orNull(updated),
	})
	return interpretError("reidentify entry", err)
}

// OpenSiblings lists the entries at Pending Review that wait for the same record as an entry.
func (s *Store) OpenSiblings(ctx context.Context, id string) ([]string, error) {
	const openSiblings = `
		SELECT o.id::text FROM entry e JOIN entry o ON o.target_table = e.target_table AND o.record_key = e.record_key AND o.id <> e.id
		WHERE e.id = $1::uuid AND e.target_id IS NOT NULL AND o.status = 'pending_review' ORDER BY o.seq`
	return s.idsOf(ctx, "open siblings", openSiblings, id)
}

// ReviewGroup lists the entries at Pending Review that the decision which sent this entry to review
// sent there with it (R11); the entry itself included.
func (s *Store) ReviewGroup(ctx context.Context, id string) ([]string, error) {
	const reviewGroup = `
		SELECT o.id::text FROM entry e JOIN entry o ON o.review_group = e.review_group
		WHERE e.id = $1::uuid AND e.review_group IS NOT NULL AND o.status = 'pending_review' AND o.outcome = 'needs_review' ORDER BY o.seq`
	return s.idsOf(ctx, "review group", reviewGroup, id)
}

func (s *Store) idsOf(ctx context.Context, doing, sql string, args ...any) ([]string, error) {
	rows, err := s.db(ctx).Query(ctx, sql, args...)
	if err != nil {
		return nil, interpretError(doing, err)
	}
	ids, err := pgx.CollectRows(rows, pgx.RowTo[string])
	return ids, interpretError(doing, err)
}
