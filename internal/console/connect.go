package console

import (
	"net/http"
	"slices"

	"airtable-replay/internal/button"
	"airtable-replay/internal/doctor"
)

// connectView is how the button in Airtable is set up.
type connectView struct {
	URL    string
	Table  string
	Script string
	Doctor bool // there is one
	Report *doctor.Report
	Alert  *alert
}

// Faults, Warnings and Good count the findings of the report.
func (c connectView) Faults() int { return c.Report.Count(doctor.Fault) }

// Warnings counts what is worth a look.
func (c connectView) Warnings() int { return c.Report.Count(doctor.Warning) }

// Findings lists the report, what is wrong first.
func (c connectView) Findings() []doctor.Finding {
	rank := map[doctor.Level]int{doctor.Fault: 0, doctor.Warning: 1, doctor.OK: 2}
	out := slices.Clone(c.Report.Findings)
	slices.SortStableFunc(out, func(a, b doctor.Finding) int { return rank[a.Level] - rank[b.Level] })
	return out
}

func (k *console) showConnect(v *visit) error {
	data := k.connection(v)
	return k.render(v, http.StatusOK, "connect", data)
}

// examine asks the doctor, which asks Airtable; it is a POST because it costs requests.
func (k *console) examine(v *visit) error {
	data := k.connection(v)
	if k.Doctor == nil {
		return noSuchPage(v)
	}
	report, err := k.Doctor(v.r.Context())
	if err != nil {
		wrong := alertOf(v.r.Context(), err)
		data.Alert = &wrong
		return k.render(v, statusOf(err), "connect", data)
	}
	data.Report = &report
	return k.render(v, http.StatusOK, "connect", data)
}

func (k *console) connection(v *visit) connectView {
	data := connectView{URL: k.URL, Table: k.DeadLetters, Doctor: k.Doctor != nil}
	if data.URL == "" {
		scheme := "http://"
		if k.overTLS(v.r) {
			scheme = "https://"
		}
		data.URL = scheme + v.r.Host
	}
	data.Script = button.Script(data.URL, data.Table)
	return data
}
