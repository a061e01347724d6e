package localpg

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"sync"
)

// user is the superuser of every cluster made here.
const user = "postgres"

// bindAttempts bounds how often another free port is tried: between finding a
// free port and listening on it, a server started at the same time may take it.
const bindAttempts = 5

// Config says where the server keeps its data and how careful it is with it.
type Config struct {
	// Dir is the data folder; it is made when missing and kept by Stop.
	// Empty means a temporary folder that Stop removes.
	Dir string
	// Logger hears of start and stop; nil means silence.
	Logger *slog.Logger
	// Fast gives up durability (no fsync) for speed: for tests only.
	Fast bool
}

// Server is a running PostgreSQL server, or the address of one that somebody
// else runs (see Open).
type Server struct {
	url     string
	log     *slog.Logger
	process *process // nil when somebody else runs the server
	tempDir string   // removed by Stop; empty when the data is kept

	stopOnce sync.Once
	stopErr  error
}

// Open returns the server that DATABASE_URL names, which Stop then leaves
// alone, and otherwise starts one as Start does.
func Open(ctx context.Context, cfg Config) (*Server, error) {
	if address := os.Getenv("DATABASE_URL"); address != "" {
		return &Server{url: address, log: logger(cfg)}, nil
	}
	return Start(ctx, cfg)
}

// Start finds PostgreSQL on this machine, or downloads it, and returns once the
// server answers queries. ctx bounds the start only: the server lives until
// Stop or until this process ends. The error is one sentence that says what to
// install or to change.
func Start(ctx context.Context, cfg Config) (*Server, error) {
	account, err := unprivilegedAccount()
	if err != nil {
		return nil, err
	}
	s := &Server{log: logger(cfg)}
	dir := cfg.Dir
	if dir == "" {
		if s.tempDir, err = account.tempDir(); err != nil {
			return nil, err
		}
		dir = filepath.Join(s.tempDir, "data")
	}
	if err := s.start(ctx, account, dir, cfg.Fast); err != nil {
		return nil, errors.Join(err, s.removeTempDir())
	}
	return s, nil
}

func (s *Server) start(ctx context.Context, account account, dir string, fast bool) error {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return fmt.Errorf("data folder: %w", err)
	}
	made, err := madeBy(dir)
	if err != nil {
		return err
	}
	search := search{account: account, path: os.Getenv("PATH"), folders: folders}
	binaries, err := search.find(ctx, made)
	if err != nil {
		return err
	}
	cluster, err := openCluster(ctx, binaries, account, dir, fast)
	if err != nil {
		return err
	}
	cluster.discard = s.tempDir
	for attempt := 1; ; attempt++ {
		port, err := freePort(ctx)
		if err != nil {
			return err
		}
		address := loopbackURL(cluster.password, port)
		s.process, err = cluster.run(ctx, port, address)
		if err == nil {
			s.url = address
			s.log.Info("postgres started", "version", binaries.version, "folder", dir, "port", port)
			return nil
		}
		if !errors.Is(err, errPortTaken) || attempt == bindAttempts {
			return err
		}
	}
}

// URL is the address of the database "postgres" on this server, with the
// superuser's name and password in it.
func (s *Server) URL() string { return s.url }

// Stop ends the server, if it was started here, and removes its temporary
// folder. Open connections are cut. Further calls answer as the first did.
func (s *Server) Stop() error {
	s.stopOnce.Do(func() {
		if s.process == nil {
			return
		}
		s.stopErr = errors.Join(s.process.stop(), s.removeTempDir())
		s.log.Info("postgres stopped")
	})
	return s.stopErr
}

func (s *Server) removeTempDir() error {
	if s.tempDir == "" {
		return nil
	}
	if err := os.RemoveAll(s.tempDir); err != nil {
		return fmt.Errorf("temporary folder removal: %w", err)
	}
	return nil
}

func logger(cfg Config) *slog.Logger {
	if cfg.Logger == nil {
		return slog.New(slog.DiscardHandler)
	}
	return cfg.Logger
}

func loopbackURL(password string, port int) string {
	address := url.URL{
		Scheme:   "postgres",
		User:     url.UserPassword(user, password),
		Host:     "127.0.0.1:" + strconv.Itoa(port),
		Path:     "/postgres",
		RawQuery: "sslmode=disable",
	}
	return address.String()
}
