package app_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"testing"
	"time"

	"airtable-replay/internal/app/apptest"
	"airtable-replay/internal/sandbox"

	"github.com/stretchr/testify/require"
)

// switches are the values of the sandbox's options that it does not have by itself, each moved alone.
var switches = map[string][]func(*sandbox.Options){
	"rate_limit_envelope":      {func(o *sandbox.Options) { o.RateLimitEnvelope = "singular" }},
	"retry_after_on_429":       {func(o *sandbox.Options) { o.RetryAfterOn429 = sandbox.Duration(time.Second) }},
	"penalty_extends":          {func(o *sandbox.Options) { o.PenaltyExtends = true }},
	"stamp_ahead":              {func(o *sandbox.Options) { o.StampAhead = 0 }, func(o *sandbox.Options) { o.StampAhead = sandbox.Duration(time.Second / 2) }},
	"same_value_bumps":         {func(o *sandbox.Options) { o.SameValueBumps = true }},
	"inverse_link_bumps":       {func(o *sandbox.Options) { o.InverseLinkBumps = false }},
	"subsecond":                {func(o *sandbox.Options) { o.Subsecond = "truncated" }},
	"richtext_rewrite":         {func(o *sandbox.Options) { o.RichtextRewrite = false }},
	"multi_match_error":        {func(o *sandbox.Options) { o.MultiMatchError = "INVALID_REQUEST_UNKNOWN" }, func(o *sandbox.Options) { o.MultiMatchError = "CANNOT_UPSERT" }},
	"multi_match_message":      {func(o *sandbox.Options) { o.MultiMatchMessage = "Field Status matches several records" }},
	"upsert_null_key":          {func(o *sandbox.Options) { o.UpsertNullKey = "create" }},
	"duplicate_key_in_request": {func(o *sandbox.Options) { o.DuplicateKeyInRequest = "fail" }},
	"merge_key_case":           {func(o *sandbox.Options) { o.MergeKeyCase = "insensitive" }},
	"merge_field_types":        {func(o *sandbox.Options) { o.MergeFieldTypes = "documented" }},
	"bad_body_status":          {func(o *sandbox.Options) { o.BadBodyStatus = 422 }},
	"long_url_status":          {func(o *sandbox.Options) { o.LongURLStatus = 413 }, func(o *sandbox.Options) { o.LongURLStatus = 422 }},
	"batch_delete_missing":     {func(o *sandbox.Options) { o.BatchDeleteMissing = 422 }},
	"unknown_body_keys":        {func(o *sandbox.Options) { o.UnknownBodyKeys = "refuse" }},
	"select_error_quotes":      {func(o *sandbox.Options) { o.SelectErrorQuotes = "single" }},
	"text_limit":               {func(o *sandbox.Options) { o.TextLimit = 0 }},
	"text_overflow":            {func(o *sandbox.Options) { o.TextOverflow = "truncate" }},
	"body_limit":               {func(o *sandbox.Options) { o.BodyLimit = 16 << 10 }},
	"zero_equals_blank":        {func(o *sandbox.Options) { o.ZeroEqualsBlank = !o.ZeroEqualsBlank }},
	"number_equals_text":       {func(o *sandbox.Options) { o.NumberEqualsText = !o.NumberEqualsText }},
	"newline_in_literal":       {func(o *sandbox.Options) { o.NewlineInLiteral = !o.NewlineInLiteral }},
	"list_order":               {func(o *sandbox.Options) { o.ListOrder = "shuffled" }},
	"as it is by itself":       {func(*sandbox.Options) {}},
	"whoami_scopes":            {func(o *sandbox.Options) { o.WhoamiScopes = true }},
	"refusals":                 {func(o *sandbox.Options) { o.Refusals = "told" }},
	"typecast_role":            {func(o *sandbox.Options) { o.TypecastRole = "create" }},
	"attachment_fetch":         {func(o *sandbox.Options) { o.AttachmentFetch = 0 }},
	"cursor_life":              {func(o *sandbox.Options) { o.CursorLife = sandbox.Duration(time.Millisecond) }},
}

// elsewhere are the options that stories of their own move.
var elsewhere = []string{"rate", "owner_rate", "penalty", "quota_exceeded", "upsert_race"}

// Where Airtable's behaviour is not known, the core stories hold either way.
func TestCoreStoriesUnderEverySwitch(t *testing.T) {
	t.Parallel()
	var names []string
	for name := range switches {
		names = append(names, name)
	}
	slices.Sort(names)
	for share := range slices.Chunk(names, 7) {
		t.Run(share[0]+" to "+share[len(share)-1], func(t *testing.T) {
			t.Parallel()
			w := apptest.New(t, apptest.Options{})
			itself := w.Sandbox.Options()
			for _, name := range share {
				for i, change := range switches[name] {
					require.NoError(t, w.Sandbox.SetOptions(func(o *sandbox.Options) {
						*o = itself
						change(o)
					}))
					t.Run(name, func(t *testing.T) { tellCore(t, w, name, fmt.Sprintf(" %s %d", name, i)) })
				}
			}
		})
	}
}

// limiting are the switches about rate limits; under the others a 429 is what it is by itself.
var limiting = []string{"rate_limit_envelope", "retry_after_on_429", "penalty_extends", "as it is by itself"}

func tellCore(t *testing.T, w *apptest.World, moved, tag string) {
	for name, story := range coreStories {
		if name == "limited" && !slices.Contains(limiting, moved) {
			continue
		}
		t.Run(name, func(t *testing.T) { story(t, w, tag) })
	}
}

func TestEverySwitchIsMoved(t *testing.T) {
	t.Parallel()
	text, err := json.Marshal(sandbox.Options{})
	require.NoError(t, err)
	var options map[string]any
	require.NoError(t, json.Unmarshal(text, &options))
	for name := range switches {
		if name != "as it is by itself" {
			require.Contains(t, options, name)
		}
	}
	for _, name := range elsewhere {
		require.Contains(t, options, name)
		delete(options, name)
	}
	for name := range options {
		require.NotEmpty(t, switches[name], "the core stories are not told under other values of %s", name)
	}
}

// The monthly quota answers 429, but no waiting mends it: the base halts at once, under either form of
// the answer.
func TestStoryMonthlyQuotaHalts(t *testing.T) {
	t.Parallel()
	for _, envelope := range []string{"plural", "singular"} {
		t.Run(envelope, func(t *testing.T) {
			t.Parallel()
			w := apptest.New(t, apptest.Options{})
			require.NoError(t, w.Sandbox.SetOptions(func(o *sandbox.Options) { o.QuotaExceeded, o.RateLimitEnvelope = true, envelope }))
			id := w.File(t, apptest.Order("O-3", second, shipped), nil)
			e := w.Replay(t, id, nil)
			apptest.RequireOutcome(t, e, "", "base_halted")
			require.Equal(t, "pending_review", e["status"])
			require.Equal(t, "halted", state(t, w)["state"])
			require.Contains(t, state(t, w)["reason"], "monthly quota")
			require.Len(t, w.Requests("Orders"), 1)

			require.NoError(t, w.Sandbox.SetOptions(func(o *sandbox.Options) { o.QuotaExceeded = false }))
			status, _ := w.Call(t, 0, http.MethodPost, "/v1/bases/orders/resume", nil)
			require.Equal(t, http.StatusOK, status)
			apptest.RequireOutcome(t, w.Replay(t, id, nil), "replayed", "")
		})
	}
}
