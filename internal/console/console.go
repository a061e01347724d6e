package console

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"time"

	"airtable-replay/internal/doctor"
	"airtable-replay/internal/replay"

	"github.com/go-chi/chi/v5"
	"github.com/go-chi/chi/v5/middleware"
)

// Config is what the console is built from. Every service is needed.
type Config struct {
	Sessions sessionStore
	Tally    tallyStore
	RunTally runTally
	Entries  entryService
	Presses  pressService
	Reviews  reviewService
	Runs     runService
	Bases    baseService
	Bulk     bulkService
	Restores restoreService
	Stuck    stuckService
	Payloads payloadService
	Checks   payloadChecker
	// Doctor checks what is outside the program; nil: the page says nothing of it.
	Doctor func(ctx context.Context) (doctor.Report, error)

	// URL is where people reach the service, such as https://replay.example.com; empty: taken from each
	// request. It goes into the button's script, and https makes the cookie one for TLS alone.
	URL string
	// DeadLetters is the name of the dead letter table in Airtable; empty: there is none.
	DeadLetters string
	// Queue is the queue's own console, shown to admins under /river; nil: there is none.
	Queue  http.Handler
	Logger *slog.Logger
	// Draining is closed when the service begins to stop: then live progress ends. Nil: never.
	Draining <-chan struct{}
	Now      func() time.Time // nil: time.Now; for words such as "3 min ago" alone
	Version  string           // of the build
}

// console answers the requests.
type console struct {
	Config
	pages  pages
	assets map[string]asset
}

// Serves tells whether a request is the console's; all others are the API's. A browser that looks for a
// path that nobody has is told so by a page.
func Serves(r *http.Request) bool {
	first, _, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
	switch first {
	case "", "login", "logout", "entries", "runs", "bases", "stuck", "connect", "assets", "river":
		return true
	case "v1", "healthz", "readyz", "metrics", "openapi.yaml":
		return false
	}
	return (r.Method == http.MethodGet || r.Method == http.MethodHead) && strings.Contains(r.Header.Get("Accept"), "text/html")
}

// New builds the console. Its error names what the configuration lacks, or the template at fault.
func New(c Config) (http.Handler, error) {
	for name, service := range map[string]any{
		"Sessions": c.Sessions, "Tally": c.Tally, "RunTally": c.RunTally, "Entries": c.Entries, "Presses": c.Presses, "Reviews": c.Reviews,
		"Runs": c.Runs, "Bases": c.Bases, "Bulk": c.Bulk, "Payloads": c.Payloads, "Restores": c.Restores, "Stuck": c.Stuck, "Checks": c.Checks,
	} {
		if service == nil {
			return nil, fmt.Errorf("console: Config.%s is missing", name)
		}
	}
	if c.Logger == nil {
		return nil, fmt.Errorf("console: Config.Logger is missing")
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	k := &console{Config: c}
	var err error
	if k.pages, err = parsePages(k.Now); err != nil {
		return nil, err
	}
	if k.assets, err = readAssets(); err != nil {
		return nil, err
	}
	return k.routes(), nil
}

// routes lists every page with the scope that it needs; an empty scope is open to everybody.
func (k *console) routes() http.Handler {
	r := chi.NewRouter()
	r.Use(k.observe, harden, http.NewCrossOriginProtection().Handler, middleware.GetHead)
	r.NotFound(k.page(scopeNone, noSuchPage))
	r.Get("/assets/{name}", k.showAsset)
	get := func(path, scope string, p page) { r.Get(path, k.page(scope, p)) }
	post := func(path, scope string, p page) { r.Post(path, k.page(scope, p)) }

	get("/login", scopeNone, k.showLogin)
	post("/login", scopeNone, k.logIn)
	post("/logout", scopeNone, k.logOut)

	get("/", scopeRead, k.showOverview)
	post("/bases/{name}/halt", scopeAdmin, k.haltBase)
	post("/bases/{name}/resume", scopeAdmin, k.resumeBase)

	post("/stuck/reset", scopeAdmin, k.resetStuck)

	get("/entries", scopeRead, k.listEntries)
	post("/entries", scopeReplay, k.orderMany)
	get("/entries/{id}", scopeRead, k.showEntry)
	get("/entries/{id}/preview", scopeReplay, k.showPreview)
	get("/entries/{id}/raw", scopeRead, k.downloadPayload)
	get("/entries/{id}/payload", scopeReplay, k.editPayload)
	post("/entries/{id}/payload", scopeReplay, k.savePayload)
	post("/entries/{id}/owner", scopeReplay, k.assignEntry)
	post("/entries/{id}/replay", scopeReplay, k.pressReplay)
	get("/entries/{id}/restore", scopeReplay, k.showRestore)
	post("/entries/{id}/restore", scopeReplay, k.restoreEntry)
	post("/entries/{id}/ignore", scopeReplay, k.ignoreEntry)
	post("/entries/{id}/reopen", scopeAdmin, k.reopenEntry)
	post("/entries/{id}/reset", scopeAdmin, k.resetEntry)

	get("/runs", scopeRead, k.listRuns)
	get("/runs/new", scopeReplay, k.planRun)
	post("/runs", scopeReplay, k.startRun)
	get("/runs/{id}", scopeRead, k.showRun)
	get("/runs/{id}/events", scopeRead, k.followRun)
	get("/runs/{id}/evidence", scopeRead, k.downloadEvidence)
	post("/runs/{id}/cancel", scopeReplay, k.cancelRun)

	get("/connect", scopeRead, k.showConnect)
	post("/connect", scopeRead, k.examine)
	r.Handle("/river", k.page(scopeAdmin, k.showQueue))
	r.Handle("/river/*", k.page(scopeAdmin, k.showQueue))
	return r
}

// order is a person's word on one entry.
func (v *visit) order(id, reason string) replay.Order {
	return replay.Order{EntryID: id, Actor: v.who(), Reason: reason}
}

// showQueue hands over to the queue's own console.
func (k *console) showQueue(v *visit) error {
	if k.Queue == nil {
		return noSuchPage(v)
	}
	// It styles its elements in place.
	v.w.Header().Set("Content-Security-Policy", "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; "+
		"font-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'")
	k.Queue.ServeHTTP(v.w, v.r)
	return nil
}
