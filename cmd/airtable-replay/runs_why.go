package main

import (
	"fmt"

	"airtable-replay/api/client"
)

// showRun prints a run; for people with the reasons why entries were not written.
func showRun(p *process, c *remote, a answer[client.Run]) error {
	return c.show(p, a.raw, func() string { return runText(a.value, p.columns()) + whyText(a.value, p.columns()) })
}

// whyText is a table of the reasons why entries of a run were not written; empty where all were.
func whyText(r client.Run, line int) string {
	if len(r.Why) == 0 {
		return ""
	}
	g := newGrid(column{title: "OUTCOME"}, column{title: "REASON", least: 8}, column{title: "ENTRIES"})
	for _, w := range r.Why {
		outcome := "given back"
		if w.Outcome != nil {
			outcome = plain(string(*w.Outcome))
		}
		g.add(outcome, string(w.Reason), fmt.Sprint(w.Entries))
	}
	return "\n" + g.page(line)
}
