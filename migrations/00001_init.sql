-- +goose Up

-- One clock for leases, slots, pauses and rests: hosts differ, the database does not. Tests replace
-- the function to move time.
CREATE FUNCTION replay_now() RETURNS timestamptz LANGUAGE sql VOLATILE AS 'SELECT clock_timestamp()';

CREATE TABLE base (
    name             text PRIMARY KEY, -- '' stands for entries whose source is not configured
    lease_token      bigint      NOT NULL DEFAULT 0,
    lease_holder     text        NOT NULL DEFAULT '',
    lease_until      timestamptz NOT NULL DEFAULT '-infinity',
    progress_at      timestamptz NOT NULL DEFAULT '-infinity',
    next_slot_at     timestamptz NOT NULL DEFAULT '-infinity',
    departures       timestamptz[] NOT NULL DEFAULT '{}',
    paused_until     timestamptz,
    pause_reason     text        NOT NULL DEFAULT '',
    halted_at        timestamptz,
    halt_reason      text        NOT NULL DEFAULT '',
    halted_by        text        NOT NULL DEFAULT '',
    resumed_at       timestamptz NOT NULL DEFAULT '-infinity', -- what was known of the base before may have been mended
    halt_kind        text        NOT NULL DEFAULT 'data' CHECK (halt_kind IN ('data', 'access')), -- access: token or quota (R9)
    mirror_held_until timestamptz NOT NULL DEFAULT '-infinity', -- no row goes to the dead letter table before
    mirror_problem   text        NOT NULL DEFAULT '',
    failure          text        NOT NULL DEFAULT '', -- signature of the last permanent failure
    failures         int         NOT NULL DEFAULT 0,  -- how many of the same in a row
    taking           json        NOT NULL DEFAULT '[]', -- records between take and intend (R7)
    turn             bigint      NOT NULL DEFAULT 0,
    run_in_turn      uuid,       -- the run whose entries were taken last
    woken_at         timestamptz NOT NULL DEFAULT '-infinity', -- when a tick last asked for a pass
    asked_at         timestamptz NOT NULL DEFAULT '-infinity'  -- when one first did since the last progress
);
INSERT INTO base (name) VALUES ('');

CREATE TABLE token_budget (
    owner  text PRIMARY KEY,
    booked timestamptz[] NOT NULL DEFAULT '{}' -- spans that are taken: from, to, from, to, in order
);

CREATE TABLE run (
    id           uuid PRIMARY KEY,
    seq          bigint GENERATED ALWAYS AS IDENTITY,
    kind         text        NOT NULL CHECK (kind IN ('press', 'run', 'restore')),
    status       text        NOT NULL CHECK (status IN ('queued', 'running', 'completed', 'cancelled', 'stopped')),
    reason       text        NOT NULL DEFAULT '',
    dry_run      boolean     NOT NULL DEFAULT false,
    requested_by text        NOT NULL,
    note         text        NOT NULL DEFAULT '',
    selector     json        NOT NULL DEFAULT '{}',
    mode         text        NOT NULL DEFAULT 'checked',
    claimed      int         NOT NULL DEFAULT 0,
    left_out     int         NOT NULL DEFAULT 0,  -- selected, but past the attempt cap (O3)
    failure      text        NOT NULL DEFAULT '', -- signature of the last permanent failure
    failures     int         NOT NULL DEFAULT 0,  -- how many of the same in a row
    created_at   timestamptz NOT NULL DEFAULT replay_now(),
    started_at   timestamptz,
    finished_at  timestamptz,                     -- the last entry is settled
    announced_at timestamptz                      -- downstream is told (B6)
);
CREATE INDEX run_by_age ON run (seq DESC);
CREATE INDEX run_active ON run (id) WHERE status IN ('queued', 'running');
CREATE INDEX run_unannounced ON run (finished_at) WHERE finished_at IS NOT NULL AND announced_at IS NULL;

