package sandbox

import (
	"context"
	"log/slog"
	"net/http"
	"os"
	"sync"
	"time"
)

// Config is how a sandbox starts. The zero value has no rate limits and no
// penalty; [DefaultConfig] has Airtable's.
type Config struct {
	// Rate is the requests per second that one base takes; 0 sets no limit.
	Rate int
	// Penalty is how long a base refuses everything after the limit was passed.
	Penalty time.Duration
	// OwnerRate is the requests per second over all bases of one token owner; 0 sets no limit.
	OwnerRate int
	// Offset is added to the time of Now.
	Offset time.Duration
	// Now is the source of time, time.Now by default. Whoever moves a source of
	// his own calls [Sandbox.Wake] afterwards.
	Now func() time.Time
	// Logger gets what goes wrong behind the scenes; nothing by default.
	Logger *slog.Logger
	// RequireToken refuses requests to a base for which the seed lists no token;
	// otherwise such a base is open to everybody.
	RequireToken bool
	// LookupEnv resolves ${NAME} in tokens and automations, os.LookupEnv by default.
	LookupEnv func(name string) (string, bool)
	// Client sends the automations' and webhooks' requests, by default one with a timeout of 30 s.
	Client *http.Client
}

// DefaultConfig has Airtable's documented limits: 5 requests per second and
// base, 50 per token owner, 30 seconds of penalty.
func DefaultConfig() Config {
	return Config{Rate: 5, Penalty: 30 * time.Second, OwnerRate: 50}
}

func (c Config) withDefaults() Config {
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	if c.LookupEnv == nil {
		c.LookupEnv = os.LookupEnv
	}
	if c.Client == nil {
		c.Client = &http.Client{Timeout: 30 * time.Second, Transport: &http.Transport{Proxy: http.ProxyFromEnvironment}}
	}
	return c
}

// Sandbox is a running emulator. It is safe for concurrent use.
type Sandbox struct {
	config Config
	clock  *clock
	kick   chan struct{} // something new is to be done later
	ctx    context.Context
	stop   context.CancelFunc
	work   sync.WaitGroup

	mu          sync.Mutex
	options     Options
	bases       []*base
	tokens      []*token
	owners      map[string]*meter
	requests    []*Request
	lastRequest int
	bodyBytes   int
	changes     []Change
	lastChange  int
	lastTurn    int
	faults      []*armedFault
	lastFault   int
	deferred    []*deferred
	cursors     map[string]*cursor
	cursorOrder []string
	automations []*automation
	presses     chan press
	activity    chan struct{} // closed and replaced whenever something happened
}

// New builds the tables of the seed and starts the work behind the scenes. The
// error lists every fault of the seed.
func New(seed Seed, config Config) (*Sandbox, error) {
	config = config.withDefaults()
	s := &Sandbox{config: config, clock: newClock(config.Now, config.Offset), kick: make(chan struct{}, 1),
		options: defaultOptions(config), owners: map[string]*meter{}, cursors: map[string]*cursor{},
		presses: make(chan press, maxPresses), activity: make(chan struct{})}
	if err := s.options.validate(); err != nil {
		return nil, err
	}
	if err := (&builder{s: s}).build(seed); err != nil {
		return nil, err
	}
	s.ctx, s.stop = context.WithCancel(context.Background())
	s.work.Go(s.runScheduler)
	for range automationWorkers {
		s.work.Go(s.runAutomations)
	}
	return s, nil
}

// Close stops everything behind the scenes and waits for it. Requests that are
// held back by a fault are let go unserved; writes to be applied later are lost.
func (s *Sandbox) Close() {
	s.stop()
	s.work.Wait()
	s.config.Client.CloseIdleConnections()
}

// Now is the sandbox's time, in UTC.
func (s *Sandbox) Now() time.Time { return s.clock.now() }

// SetNow makes it t, whence time runs on. What has become due is done before it returns.
func (s *Sandbox) SetNow(t time.Time) {
	s.clock.set(t)
	s.settle()
}

// Advance moves the clock by d, like SetNow.
func (s *Sandbox) Advance(d time.Duration) {
	s.clock.advance(d)
	s.settle()
}

// Wake looks for what has become due, after the source given as Config.Now was moved.
func (s *Sandbox) Wake() {
	s.clock.wake()
	s.settle()
}

func (s *Sandbox) settle() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.settleDue()
}

// Await returns when cond holds. It looks whenever a request arrived or was
// answered, a cell changed or a ping was sent; cond may ask the sandbox.
func (s *Sandbox) Await(ctx context.Context, cond func() bool) error {
	for {
		s.mu.Lock()
		activity := s.activity
		s.mu.Unlock()
		if cond() {
			return nil
		}
		select {
		case <-activity:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// stirred tells those who wait that something happened.
func (s *Sandbox) stirred() {
	close(s.activity)
	s.activity = make(chan struct{})
}

// base finds a base by its ID.
func (s *Sandbox) base(id string) *base {
	for _, b := range s.bases {
		if b.id == id {
			return b
		}
	}
	return nil
}
