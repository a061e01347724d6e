package sandbox

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"airtable-replay/internal/sandbox/formula"
)

// Options are the switches for what is not known about Airtable. Read them
// with [Sandbox.Options], change them with [Sandbox.SetOptions] or
// PATCH /_sandbox/options.
type Options struct {
	// Rate is the requests per second that a base takes; 0 sets no limit.
	Rate int `json:"rate"`
	// OwnerRate is the same over all bases for one token owner.
	OwnerRate int `json:"owner_rate"`
	// Penalty is how long a base refuses everything after the limit was passed.
	Penalty Duration `json:"penalty"`
	// PenaltyExtends lets every request during the penalty start it anew.
	PenaltyExtends bool `json:"penalty_extends"`
	// RateLimitEnvelope is the form of a 429's body: plural (as in live logs) or singular (as documented).
	RateLimitEnvelope string `json:"rate_limit_envelope"`
	// RetryAfterOn429 adds a Retry-After header of that length; 0 sends none.
	RetryAfterOn429 Duration `json:"retry_after_on_429"`
	// QuotaExceeded answers every record call with the monthly limit; meta calls still work.
	QuotaExceeded bool `json:"quota_exceeded"`

	// StampAhead is by how much created and last modified times may run ahead,
	// at most one second: a stamp is the last whole second before now plus it.
	StampAhead Duration `json:"stamp_ahead"`
	// SameValueBumps lets a write of the value that is there move the last modified times.
	SameValueBumps bool `json:"same_value_bumps"`
	// InverseLinkBumps lets a link set from the other table move them.
	InverseLinkBumps bool `json:"inverse_link_bumps"`
	// Subsecond says whether milliseconds of a dateTime cell are kept or truncated.
	Subsecond string `json:"subsecond"`
	// RichtextRewrite normalises rich text on write, and leaves a line end behind when it is cleared.
	RichtextRewrite bool `json:"richtext_rewrite"`

	// MultiMatchError and MultiMatchMessage answer an upsert that matches several records.
	MultiMatchError   string `json:"multi_match_error"`
	MultiMatchMessage string `json:"multi_match_message"`
	// UpsertNullKey says what an empty merge value does: match_empty or create.
	UpsertNullKey string `json:"upsert_null_key"`
	// DuplicateKeyInRequest says what two items with one new key do: create_both or fail.
	DuplicateKeyInRequest string `json:"duplicate_key_in_request"`
	// MergeKeyCase says whether merging tells letter case apart: sensitive or insensitive.
	MergeKeyCase string `json:"merge_key_case"`
	// MergeFieldTypes says which types may be merged on: documented, or lenient (every type that is not computed, linked or a file).
	MergeFieldTypes string `json:"merge_field_types"`
	// UpsertRace lets two upserts of a new key that arrive within that time of each
	// other both create a record, since no unique index stands behind them; 0: never.
	UpsertRace Duration `json:"upsert_race"`

	// BadBodyStatus answers a body that is not JSON: 400 or 422.
	BadBodyStatus int `json:"bad_body_status"`
	// LongURLStatus answers a URL of more than 16,000 characters: 413, 414 or 422.
	LongURLStatus int `json:"long_url_status"`
	// Refusals is how what a token may not see is refused: hidden (403, as today)
	// or told (404, as recorded in 2022).
	Refusals string `json:"refusals"`
	// BatchDeleteMissing answers a batch deletion of an unknown record: 404 or 422.
	BatchDeleteMissing int `json:"batch_delete_missing"`
	// UnknownBodyKeys says what a top-level key that nobody knows does: ignore or refuse.
	UnknownBodyKeys string `json:"unknown_body_keys"`
	// SelectErrorQuotes is the form of the unknown option's message: double or single.
	SelectErrorQuotes string `json:"select_error_quotes"`
	// TypecastRole is the permission level that typecast needs to add an option
	// to a select field: edit or create.
	TypecastRole string `json:"typecast_role"`
	// TextLimit is the longest text of a cell in UTF-16 units; 0 sets no limit.
	TextLimit int `json:"text_limit"`
	// TextOverflow says what a longer one does: refuse or truncate.
	TextOverflow string `json:"text_overflow"`
	// AttachmentFetch is how long Airtable takes to read a file that was given by
	// its URL; size and type are absent until then.
	AttachmentFetch Duration `json:"attachment_fetch"`
	// BodyLimit is the largest request body in bytes before a 413.
	BodyLimit int `json:"body_limit"`
	// ListOrder is the order of a listing without sort and view, which Airtable leaves open: created or shuffled.
	ListOrder string `json:"list_order"`
	// ZeroEqualsBlank, NumberEqualsText and NewlineInLiteral settle what a formula makes of 0 = BLANK(),
	// of 5 = '5' and of a line break between quotes.
	ZeroEqualsBlank  bool `json:"zero_equals_blank"`
	NumberEqualsText bool `json:"number_equals_text"`
	NewlineInLiteral bool `json:"newline_in_literal"`
	// WhoamiScopes lets whoami tell the scopes, which is documented for OAuth tokens only.
	WhoamiScopes bool `json:"whoami_scopes"`
	// CursorLife is how long the offset of a listing stays good; 0: not at all.
	CursorLife Duration `json:"cursor_life"`
}

// longURL is Airtable's published limit for a request's URL, in characters.
const longURL = 16_000