CREATE TABLE entry (
    id                uuid PRIMARY KEY,
    seq               bigint GENERATED ALWAYS AS IDENTITY,
    dlq_record_id     text UNIQUE,
    filing_key        bytea       NOT NULL UNIQUE, -- hash of source, payload and first attempt (E4)
    source_system     text        NOT NULL,
    base              text        NOT NULL REFERENCES base (name),
    target_table      text        NOT NULL,
    target_id         text,
    record_key        text        NOT NULL GENERATED ALWAYS AS (CASE WHEN target_id IS NULL THEN 'e:' || id::text ELSE 'k:' || target_id END) STORED,
    operation         text        NOT NULL CHECK (operation IN ('update', 'upsert')),
    raw_payload       bytea       NOT NULL,
    payload_revision  int         NOT NULL DEFAULT 0,
    reason_code       text        NOT NULL,
    error_detail      text        NOT NULL DEFAULT '',
    status_code       int,
    attempts          int         NOT NULL DEFAULT 0,
    source_version    text        NOT NULL DEFAULT '', -- as sent
    version           text        NOT NULL DEFAULT '', -- as compared
    source_updated_at timestamptz,
    version_sort      numeric,
    first_attempt_at  timestamptz NOT NULL,
    status            text        NOT NULL DEFAULT 'pending_review' CHECK (status IN ('pending_review', 'replaying', 'resolved', 'ignored')),
    assigned_owner    text        NOT NULL DEFAULT '',
    flags             text[]      NOT NULL DEFAULT '{}',
    own_failures      int         NOT NULL DEFAULT 0, -- counted by the attempt cap (O3)
    review_group      uuid,                           -- entries that one decision sent to review
    wrote_version     text        NOT NULL DEFAULT '', -- a version that this entry itself put on the record
    created_at        timestamptz NOT NULL DEFAULT replay_now(),
    updated_at        timestamptz NOT NULL DEFAULT replay_now(),

    -- the claim; meaningful while replaying, kept afterwards as the account of the last replay
    claim             bigint      NOT NULL DEFAULT 0,
    run_id            uuid,
    mode              text        NOT NULL DEFAULT 'checked',
    chosen            text[]      NOT NULL DEFAULT '{}',
    expect            json,
    press_reason      text        NOT NULL DEFAULT '',
    refusal           text        NOT NULL DEFAULT '', -- why the newest press was refused; shown until the next claim (R10)
    requested_by      text        NOT NULL DEFAULT '',
    requested_at      timestamptz,
    due_at            timestamptz,
    priority          smallint    NOT NULL DEFAULT 0, -- 0 a press, 1 a run
    rank              int         NOT NULL DEFAULT 0, -- dependency rank of the target
    tries             int         NOT NULL DEFAULT 0, -- attempts of this claim (W2)
    last_status       int,                            -- last answer of this claim
    last_error        text        NOT NULL DEFAULT '',
    alone             boolean     NOT NULL DEFAULT false,
    landed_intent     uuid,                           -- a write of this entry that landed while nobody held it (R2)

    -- the outcome of the last replay
    outcome           text CHECK (outcome IN ('replayed', 'partially_replayed', 'superseded', 'needs_review', 'replay_failed')),
    outcome_reason    text        NOT NULL DEFAULT '',
    replayed_by       text        NOT NULL DEFAULT '',
    replayed_at       timestamptz,
    fields_replayed   json,
    fields_skipped    json,
    values_before     json,
    decided_revision  int         NOT NULL DEFAULT 0, -- of the payload that was decided about
    record_id         text        NOT NULL DEFAULT '',
    effect            text        NOT NULL DEFAULT '' CHECK (effect IN ('', 'created', 'updated', 'unchanged', 'merged')),
    notes             text        NOT NULL DEFAULT '',
    replay_status     int,
    replay_error      text        NOT NULL DEFAULT '',
    replay_attempts   int         NOT NULL DEFAULT 0
);
CREATE INDEX entry_by_age ON entry (first_attempt_at DESC, id DESC);
CREATE INDEX entry_by_status ON entry (status, first_attempt_at DESC, id DESC);
CREATE INDEX entry_by_status_and_reason ON entry (status, reason_code, first_attempt_at DESC, id DESC);
CREATE INDEX entry_by_reason ON entry (reason_code, first_attempt_at DESC, id DESC);
CREATE INDEX entry_by_source ON entry (source_system, first_attempt_at DESC, id DESC);
CREATE INDEX entry_by_target ON entry (target_table, first_attempt_at DESC, id DESC);
CREATE INDEX entry_by_owner ON entry (assigned_owner, first_attempt_at DESC, id DESC);
CREATE INDEX entry_by_outcome ON entry (outcome, first_attempt_at DESC, id DESC);
CREATE INDEX entry_by_review_group ON entry (review_group) WHERE status = 'pending_review' AND review_group IS NOT NULL;
CREATE INDEX entry_by_record ON entry (target_table, record_key) WHERE status IN ('pending_review', 'replaying');
CREATE INDEX entry_by_target_id ON entry (target_id, first_attempt_at DESC, id DESC);
CREATE INDEX entry_replaying ON entry (base, priority, rank, target_table, version_sort, seq) WHERE status = 'replaying';
CREATE INDEX entry_replaying_by_run ON entry (base, run_id, rank, target_table, version_sort, seq) WHERE status = 'replaying' AND priority = 1;

