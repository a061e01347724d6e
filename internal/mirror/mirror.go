package mirror

import (
	"cmp"
	"context"
	"log/slog"
	"sync"
	"time"

	"airtable-replay/internal/airtable"
	"airtable-replay/internal/config"
	"airtable-replay/internal/pacing"
	"airtable-replay/internal/store"
	"airtable-replay/internal/telemetry"
)

const (
	rowsAtOnce = 10
	// bytesAtOnce bounds the payloads of one request; Airtable's own limit is not published.
	bytesAtOnce = 2 << 20
	// aloneFrom is the number of unsettled sends from which a row goes by itself, so that it cannot
	// keep others back.
	aloneFrom = 2
)

// Config is what a Mirror is made of.
type Config struct {
	Store    *store.Store
	Pacer    *pacing.Pacer
	Client   *airtable.Client
	BaseName string // the configuration's key of the base that holds the dead letter table
	BaseID   string
	Table    string // name or ID
	Retry    config.Retry
	Logger   *slog.Logger
	// ConsoleURL is where people reach the console, without a trailing slash; empty: not named in
	// cells.
	ConsoleURL string

	// NotificationURL is where Airtable is to send the pings of its webhook; empty: no webhook. What
	// follows is only needed with it.
	NotificationURL string
	Token           config.Secret // of the base; seals the webhook's secret
	Presser         presser
	// Enqueue asks for a reading of the webhook, inside the transaction that ctx carries.
	Enqueue func(ctx context.Context) error
	// Announce tells every endpoint that subscribes to an event.
	Announce func(ctx context.Context, event, about string, data any) error
}

// Mirror keeps one dead letter table. It is safe for concurrent use.
type Mirror struct {
	Config
	asks asks

	mu       sync.Mutex
	layout   *layout
	failures int   // requests in a row that failed by no row's fault
	hold     int64 // the lease token under which a refused token was last logged
	small    map[string]bool
	warned   map[string]bool
}

// New makes a Mirror.
func New(c Config) *Mirror {
	c.Logger = cmp.Or(c.Logger, slog.New(slog.DiscardHandler))
	return &Mirror{Config: c, asks: asks{waiting: map[string][]chan answer{}}, small: map[string]bool{}, warned: map[string]bool{}}
}

// MirrorEntries sends up to ten rows that are due under the lease of their base, in one request. sent
// tells whether more may be due. What the table or Airtable refuses is no error: the rows wait.
func (m *Mirror) MirrorEntries(ctx context.Context, hold *pacing.Hold) (sent bool, err error) {
	if hold.Base != m.BaseName {
		return false, nil
	}
	if due, _, err := m.Store.MirrorState(ctx, m.BaseName); !due || err != nil {
		return false, err
	}
	table, err := m.layoutNow(ctx)
	if err != nil {
		return false, m.failed(ctx, &send{hold: hold, begun: time.Now()}, err)
	}
	if err := m.Pacer.Wait(ctx, m.BaseName, 1); err != nil {
		return false, err
	}
	rows, err := m.take(ctx, hold)
	if err != nil || len(rows) == 0 {
		return false, err
	}
	return true, m.send(ctx, &send{hold: hold, table: table, rows: rows})
}

// take picks the rows of the next request and notes that they are being sent. While requests fail,
// one row goes ahead of the others.
func (m *Mirror) take(ctx context.Context, hold *pacing.Hold) ([]store.MirrorRow, error) {
	n := rowsAtOnce
	m.mu.Lock()
	if m.failures > 0 {
		n = 1
	}
	m.mu.Unlock()
	due, err := m.Store.DueMirrorRows(ctx, m.BaseName, n)
	if err != nil || len(due) == 0 {
		return nil, err
	}
	rows := together(due)
	ids := make([]string, len(rows))
	for i, r := range rows {
		ids[i] = r.Entry.ID
	}
	return rows, hold.Renewing(func() error { return m.Store.BeginMirror(ctx, hold.Lease, ids) })
}

// together is the first of the due rows, and those that may share its request.
func together(due []store.MirrorRow) []store.MirrorRow {
	if due[0].Tries >= aloneFrom {
		return due[:1]
	}
	var rows []store.MirrorRow
	size := 0
	for _, r := range due {
		if size += min(len(r.Entry.RawPayload), 4*cellLimit); len(rows) > 0 && size > bytesAtOnce {
			break
		}
		if r.Tries < aloneFrom {
			rows = append(rows, r)
		}
	}
	return rows
}

// send is one request under way.
type send struct {
	hold  *pacing.Hold
	table *layout
	rows  []store.MirrorRow
	begun time.Time
}

func (m *Mirror) send(ctx context.Context, s *send) error {
	req := m.request(ctx, s)
	if !s.hold.Lives(m.Retry.RequestTimeout) {
		return store.ErrStale
	}
	s.begun = time.Now()
	res, err := m.Client.WriteRecords(ctx, req)
	ctx = context.WithoutCancel(ctx)
	if err != nil {
		return m.failed(ctx, s, err)
	}
	m.succeeded(s)
	done := make([]store.Mirrored, len(s.rows))
	for i, r := range s.rows {
		done[i] = store.Mirrored{EntryID: r.Entry.ID, DLQRecordID: res.Records[i].ID, Revision: r.Revision, Cleared: r.ClearPress}
	}
	rest := m.Retry.RequestTimeout + m.Retry.LandingBound
	return s.hold.Renewing(func() error { return m.Store.SettleMirror(ctx, s.hold.Lease, done, rest) })
}

// request is one PATCH: rows with a record by its ID, the others by the merge key.
func (m *Mirror) request(ctx context.Context, s *send) airtable.WriteRequest {
	req := airtable.WriteRequest{Base: m.BaseID, Table: m.Table}
	for _, r := range s.rows {
		p := &pen{layout: s.table, entry: r.Entry, clear: r.ClearPress, limit: cellLimit}
		if m.isSmall(r.Entry.ID) {
			p.limit = smallCell
		}
		if m.ConsoleURL != "" {
			p.link = ": " + m.ConsoleURL + "/entries/" + r.Entry.ID
		}
		if r.Entry.DLQRecordID == "" {
			req.MergeOn = []string{KeyField}
		}
		req.Records = append(req.Records, airtable.WriteRecord{ID: r.Entry.DLQRecordID, Fields: p.cells()})
		for _, fault := range p.faults {
			m.warnOnce(ctx, fault, telemetry.KeyEntryID, r.Entry.ID)
		}
	}
	return req
}

// succeeded ends what failures had begun.
func (m *Mirror) succeeded(s *send) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.failures = 0
	if m.layout == s.table {
		settled := *s.table
		settled.fresh = false
		m.layout = &settled
	}
}

func (m *Mirror) isSmall(id string) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.small[id]
}

// warnOnce logs what somebody has to mend in the table, once for each process.
func (m *Mirror) warnOnce(ctx context.Context, fault string, attrs ...any) {
	m.mu.Lock()
	known := m.warned[fault]
	m.warned[fault] = true
	m.mu.Unlock()
	if !known {
		m.Logger.WarnContext(ctx, "dead letter table", append([]any{telemetry.KeyBase, m.BaseName, telemetry.KeyProblem, fault}, attrs...)...)
	}
}
