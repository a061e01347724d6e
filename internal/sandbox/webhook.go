package sandbox

import (
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"net/url"
	"slices"
	"strconv"
	"time"
)

const (
	maxHooks    = 10
	hookLife    = 7 * 24 * time.Hour
	payloadLife = 7 * 24 * time.Hour
	maxPayloads = 50
)

// webhook records what changes in its base, and pings a URL about it.
type webhook struct {
	id, url  string
	base     *base
	secret   []byte
	spec     json.RawMessage
	filter   hookFilter
	expires  time.Time
	payloads []hookPayload
	next     int // the number of the next payload
	notify   bool
	broken   bool // its filters name what is gone

	pingDue time.Time // zero: none
	pinging bool      // one is under way
	tries   int
	last    *pingResult
}

type hookPayload struct {
	number int
	at     time.Time
	body   map[string]any
}

// hookFilter is the specification, by IDs only.
type hookFilter struct {
	Options struct {
		Filters struct {
			DataTypes    []string `json:"dataTypes"`
			Scope        string   `json:"recordChangeScope"`
			ChangeTypes  []string `json:"changeTypes"`
			FromSources  []string `json:"fromSources"`
			Watch        []string `json:"watchDataInFieldIds"`
			WatchSchemas []string `json:"watchSchemasOfFieldIds"`
		} `json:"filters"`
		Includes struct {
			Previous       bool            `json:"includePreviousCellValues"`
			PreviousFields bool            `json:"includePreviousFieldDefinitions"`
			Values         json.RawMessage `json:"includeCellValuesInFieldIds"`
		} `json:"includes"`
	} `json:"options"`
}

type pingResult struct {
	success   bool
	at        time.Time
	took      time.Duration
	retry     int
	willRetry bool
	problem   string
}

// active says whether changes are still recorded.
func (h *webhook) active(now time.Time) bool { return now.Before(h.expires) }

// readable says whether an expired webhook can still be read.
func (h *webhook) readable(now time.Time) bool { return now.Before(h.expires.Add(payloadLife)) }

// hooks lists those of the base that are not gone yet.
func (c *call) hooks() []*webhook {
	c.base.hooks = slices.DeleteFunc(c.base.hooks, func(h *webhook) bool { return !h.readable(c.now) })
	return c.base.hooks
}

func (c *call) hook() (*webhook, error) {
	for _, h := range c.hooks() {
		if h.id == c.params["hook"] {
			return h, nil
		}
	}
	return nil, forbidden()
}

func serveHooks(c *call) (any, error) {
	list := []map[string]any{}
	for _, h := range c.hooks() {
		list = append(list, map[string]any{
			"id": h.id, "specification": h.spec, "notificationUrl": orNull(h.url),
			"cursorForNextPayload": h.next, "areNotificationsEnabled": h.notify,
			"isHookEnabled": h.active(c.now) && !h.broken, "expirationTime": formatTime(h.expires),
			"lastSuccessfulNotificationTime": h.lastSuccess(), "lastNotificationResult": h.last.json(),
		})
	}
	return map[string]any{"webhooks": list}, nil
}

func orNull(text string) any {
	if text == "" {
		return nil
	}
	return text
}

// serveCreateHook shows the secret this once.
func serveCreateHook(c *call) (any, error) {
	var body struct {
		NotificationURL string          `json:"notificationUrl"`
		Specification   json.RawMessage `json:"specification"`
	}
	if err := c.schemaBody(&body); err != nil {
		return nil, err
	}
	h := &webhook{id: newID("ach"), url: body.NotificationURL, base: c.base, spec: body.Specification,
		expires: c.now.Add(hookLife), next: 1, notify: true}
	if err := c.checkHook(h); err != nil {
		return nil, err
	}
	if len(c.hooks()) >= maxHooks {
		return nil, unprocessable("TOO_MANY_WEBHOOKS_IN_BASE", "A base cannot have more than 10 webhooks")
	}
	h.secret = make([]byte, 32)
	_, _ = rand.Read(h.secret) // crypto/rand never fails
	c.base.hooks = append(c.base.hooks, h)
	return map[string]any{"id": h.id, "macSecretBase64": base64.StdEncoding.EncodeToString(h.secret),
		"expirationTime": formatTime(h.expires)}, nil
}