CREATE TABLE entry_payload (
    entry_id    uuid        NOT NULL REFERENCES entry (id),
    revision    int         NOT NULL, -- 0: as filed
    raw_payload bytea       NOT NULL,
    edited_by   text        NOT NULL DEFAULT '',
    reason      text        NOT NULL DEFAULT '',
    created_at  timestamptz NOT NULL DEFAULT replay_now(),
    PRIMARY KEY (entry_id, revision)
);

-- Here and in run_entry no foreign keys: entries are never deleted, and the claim of a big run would
-- check each of them over and over.
CREATE TABLE entry_history (
    id          bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    entry_id    uuid        NOT NULL,
    at          timestamptz NOT NULL DEFAULT replay_now(),
    event       text        NOT NULL,
    from_status text        NOT NULL DEFAULT '',
    to_status   text        NOT NULL DEFAULT '',
    actor       text        NOT NULL DEFAULT '',
    run_id      uuid,
    claim       bigint      NOT NULL DEFAULT 0,
    outcome     text        NOT NULL DEFAULT '',
    reason      text        NOT NULL DEFAULT '',
    note        text        NOT NULL DEFAULT '',
    detail      json        NOT NULL DEFAULT '{}'
);
CREATE INDEX entry_history_by_entry ON entry_history (entry_id, id);

-- +goose StatementBegin
CREATE FUNCTION refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION '% is append-only', TG_TABLE_NAME;
END $$;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE FUNCTION refuse_delete() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'an % is never deleted', TG_TABLE_NAME;
END $$;
-- +goose StatementEnd
CREATE TRIGGER entry_history_append_only BEFORE UPDATE OR DELETE ON entry_history
    FOR EACH ROW EXECUTE FUNCTION refuse_change();
CREATE TRIGGER entry_payload_append_only BEFORE UPDATE OR DELETE ON entry_payload
    FOR EACH ROW EXECUTE FUNCTION refuse_change();
CREATE TRIGGER entry_stays BEFORE DELETE ON entry
    FOR EACH ROW EXECUTE FUNCTION refuse_delete();
CREATE TRIGGER entry_history_stays BEFORE TRUNCATE ON entry_history
    FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
CREATE TRIGGER entry_payload_stays BEFORE TRUNCATE ON entry_payload
    FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();

-- +goose StatementBegin
CREATE FUNCTION refuse_filing_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'what an entry was filed with never changes';
END $$;
-- +goose StatementEnd
CREATE TRIGGER entry_keeps_filing BEFORE UPDATE OF id, seq, filing_key, source_system, operation, reason_code, error_detail, status_code, attempts, first_attempt_at, created_at ON entry
    FOR EACH ROW WHEN ((NEW.id, NEW.seq, NEW.filing_key, NEW.source_system, NEW.operation, NEW.reason_code, NEW.error_detail, NEW.status_code, NEW.attempts, NEW.first_attempt_at, NEW.created_at)
        IS DISTINCT FROM (OLD.id, OLD.seq, OLD.filing_key, OLD.source_system, OLD.operation, OLD.reason_code, OLD.error_detail, OLD.status_code, OLD.attempts, OLD.first_attempt_at, OLD.created_at))
    EXECUTE FUNCTION refuse_filing_change();

