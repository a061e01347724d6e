package doctor

// Level is how bad a finding is.
type Level string

// The levels. A fault keeps something from working; a warning is worth a look.
const (
	OK      Level = "ok"
	Warning Level = "warning"
	Fault   Level = "fault"
)

// The areas of findings, in the order of a report.
const (
	AreaConfiguration = "configuration"
	AreaDatabase      = "database"
	AreaBase          = "base"
	AreaToken         = "token"
	AreaClock         = "clock"
	AreaTarget        = "target"
	AreaDeadLetters   = "dead letters"
	AreaNotify        = "notify"
)

// Finding is what one check found.
type Finding struct {
	Area    string `json:"area"`
	Subject string `json:"subject"` // "orders", or "Orders: Delivery Date" for a field; empty: the area itself
	Level   Level  `json:"level"`
	Detail  string `json:"detail"` // what was found, for people
	Fix     string `json:"fix"`    // what to do about it; empty where all is well
}

// Report is what a check found, in the order of the areas.
type Report struct {
	Findings []Finding `json:"findings"`
}

// Count counts the findings of a level.
func (r Report) Count(l Level) int {
	n := 0
	for _, f := range r.Findings {
		if f.Level == l {
			n++
		}
	}
	return n
}

// finding is a Finding, with the field that setup could make to mend it.
type finding struct {
	Finding
	missing *missing
}

// findings collect what one part of the check finds.
type findings struct{ list []finding }

func (f *findings) add(area, subject string, l Level, detail, fix string) *finding {
	f.list = append(f.list, finding{Finding: Finding{Area: area, Subject: subject, Level: l, Detail: detail, Fix: fix}})
	return &f.list[len(f.list)-1]
}

// wellSince adds a line that all is well, unless something was found since the list had n lines.
func (f *findings) wellSince(n int, area, subject, detail string) {
	if len(f.list) == n {
		f.add(area, subject, OK, detail, "")
	}
}
