package main

import (
	"cmp"
	"fmt"
	"slices"

	"airtable-replay/api/client"
)

const (
	// reasonsLimit is for how many entries of a run the reasons are counted: five pages.
	reasonsLimit = 1000
	// pageLimit is the largest page that the service gives.
	pageLimit = 200
)

// showRun prints a run; for people with the reasons why entries were not replayed.
func showRun(p *process, c *remote, api *client.ClientWithResponses, a answer[client.Run]) error {
	reasons := ""
	if !c.JSON {
		var err error
		if reasons, err = reasonsText(p, api, a.value); err != nil {
			return err
		}
	}
	return c.show(p, a.raw, func() string { return runText(a.value, p.columns()) + reasons })
}

// reasonCount counts the entries of one outcome and reason.
type reasonCount struct {
	outcome client.Outcome
	reason  string
	n       int
}

// reasonsText is a table of the reasons why entries of a run were not replayed; empty where all were.
func reasonsText(p *process, api *client.ClientWithResponses, r client.Run) (string, error) {
	unwritten := []reasonCount{
		{outcome: client.OutcomeSuperseded, n: r.Counts.Superseded}, {outcome: client.OutcomeNeedsReview, n: r.Counts.NeedsReview},
		{outcome: client.OutcomeReplayFailed, n: r.Counts.ReplayFailed},
	}
	total := 0
	for _, o := range unwritten {
		total += o.n
	}
	if total > reasonsLimit {
		return hang(fmt.Sprintf("\nThe reasons of %s are too many to count here: airtable-replay runs evidence %s --format csv has each.",
			entriesText(total), printable(r.ID)), 0, p.columns()) + "\n", nil
	}
	g := newGrid(column{title: "OUTCOME"}, column{title: "REASON", least: 8}, column{title: "ENTRIES"})
	for _, o := range unwritten {
		if o.n == 0 {
			continue
		}
		counts, err := reasonsOf(p, api, r.ID, o.outcome)
		if err != nil {
			return "", err
		}
		left := o.n
		for _, c := range counts {
			g.add(plain(string(c.outcome)), c.reason, fmt.Sprint(c.n))
			left -= c.n
		}
		if left > 0 && r.FinishedAt != nil {
			g.add(plain(string(o.outcome)), "taken by a later run", fmt.Sprint(left))
		}
	}
	if len(g.rows) == 0 {
		return "", nil
	}
	return "\n" + g.page(p.columns()), nil
}

// reasonsOf counts the reasons of the entries that a run left at an outcome, the most frequent first. An
// entry that a later run took is that run's.
func reasonsOf(p *process, api *client.ClientWithResponses, id string, o client.Outcome) ([]reasonCount, error) {
	counts := map[string]int{}
	params := client.ListEntriesParams{Run: &id, Outcome: &o, Limit: new(pageLimit)}
	for more := true; more; more = params.Cursor != nil {
		a, err := ask[client.EntryList](api.ListEntriesWithResponse(p.ctx, &params))
		if err != nil {
			return nil, err
		}
		for _, e := range a.value.Entries {
			if e.Replay != nil && orNone(e.Replay.RunID) == id {
				counts[string(orNone(e.Replay.Reason))]++
			}
		}
		params.Cursor = a.value.NextCursor
	}
	var list []reasonCount
	for reason, n := range counts {
		list = append(list, reasonCount{outcome: o, reason: reason, n: n})
	}
	slices.SortFunc(list, func(a, b reasonCount) int { return cmp.Or(b.n-a.n, cmp.Compare(a.reason, b.reason)) })
	return list, nil
}