-- +goose StatementBegin
CREATE FUNCTION refuse_transition() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'an entry does not go from % to %', OLD.status, NEW.status;
END $$;
-- +goose StatementEnd
CREATE TRIGGER entry_keeps_transitions BEFORE UPDATE OF status ON entry
    FOR EACH ROW WHEN (NEW.status <> OLD.status AND (OLD.status, NEW.status) NOT IN (('pending_review', 'replaying'), ('replaying', 'resolved'),
        ('replaying', 'pending_review'), ('pending_review', 'ignored'), ('resolved', 'pending_review'), ('ignored', 'pending_review')))
    EXECUTE FUNCTION refuse_transition();

-- How many entries there are, by what people group them by: in three grains, so that a page reads a few
-- lines of sums however many entries there are. Lines are only added, minus one and plus one for a change,
-- so that nobody waits for anybody; now and then they are summed up.
CREATE TABLE entry_tally (
    grain         smallint    NOT NULL, -- 0: by group and hour, 1: by group, 2: by hour
    status        text        NOT NULL,
    reason_code   text        NOT NULL, -- this and the next two: '' by hour
    source_system text        NOT NULL,
    target_table  text        NOT NULL,
    hour          timestamptz NOT NULL, -- of First Attempt At; '-infinity' by group
    entries       int         NOT NULL
);
CREATE INDEX entry_tally_by_hour ON entry_tally (grain, hour);
-- +goose StatementBegin
CREATE FUNCTION tally_filed() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO entry_tally
        SELECT grouping(reason_code, hour), status, coalesce(reason_code, ''), coalesce(source_system, ''), coalesce(target_table, ''), coalesce(hour, '-infinity'), count(*)
        FROM (SELECT status, reason_code, source_system, target_table, date_trunc('hour', first_attempt_at, 'UTC') AS hour FROM filed) moved
        GROUP BY GROUPING SETS ((status, reason_code, source_system, target_table, hour), (status, reason_code, source_system, target_table), (status, hour));
    RETURN NULL;
END $$;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE FUNCTION tally_changed() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF NOT EXISTS (SELECT FROM became) THEN
        RETURN NULL;
    END IF;
    INSERT INTO entry_tally
        SELECT grouping(reason_code, hour), status, coalesce(reason_code, ''), coalesce(source_system, ''), coalesce(target_table, ''), coalesce(hour, '-infinity'), sum(n)
        FROM (SELECT status, reason_code, source_system, target_table, date_trunc('hour', first_attempt_at, 'UTC') AS hour, -1 AS n FROM was
            UNION ALL SELECT status, reason_code, source_system, target_table, date_trunc('hour', first_attempt_at, 'UTC'), 1 FROM became) moved
        GROUP BY GROUPING SETS ((status, reason_code, source_system, target_table, hour), (status, reason_code, source_system, target_table), (status, hour))
        HAVING sum(n) <> 0;
    RETURN NULL;
END $$;
-- +goose StatementEnd
CREATE TRIGGER entry_tally_filed AFTER INSERT ON entry REFERENCING NEW TABLE AS filed
    FOR EACH STATEMENT EXECUTE FUNCTION tally_filed();
CREATE TRIGGER entry_tally_changed AFTER UPDATE ON entry REFERENCING OLD TABLE AS was NEW TABLE AS became
    FOR EACH STATEMENT EXECUTE FUNCTION tally_changed();

