package doctor

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"airtable-replay/internal/config"
	"airtable-replay/internal/pipeline"
	"airtable-replay/internal/store"
)

// defaultRecords is how many records of a table are looked at for double keys: ten requests.
const defaultRecords = 1000

// Config is what is to be checked.
type Config struct {
	File *config.File
	// Store is the migrated database; nil where there is none, which StoreErr explains.
	Store    *store.Store
	StoreErr error
	// Records is how many records of each table are looked at for double keys; 0: 1,000, below 0: all.
	Records int
	// Transport carries the requests to Airtable; nil: the standard library's.
	Transport http.RoundTripper
}

// Check looks at everything. It errs only where the configuration's parts do not fit together, and when
// ctx ends: what cannot be reached is a finding. Requests keep to the pace of the base and are booked in
// the database, so that a service at work is not pushed over Airtable's limit.
func Check(ctx context.Context, c Config) (Report, error) {
	found, err := c.inspect(ctx, c.everything)
	if err != nil {
		return Report{}, err
	}
	return reportOf(found), nil
}

func reportOf(found []finding) Report {
	r := Report{Findings: make([]Finding, len(found))}
	for i, f := range found {
		r.Findings[i] = f.Finding
	}
	return r
}

// check is one run over a configuration.
type check struct {
	Config
	book  *pipeline.Book
	bases map[string]store.BaseState // as the database has them
	// unread are the bases whose tables could not be looked at.
	unread []string
	findings
}

func (c Config) inspect(ctx context.Context, look func(context.Context, *check) error) ([]finding, error) {
	book, err := pipeline.New(c.File)
	if err != nil {
		return nil, fmt.Errorf("read configuration: %w", err)
	}
	c.Records = cmp.Or(c.Records, defaultRecords)
	run := &check{Config: c, book: book, bases: map[string]store.BaseState{}}
	if err := look(ctx, run); err != nil {
		return nil, err
	}
	return run.list, nil
}

func (c Config) everything(ctx context.Context, run *check) error {
	run.add(AreaConfiguration, "", OK, fmt.Sprintf("%s, %s, %s", count(len(c.File.Bases), "base"), count(len(c.File.Targets), "target"), count(len(c.File.Sources), "source")), "")
	run.checkDatabase(ctx)
	for _, name := range slices.Sorted(maps.Keys(c.File.Bases)) {
		run.checkBase(ctx, c.File.Bases[name])
		if ctx.Err() != nil {
			return fmt.Errorf("check base %s: %w", name, ctx.Err())
		}
	}
	run.checkNotify()
	return nil
}

// checkDatabase tells whether the database answers and has the newest schema.
func (c *check) checkDatabase(ctx context.Context) {
	if c.Store == nil && c.StoreErr == nil {
		c.add(AreaDatabase, "", Warning, "no database is named, so it was not checked, and neither were the clocks", "set DATABASE_URL to the service's database")
		return
	}
	var states []store.BaseState
	err := c.StoreErr
	if err == nil {
		states, err = c.Store.ListBases(ctx)
	}
	if err != nil {
		c.Store = nil
		c.add(AreaDatabase, "", Fault, err.Error(), databaseFix(err))
		return
	}
	for _, b := range states {
		c.bases[b.Name] = b
	}
	c.add(AreaDatabase, "", OK, "answers, and has the newest schema", "")
}

func databaseFix(err error) string {
	if strings.Contains(err.Error(), "not migrated") {
		return "run airtable-replay migrate up"
	}
	return "see that PostgreSQL runs, and that DATABASE_URL names it with a user who may log in"
}

// checkHalt tells of a base at which nothing goes on.
func (c *check) checkHalt(b *config.Base) {
	state, known := c.bases[b.Name]
	switch {
	case known && state.Halted:
		c.add(AreaBase, b.Name, Warning, fmt.Sprintf("is halted since %s: %s", state.HaltedAt.UTC().Format(time.RFC3339), state.Reason),
			"mend the cause, then say airtable-replay bases resume "+b.Name)
	case len(b.Alert) == 0:
		c.add(AreaBase, b.Name, Warning, "nobody is told when it halts", "name an endpoint of notify under bases."+b.Name+".alert")
	default:
		c.add(AreaBase, b.Name, OK, "is not halted; alerts go to "+strings.Join(b.Alert, ", "), "")
	}
}

// checkNotify looks at the addresses of webhooks; their form was checked when the file was read.
func (c *check) checkNotify() {
	for _, name := range slices.Sorted(maps.Keys(c.File.Notify)) {
		u, err := url.Parse(c.File.Notify[name].URL)
		switch {
		case err != nil || u.Host == "":
			c.add(AreaNotify, name, Fault, "has no address that could be called", "give notify."+name+".url an https address")
		case u.Scheme != "https" && !loopback(u.Hostname()):
			c.add(AreaNotify, name, Warning, "is called at "+u.Host+" without encryption, and messages name record IDs and values", "use an https address")
		default:
			c.add(AreaNotify, name, OK, "is called at "+u.Host+" for "+strings.Join(c.File.Notify[name].On, ", "), "")
		}
	}
}

func loopback(host string) bool {
	return host == "localhost" || strings.HasPrefix(host, "127.") || host == "::1"
}

func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