func (c *call) checkHook(h *webhook) error {
	if json.Unmarshal(h.spec, &h.filter) != nil {
		return invalidRequest()
	}
	if h.url != "" {
		if target, err := url.Parse(h.url); err != nil || target.Host == "" {
			return invalidRequest()
		}
	}
	f := h.filter.Options.Filters
	if len(f.DataTypes) == 0 {
		return invalidRequest()
	}
	for _, kind := range f.DataTypes {
		scope, known := map[string]string{"tableData": readRecords, "tableFields": readSchema, "tableMetadata": readSchema}[kind]
		if !known {
			return invalidRequest()
		}
		if !c.may(scope) {
			return forbidden()
		}
	}
	for _, kind := range f.ChangeTypes {
		if !slices.Contains([]string{"add", "update", "remove"}, kind) {
			return invalidRequest()
		}
	}
	for _, source := range f.FromSources {
		if !slices.Contains(changeSources, source) {
			return invalidRequest()
		}
	}
	if missing := c.base.misses(h.filter); missing != "" {
		return unprocessable("INVALID_FILTERS", "%s", missing)
	}
	return nil
}

// changeSources are what may stand in fromSources, and in a payload's source.
var changeSources = []string{"client", "publicApi", "formSubmission", "formPageSubmission", "automation", "system", "sync",
	"anonymousUser", "unknown"}

// misses says what the filter names that is not in the base, "" for nothing.
func (b *base) misses(filter hookFilter) string {
	f := filter.Options.Filters
	if f.Scope != "" && !b.hasScope(f.Scope) {
		return "recordChangeScope " + f.Scope + " is no table or view of the base"
	}
	for _, id := range slices.Concat(f.Watch, f.WatchSchemas) {
		if !slices.ContainsFunc(b.tables, func(t *table) bool {
			return slices.ContainsFunc(t.fields, func(f *field) bool { return f.id == id })
		}) {
			return "watched field " + id + " is none of the base"
		}
	}
	return ""
}

// hasScope wants an ID: names are not taken here.
func (b *base) hasScope(id string) bool {
	for _, t := range b.tables {
		if t.id == id || slices.ContainsFunc(t.views, func(v *view) bool { return v.id == id }) {
			return true
		}
	}
	return false
}

func serveDeleteHook(c *call) (any, error) {
	h, err := c.hook()
	if err != nil {
		return nil, err
	}
	c.base.hooks = slices.DeleteFunc(c.base.hooks, func(x *webhook) bool { return x == h })
	return struct{}{}, nil
}

func serveRefreshHook(c *call) (any, error) {
	h, err := c.hook()
	if err != nil {
		return nil, err
	}
	if !h.active(c.now) {
		return nil, unprocessable("INVALID_HOOK", "The webhook has expired")
	}
	h.expires = c.now.Add(hookLife)
	return map[string]any{"expirationTime": formatTime(h.expires)}, nil
}

func serveEnableHook(c *call) (any, error) {
	h, err := c.hook()
	if err != nil {
		return nil, err
	}
	var body struct {
		Enable *bool `json:"enable"`
	}
	if err := c.schemaBody(&body); err != nil {
		return nil, err
	}
	if body.Enable == nil {
		return nil, invalidRequest()
	}
	h.notify = *body.Enable
	if !h.notify {
		h.pingDue = time.Time{}
	}
	return struct{}{}, nil
}

// serveHookPayloads pages through what was recorded, and keeps an active
// webhook alive for another week.
func serveHookPayloads(c *call) (any, error) {
	h, err := c.hook()
	if err != nil {
		return nil, err
	}
	cursor, limit := 1, maxPayloads
	if text := c.query.Get("cursor"); text != "" {
		if cursor, err = strconv.Atoi(text); err != nil || cursor < 1 || cursor > h.next {
			return nil, invalidRequest()
		}
	}
	if text := c.query.Get("limit"); text != "" {
		if limit, err = strconv.Atoi(text); err != nil || limit < 1 || limit > maxPayloads {
			return nil, invalidRequest()
		}
	}
	if h.active(c.now) {
		h.expires = c.now.Add(hookLife)
	}
	h.payloads = slices.DeleteFunc(h.payloads, func(p hookPayload) bool { return c.now.Sub(p.at) > payloadLife })
	list := []map[string]any{}
	more := false
	for _, p := range h.payloads {
		if p.number < cursor {
			continue
		}
		if len(list) == limit {
			more = true
			break
		}
		list = append(list, p.body)
		cursor = p.number + 1
	}
	return map[string]any{"payloads": list, "cursor": cursor, "mightHaveMore": more}, nil
}