-- What one run did to one entry; an entry's later runs leave it alone (B5).
CREATE TABLE run_entry (
    run_id     uuid NOT NULL,
    entry_id   uuid NOT NULL,
    claim      bigint NOT NULL,
    first_attempt_at timestamptz NOT NULL, -- the entry's, so that a run's entries are listed in order
    target_id  text,                       -- as claimed; the entry may be edited afterwards
    payload_revision int NOT NULL DEFAULT 0,
    outcome    text NOT NULL DEFAULT '', -- '' while waiting; 'released' when it went back without a decision
    reason     text NOT NULL DEFAULT '',
    effect     text NOT NULL DEFAULT '',
    skipped    json NOT NULL DEFAULT '{}', -- reason -> number of fields left out
    record_id  text NOT NULL DEFAULT '',   -- that was written
    dates      date[] NOT NULL DEFAULT '{}', -- business dates of that record before and after (B6)
    settled_at timestamptz,
    PRIMARY KEY (run_id, entry_id)
);

-- Asked for after each settlement. No other index is in the order of claim, so none is mistaken for it.
CREATE INDEX run_entry_open ON run_entry (run_id, claim) WHERE outcome = '';
CREATE INDEX run_entry_by_age ON run_entry (run_id, first_attempt_at DESC, entry_id DESC);

-- What a dry run is to judge, and what it found; nothing else of the entry changes.
CREATE TABLE forecast (
    run_id       uuid    NOT NULL,
    entry_id     uuid    NOT NULL,
    base         text    NOT NULL,
    target_table text    NOT NULL,
    record_key   text    NOT NULL,
    rank         int     NOT NULL,
    version_sort numeric,
    seq          bigint  NOT NULL,
    outcome      text    NOT NULL DEFAULT '', -- '' while waiting
    reason       text    NOT NULL DEFAULT '',
    effect       text    NOT NULL DEFAULT '',
    tries        int     NOT NULL DEFAULT 0, -- readings that failed
    due_at       timestamptz NOT NULL DEFAULT replay_now(),
    PRIMARY KEY (run_id, entry_id)
);
CREATE INDEX forecast_waiting ON forecast (base, run_id, rank, target_table, version_sort, seq) WHERE outcome = '';

CREATE TABLE write (
    id               uuid PRIMARY KEY,
    seq              bigint GENERATED ALWAYS AS IDENTITY,
    source_system    text        NOT NULL,
    base             text        NOT NULL REFERENCES base (name),
    target_table     text        NOT NULL,
    target_id        text,
    record_key       text        NOT NULL GENERATED ALWAYS AS (CASE WHEN target_id IS NULL THEN 'w:' || id::text ELSE 'k:' || target_id END) STORED,
    operation        text        NOT NULL CHECK (operation IN ('update', 'upsert')),
    raw_payload      bytea       NOT NULL,
    source_version   text        NOT NULL DEFAULT '',
    version          text        NOT NULL DEFAULT '',
    source_updated_at timestamptz,
    status           text        NOT NULL DEFAULT 'queued' CHECK (status IN ('queued', 'written', 'stale', 'dead_lettered')),
    accepted_at      timestamptz NOT NULL DEFAULT replay_now(),
    first_attempt_at timestamptz,
    due_at           timestamptz NOT NULL DEFAULT replay_now(),
    rank             int         NOT NULL DEFAULT 0,
    tries            int         NOT NULL DEFAULT 0,
    last_status      int,
    last_error       text        NOT NULL DEFAULT '',
    alone            boolean     NOT NULL DEFAULT false,
    reason           text        NOT NULL DEFAULT '',
    note             text        NOT NULL DEFAULT '',
    record_id        text        NOT NULL DEFAULT '',
    entry_id         uuid REFERENCES entry (id),
    settled_at       timestamptz
);
CREATE INDEX write_queued ON write (base, seq) WHERE status = 'queued';
CREATE INDEX write_by_record ON write (target_table, record_key) WHERE status = 'queued';

