package app

import (
	"context"
	"time"

	"airtable-replay/internal/store"
	"airtable-replay/internal/telemetry"

	"github.com/prometheus/client_golang/prometheus"
)

// scrapeTimeout bounds what one scrape may ask of the database.
const scrapeTimeout = 5 * time.Second

// baseMetrics tells of each base what waits for it and whether it goes on, read at each scrape.
type baseMetrics struct {
	store                   *store.Store
	waiting, halted, paused *prometheus.Desc
}

func newBaseMetrics(s *store.Store) *baseMetrics {
	name := func(n string) string { return prometheus.BuildFQName(telemetry.Namespace, "base", n) }
	return &baseMetrics{
		store:   s,
		waiting: prometheus.NewDesc(name("waiting"), "What waits for a base: entries, writes, rows to mirror.", []string{"base", "kind"}, nil),
		halted:  prometheus.NewDesc(name("halted"), "1 while a base is halted.", []string{"base"}, nil),
		paused:  prometheus.NewDesc(name("paused"), "1 while a base is paused.", []string{"base"}, nil),
	}
}

// Describe implements prometheus.Collector.
func (m *baseMetrics) Describe(out chan<- *prometheus.Desc) {
	out <- m.waiting
	out <- m.halted
	out <- m.paused
}

// Collect implements prometheus.Collector.
func (m *baseMetrics) Collect(out chan<- prometheus.Metric) {
	ctx, cancel := context.WithTimeout(context.Background(), scrapeTimeout)
	defer cancel()
	bases, err := m.store.ListBases(ctx)
	if err != nil {
		out <- prometheus.NewInvalidMetric(m.waiting, err)
		return
	}
	gauge := func(d *prometheus.Desc, v float64, labels ...string) {
		out <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, v, labels...)
	}
	for _, b := range bases {
		gauge(m.waiting, float64(b.WaitingEntries), b.Name, "entries")
		gauge(m.waiting, float64(b.WaitingWrites), b.Name, "writes")
		gauge(m.waiting, float64(b.WaitingMirror), b.Name, "mirror")
		gauge(m.halted, oneIf(b.Halted), b.Name)
		gauge(m.paused, oneIf(!b.PausedUntil.IsZero()), b.Name)
	}
}

func oneIf(yes bool) float64 {
	if yes {
		return 1
	}
	return 0
}

// newTickMetric tells when each tick of this process last went well, so that a late one can be alerted on.
func newTickMetric(r *prometheus.Registry) func(tick string) {
	g := prometheus.NewGaugeVec(prometheus.GaugeOpts{
		Namespace: telemetry.Namespace, Name: "tick_success_timestamp_seconds", Help: "When a tick of this process last went well, in Unix seconds.",
	}, []string{"tick"})
	r.MustRegister(g)
	return func(tick string) { g.WithLabelValues(tick).SetToCurrentTime() }
}
