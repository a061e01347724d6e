package mirror

// The parts that are fuzzed.
var (
	PayloadText  = payloadText
	PayloadBytes = payloadBytes
)

// Cut is a text as a cell of that many characters holds it.
func Cut(text string, limit int) string { return (&pen{limit: limit}).cut(text) }

// Asking is how many rows are waited for and not yet being read.
func (m *Mirror) Asking() int {
	m.asks.mu.Lock()
	defer m.asks.mu.Unlock()
	return len(m.asks.waiting)
}