CREATE TABLE intent (
    id             uuid PRIMARY KEY,
    base           text        NOT NULL REFERENCES base (name),
    target_table   text        NOT NULL,
    record_key     text        NOT NULL,
    record_id      text        NOT NULL DEFAULT '',
    creates        boolean     NOT NULL,
    clock          text        NOT NULL DEFAULT '', -- the version field that was written
    stamp          text        NOT NULL DEFAULT '', -- the stamp field that was written
    fields         json        NOT NULL,
    before         json        NOT NULL,
    dates          text[]      NOT NULL DEFAULT '{}', -- business dates of the record before and after (B6)
    version        text        NOT NULL DEFAULT '',
    version_before text        NOT NULL DEFAULT '',
    state          text        NOT NULL DEFAULT 'open' CHECK (state IN ('open', 'landed', 'not_landed', 'unknown')),
    attempts       json        NOT NULL DEFAULT '[]',
    lease_token    bigint      NOT NULL, -- of the pass that made the last attempt
    retry          boolean     NOT NULL DEFAULT false, -- the sender gave up on its last attempt and said so: the same write may be sent again (R4b)
    may_land_until timestamptz NOT NULL,
    look_at        timestamptz NOT NULL,
    fact           json,                               -- the answer that proved the landing, stored by whoever had it (R4)
    created_at     timestamptz NOT NULL DEFAULT replay_now(),
    closed_at      timestamptz
);
CREATE INDEX intent_open ON intent (base, look_at) WHERE state = 'open';
CREATE INDEX intent_by_record ON intent (target_table, record_key) WHERE state = 'open';

CREATE TABLE intent_member (
    intent_id uuid   NOT NULL REFERENCES intent (id),
    kind      text   NOT NULL CHECK (kind IN ('entry', 'write', 'restore')),
    member_id uuid   NOT NULL,
    claim     bigint NOT NULL,
    revision  int    NOT NULL,
    verdict   json   NOT NULL,
    fetched   bytea, -- the sender's state that is written in place of the payload (C5)
    PRIMARY KEY (intent_id, member_id)
);
CREATE INDEX intent_member_by_member ON intent_member (member_id);
CREATE INDEX intent_of_record ON intent (target_table, record_key, created_at); -- what was written after a write that is to be restored

-- An order to write Values Before back (A2, R12).
CREATE TABLE restore (
    id            uuid PRIMARY KEY, -- its run's
    entry_id      uuid        NOT NULL REFERENCES entry (id),
    intent_id     uuid        NOT NULL REFERENCES intent (id), -- the write that is to be taken back
    base          text        NOT NULL REFERENCES base (name),
    source_system text        NOT NULL,
    target_table  text        NOT NULL,
    record_key    text        NOT NULL,
    before        json        NOT NULL, -- field -> value to be written back
    requested_by  text        NOT NULL DEFAULT '',
    status        text        NOT NULL DEFAULT 'queued' CHECK (status IN ('queued', 'settled', 'released')),
    restored      int         NOT NULL DEFAULT 0, -- fields that hold their former value again
    refused       int         NOT NULL DEFAULT 0, -- fields that were left as they were
    due_at        timestamptz NOT NULL DEFAULT replay_now(),
    tries         int         NOT NULL DEFAULT 0,
    last_status   int,
    last_error    text        NOT NULL DEFAULT '',
    alone         boolean     NOT NULL DEFAULT false,
    created_at    timestamptz NOT NULL DEFAULT replay_now(),
    settled_at    timestamptz
);
CREATE INDEX restore_queued ON restore (base, due_at) WHERE status = 'queued';
CREATE UNIQUE INDEX restore_one_at_a_time ON restore (entry_id) WHERE status = 'queued';
CREATE INDEX restore_by_entry ON restore (entry_id);

-- What the service remembers of a record between reads (R4b).
CREATE TABLE record_mark (
    target_table text        NOT NULL,
    record_key   text        NOT NULL,
    record_id    text        NOT NULL DEFAULT '',
    clocks       json        NOT NULL DEFAULT '{}', -- version field -> {highest, stored}
    guards       json        NOT NULL DEFAULT '{}', -- shared field -> {stamp, value}
    restored     text[]      NOT NULL DEFAULT '{}', -- version fields under which a write was taken back since they last rose (A2)
    rest_until   timestamptz,
    deaths       int         NOT NULL DEFAULT 0, -- passes that died between take and intend (R7)
    PRIMARY KEY (target_table, record_key)
);

