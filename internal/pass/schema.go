package pass

import (
	"context"
	"sync"
	"time"

	"airtable-replay/internal/pipeline"
)

// schemaAge is how long a schema is believed without a surprise, freshAge how long after one.
const (
	schemaAge = 10 * time.Minute
	freshAge  = time.Second
)

// schemas remembers each base's schema.
type schemas struct {
	mu     sync.Mutex
	byBase map[string]readSchema
}

type readSchema struct {
	schema *pipeline.Schema
	at     time.Time
}

func newSchemas() *schemas { return &schemas{byBase: map[string]readSchema{}} }

// recall is the remembered schema unless it is older than age; nil: read it.
func (s *schemas) recall(base string, age time.Duration) *pipeline.Schema {
	s.mu.Lock()
	defer s.mu.Unlock()
	r := s.byBase[base]
	if time.Since(r.at) > age {
		return nil
	}
	return r.schema
}

// learn keeps a schema just read, with the memory of the former one, so that a rename can be named.
func (s *schemas) learn(base string, next *pipeline.Schema) *pipeline.Schema {
	s.mu.Lock()
	defer s.mu.Unlock()
	next = next.After(s.byBase[base].schema)
	s.byBase[base] = readSchema{schema: next, at: time.Now()}
	return next
}

// forget makes the next reader ask for the schema anew; the memory of former names stays.
func (s *schemas) forget(base string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	r := s.byBase[base]
	s.byBase[base] = readSchema{schema: r.schema}
}

// schemaOf is the schema of a base, not older than age; it may cost one request.
func (p *Pass) schemaOf(ctx context.Context, b Base, age time.Duration) (*pipeline.Schema, error) {
	if s := p.schemas.recall(b.Name, age); s != nil {
		return s, nil
	}
	if err := p.Pacer.Wait(ctx, b.Name, 1); err != nil {
		return nil, err
	}
	tables, err := b.Client.Schema(ctx, b.ID)
	if err != nil {
		return nil, err
	}
	return p.schemas.learn(b.Name, pipeline.NewSchema(tables)), nil
}
