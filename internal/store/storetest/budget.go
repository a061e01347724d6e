package storetest

import "testing"

// Budget is a figure that a benchmark holds against a target, with the best that is possible as its floor.
type Budget struct {
	Unit   string // names the figure, without blanks
	Figure float64
	Target float64
	Floor  float64 // 0: none
}

// Report prints the figure with its target and floor; make bench gathers them in one table. It judges
// nothing: machines differ.
func (f Budget) Report(b *testing.B) {
	b.Helper()
	b.ReportMetric(0, "ns/op") // says less than the figure
	b.ReportMetric(f.Figure, f.Unit)
	b.ReportMetric(f.Target, "target-"+f.Unit)
	if f.Floor > 0 {
		b.ReportMetric(f.Floor, "floor-"+f.Unit)
	}
}