-- The webhook by which Airtable tells of presses in the dead letter table (T3).
CREATE TABLE press_hook (
    base       text PRIMARY KEY REFERENCES base (name),
    hook_id    text        NOT NULL DEFAULT '', -- '' while there is none
    secret     bytea       NOT NULL DEFAULT '', -- that signs its pings, sealed with a key made from the base's token
    table_id   text        NOT NULL DEFAULT '',
    box_id     text        NOT NULL DEFAULT '', -- field Replay Requested
    by_id      text        NOT NULL DEFAULT '', -- field Replay Requested By
    cursor     int         NOT NULL DEFAULT 1,
    expires_at timestamptz,
    due_at     timestamptz NOT NULL DEFAULT '-infinity',
    tries      int         NOT NULL DEFAULT 0,
    problem    text        NOT NULL DEFAULT ''
);

CREATE TABLE mirror_row (
    entry_id   uuid PRIMARY KEY REFERENCES entry (id),
    base       text        NOT NULL REFERENCES base (name),
    revision   bigint      NOT NULL DEFAULT 1, -- raised by every change of the entry
    sent       bigint      NOT NULL DEFAULT 0, -- the revision that Airtable holds
    dirty_at   timestamptz,                    -- null: nothing to send
    due_at     timestamptz,
    clear_press boolean    NOT NULL DEFAULT false,
    tries      int         NOT NULL DEFAULT 0,
    last_error text        NOT NULL DEFAULT ''
);
CREATE INDEX mirror_row_due ON mirror_row (base, due_at) WHERE dirty_at IS NOT NULL;

-- One message to one endpoint; delivered at least once, with its ID to tell repetitions by.
CREATE TABLE notification (
    id           uuid PRIMARY KEY,
    endpoint     text        NOT NULL,
    event        text        NOT NULL,
    about        text        NOT NULL DEFAULT '', -- ID of a run, name of a base
    payload      json        NOT NULL,
    created_at   timestamptz NOT NULL DEFAULT replay_now(),
    delivered_at timestamptz,
    attempts     int         NOT NULL DEFAULT 0,
    last_error   text        NOT NULL DEFAULT ''
);
CREATE INDEX notification_about ON notification (about, created_at);
CREATE INDEX notification_by_age ON notification (created_at DESC);

CREATE TABLE api_token (
    id           uuid PRIMARY KEY,
    name         text        NOT NULL,
    scopes       text[]      NOT NULL,
    hash         bytea       NOT NULL UNIQUE, -- SHA-256 of a 256-bit secret
    created_at   timestamptz NOT NULL DEFAULT replay_now(),
    last_used_at timestamptz,
    revoked_at   timestamptz
);
CREATE UNIQUE INDEX api_token_by_name ON api_token (name) WHERE revoked_at IS NULL;

-- A person's session in the console; it ends with its token.
CREATE TABLE session (
    hash       bytea PRIMARY KEY, -- SHA-256 of the cookie's 256-bit secret
    token_id   uuid        NOT NULL REFERENCES api_token (id),
    person     text        NOT NULL,
    created_at timestamptz NOT NULL DEFAULT replay_now(),
    expires_at timestamptz NOT NULL
);
CREATE INDEX session_by_end ON session (expires_at);

CREATE TABLE idempotency_key (
    token_id   uuid        NOT NULL,
    key_hash   bytea       NOT NULL,
    body_hash  bytea       NOT NULL, -- of method, path and body
    status     int         NOT NULL,
    header     json        NOT NULL DEFAULT '{}',
    body       bytea       NOT NULL,
    created_at timestamptz NOT NULL DEFAULT replay_now(),
    PRIMARY KEY (token_id, key_hash)
);
CREATE INDEX idempotency_key_by_age ON idempotency_key (created_at);

-- +goose Down
DROP TABLE idempotency_key, session, api_token, notification, mirror_row, press_hook, record_mark, restore, intent_member, intent, write, forecast, run_entry,
    entry_tally, entry_history, entry_payload, entry, run, token_budget, base;
DROP FUNCTION tally_changed;
DROP FUNCTION tally_filed;
DROP FUNCTION refuse_transition;
DROP FUNCTION refuse_filing_change;
DROP FUNCTION refuse_delete;
DROP FUNCTION refuse_change;
DROP FUNCTION replay_now;
