package sandbox

// knob is how the page shows one of the [Options].
type knob struct {
	// Name is the option's JSON key.
	Name string
	// Title and Help say what it is.
	Title, Help string
	// Kind is flag, count, time, text or choice; a choice has Choices.
	Kind    string
	Choices []string
}

// knobGroup is a heading with what stands under it.
type knobGroup struct {
	Title string
	Knobs []knob
}

// knobs are all options, in the order in which the page shows them.
var knobs = []knobGroup{
	{"Limits", []knob{
		{Name: "rate", Kind: "count", Title: "Requests per second, per base", Help: "0 sets no limit."},
		{Name: "owner_rate", Kind: "count", Title: "Requests per second, per token owner", Help: "Over all bases; 0 sets no limit."},
		{Name: "penalty", Kind: "time", Title: "Penalty", Help: "How long everything is refused once the limit was passed."},
		{Name: "penalty_extends", Kind: "flag", Title: "A request during the penalty starts it anew"},
		{Name: "rate_limit_envelope", Kind: "choice", Title: "Body of a 429", Help: "Live logs have the plural form, the documentation the singular.", Choices: []string{"plural", "singular"}},
		{Name: "retry_after_on_429", Kind: "time", Title: "Retry-After on a 429", Help: "0s sends none."},
		{Name: "quota_exceeded", Kind: "flag", Title: "Monthly limit exceeded", Help: "Every record call gets a 429 that no waiting cures."},
	}},
	{"Time stamps", []knob{
		{Name: "stamp_ahead", Kind: "time", Title: "Stamps may run ahead by", Help: "At most 1s; stamps are whole seconds."},
		{Name: "same_value_bumps", Kind: "flag", Title: "Writing the same value moves the last modified time"},
		{Name: "inverse_link_bumps", Kind: "flag", Title: "A link set from the other table moves it"},
		{Name: "subsecond", Kind: "choice", Title: "Milliseconds of a dateTime cell", Choices: []string{"kept", "truncated"}},
	}},
	{"Upsert", []knob{
		{Name: "multi_match_error", Kind: "text", Title: "Error when several records match"},
		{Name: "multi_match_message", Kind: "text", Title: "Its message"},
		{Name: "upsert_null_key", Kind: "choice", Title: "An empty merge value", Choices: []string{"match_empty", "create"}},
		{Name: "duplicate_key_in_request", Kind: "choice", Title: "One new key twice in a request", Choices: []string{"create_both", "fail"}},
		{Name: "merge_key_case", Kind: "choice", Title: "Letter case of merge values", Choices: []string{"sensitive", "insensitive"}},
		{Name: "upsert_race", Kind: "time", Title: "Upserts of a new key that both create", Help: "When they arrive within that time of each other; 0s: never."},
		{Name: "merge_field_types", Kind: "choice", Title: "Types that may be merged on", Choices: []string{"documented", "lenient"}},
	}},
	{"Requests and cells", []knob{
		{Name: "bad_body_status", Kind: "choice", Title: "Status for a body that is not JSON", Choices: []string{"400", "422"}},
		{Name: "long_url_status", Kind: "choice", Title: "Status for a URL over 16,000 characters", Choices: []string{"413", "414", "422"}},
		{Name: "refusals", Kind: "choice", Title: "What a token may not see is", Help: "Hidden behind a 403, as today, or told by a 404, as in 2022.", Choices: []string{"hidden", "told"}},
		{Name: "batch_delete_missing", Kind: "choice", Title: "Status for a batch deletion of an unknown record", Choices: []string{"404", "422"}},
		{Name: "unknown_body_keys", Kind: "choice", Title: "Unknown keys at the top of a body", Choices: []string{"ignore", "refuse"}},
		{Name: "select_error_quotes", Kind: "choice", Title: "Quotes in the unknown option's message", Choices: []string{"double", "single"}},
		{Name: "typecast_role", Kind: "choice", Title: "Permission level at which typecast adds select options", Choices: []string{"edit", "create"}},
		{Name: "richtext_rewrite", Kind: "flag", Title: "Rich text is rewritten, and cleared leaves a line end"},
		{Name: "text_limit", Kind: "count", Title: "Longest text of a cell", Help: "In UTF-16 units; 0 sets no limit."},
		{Name: "text_overflow", Kind: "choice", Title: "A longer text", Choices: []string{"refuse", "truncate"}},
		{Name: "attachment_fetch", Kind: "time", Title: "Time to fetch an attachment", Help: "Until then it has no size and type; a source under .invalid fails, and the file vanishes."},
		{Name: "body_limit", Kind: "count", Title: "Largest body of a request", Help: "In bytes; a larger one gets a 413."},
		{Name: "list_order", Kind: "choice", Title: "Order of a listing without sort and view", Choices: []string{"created", "shuffled"}},
		{Name: "cursor_life", Kind: "time", Title: "Life of a listing's offset", Help: "0s: it is stale at once."},
		{Name: "whoami_scopes", Kind: "flag", Title: "whoami tells the scopes"},
	}},
	{"Formulas", []knob{
		{Name: "zero_equals_blank", Kind: "flag", Title: "0 = BLANK()"},
		{Name: "number_equals_text", Kind: "flag", Title: "5 = '5'"},
		{Name: "newline_in_literal", Kind: "flag", Title: "A line break may stand between quotes"},
	}},
}