func defaultOptions(cfg Config) Options {
	language := formula.DefaultOptions()
	return Options{
		Rate: cfg.Rate, OwnerRate: cfg.OwnerRate, Penalty: Duration(cfg.Penalty),
		RateLimitEnvelope: "plural",
		StampAhead:        Duration(time.Second), InverseLinkBumps: true, Subsecond: "kept", RichtextRewrite: true,
		MultiMatchError:   "INVALID_RECORDS",
		MultiMatchMessage: "More than one record matches the fields to merge on.",
		UpsertNullKey:     "match_empty", DuplicateKeyInRequest: "create_both",
		MergeKeyCase: "sensitive", MergeFieldTypes: "lenient",
		Refusals: "hidden", BadBodyStatus: 400, LongURLStatus: 414, BatchDeleteMissing: 404,
		UnknownBodyKeys: "ignore", SelectErrorQuotes: "double",
		TypecastRole: "edit", TextLimit: 100_000, TextOverflow: "refuse", BodyLimit: 32 << 20,
		ListOrder:       "created",
		ZeroEqualsBlank: language.ZeroEqualsBlank, NumberEqualsText: language.NumberEqualsText,
		NewlineInLiteral: language.NewlineInLiteral,
		CursorLife:       Duration(10 * time.Minute),
		AttachmentFetch:  Duration(2 * time.Second),
	}
}

// validate names every switch that is out of its range.
func (o Options) validate() error {
	var faults []error
	word := func(name, got string, allowed ...string) {
		if !slices.Contains(allowed, got) {
			faults = append(faults, fmt.Errorf("%s: %q is none of %s", name, got, strings.Join(allowed, ", ")))
		}
	}
	number := func(name string, got int, allowed ...int) {
		if !slices.Contains(allowed, got) {
			faults = append(faults, fmt.Errorf("%s: %d is none of %v", name, got, allowed))
		}
	}
	least := func(name string, got int) {
		if got < 0 {
			faults = append(faults, fmt.Errorf("%s: %d is below 0", name, got))
		}
	}
	word("rate_limit_envelope", o.RateLimitEnvelope, "plural", "singular")
	word("subsecond", o.Subsecond, "kept", "truncated")
	word("upsert_null_key", o.UpsertNullKey, "match_empty", "create")
	word("duplicate_key_in_request", o.DuplicateKeyInRequest, "create_both", "fail")
	word("merge_key_case", o.MergeKeyCase, "sensitive", "insensitive")
	word("merge_field_types", o.MergeFieldTypes, "documented", "lenient")
	word("refusals", o.Refusals, "hidden", "told")
	word("unknown_body_keys", o.UnknownBodyKeys, "ignore", "refuse")
	word("select_error_quotes", o.SelectErrorQuotes, "double", "single")
	word("typecast_role", o.TypecastRole, "edit", "create")
	word("list_order", o.ListOrder, "created", "shuffled")
	word("text_overflow", o.TextOverflow, "refuse", "truncate")
	number("bad_body_status", o.BadBodyStatus, 400, 422)
	number("long_url_status", o.LongURLStatus, 413, 414, 422)
	number("batch_delete_missing", o.BatchDeleteMissing, 404, 422)
	least("rate", o.Rate)
	least("owner_rate", o.OwnerRate)
	least("penalty", int(o.Penalty))
	least("retry_after_on_429", int(o.RetryAfterOn429))
	least("text_limit", o.TextLimit)
	least("body_limit", o.BodyLimit)
	least("upsert_race", int(o.UpsertRace))
	least("cursor_life", int(o.CursorLife))
	least("attachment_fetch", int(o.AttachmentFetch))
	if o.StampAhead < 0 || o.StampAhead > Duration(time.Second) {
		faults = append(faults, fmt.Errorf("stamp_ahead: %s is outside 0s to 1s", o.StampAhead))
	}
	if o.MultiMatchError == "" {
		faults = append(faults, errors.New("multi_match_error: must name an error type"))
	}
	return errors.Join(faults...)
}

func (o Options) formula() formula.Options {
	return formula.Options{ZeroEqualsBlank: o.ZeroEqualsBlank, NumberEqualsText: o.NumberEqualsText,
		NewlineInLiteral: o.NewlineInLiteral}
}

// stamp is the whole second that a write at now leaves on a record.
func (o Options) stamp(now time.Time) time.Time {
	ahead := time.Duration(o.StampAhead)
	if ahead > 0 {
		now = now.Add(ahead - time.Nanosecond)
	}
	return now.Truncate(time.Second)
}

// Options returns a copy of the switches.
func (s *Sandbox) Options() Options {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.options
}

// SetOptions lets change edit a copy of the switches and takes it over whole.
// The error names every switch that is out of range; then nothing changes.
func (s *Sandbox) SetOptions(change func(*Options)) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	next := s.options
	change(&next)
	if err := next.validate(); err != nil {
		return err
	}
	s.options = next
	for _, b := range s.bases {
		b.reshaped()
	}
	return nil
}

// Duration is a time.Duration that JSON writes as "30s" and reads as that or
// as a number of seconds.
type Duration time.Duration

// String is the form of time.Duration.
func (d Duration) String() string { return time.Duration(d).String() }

// MarshalJSON writes "30s".
func (d Duration) MarshalJSON() ([]byte, error) { return json.Marshal(d.String()) }

// UnmarshalJSON reads "30s", "1m30s" or a number of seconds.
func (d *Duration) UnmarshalJSON(raw []byte) error {
	var seconds float64
	if err := json.Unmarshal(raw, &seconds); err == nil {
		*d = Duration(seconds * float64(time.Second))
		return nil
	}
	var text string
	if err := json.Unmarshal(raw, &text); err != nil {
		return fmt.Errorf("%s is no duration such as \"30s\" and no number of seconds", raw)
	}
	parsed, err := time.ParseDuration(text)
	if err != nil {
		return fmt.Errorf("%q is no duration such as \"30s\"", text)
	}
	*d = Duration(parsed)
	return nil
}
