package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"airtable-replay/api/client"
)

// entriesCommand is about dead letters.
type entriesCommand struct {
	List     entriesListCommand     `cmd:"" help:"List entries, the latest first attempt first."`
	Show     entriesShowCommand     `cmd:"" help:"Show one entry, with the account of its last replay."`
	History  entriesHistoryCommand  `cmd:"" help:"Show everything that happened to an entry."`
	Preview  entriesPreviewCommand  `cmd:"" help:"Tell what a replay would do, field by field; nothing is written."`
	Replay   entriesReplayCommand   `cmd:"" help:"Press Replay on an entry."`
	Summary  entriesSummaryCommand  `cmd:"" help:"Count entries by status, reason, source and target."`
	Ignore   entriesIgnoreCommand   `cmd:"" help:"Close pending entries without replaying them."`
	Reopen   entriesReopenCommand   `cmd:"" help:"Return resolved or ignored entries to pending review."`
	Reset    entriesResetCommand    `cmd:"" help:"Return replaying entries to pending review."`
	Assign   entriesAssignCommand   `cmd:"" help:"Give entries to an owner."`
	Edit     entriesEditCommand     `cmd:"" help:"Mend the payload of a pending entry in an editor."`
	Payloads entriesPayloadsCommand `cmd:"" help:"Show the payload as filed, and every edit."`
	File     entriesFileCommand     `cmd:"" help:"File a dead letter."`
	Restore  entriesRestoreCommand  `cmd:"" help:"Write the values from before the last replay back."`
	Stuck    stuckCommand           `cmd:"" help:"List and free entries that nobody works on any more."`
}

// entryFilter narrows a list of entries.
type entryFilter struct {
	Status   word   `enum:",pending_review,replaying,resolved,ignored" default:"" placeholder:"STATUS" help:"pending_review, replaying, resolved or ignored."`
	Outcome  word   `enum:",replayed,partially_replayed,superseded,needs_review,replay_failed" default:"" placeholder:"OUTCOME" help:"Of the last replay: replayed, partially_replayed, superseded, needs_review or replay_failed."`
	Reason   string `placeholder:"CODE" help:"The reason code of the filing, such as transient_exhausted; why a replay ended as it did is told with its outcome."`
	Source   string `placeholder:"NAME" help:"The source system."`
	Target   string `placeholder:"NAME" help:"The target, as the configuration calls it."`
	TargetID string `name:"target-id" placeholder:"ID" help:"The sender's ID of the record."`
	Run      string `placeholder:"ID" help:"A run that took the entry."`
	Owner    string `placeholder:"NAME" help:"Who it is assigned to."`
	From     string `placeholder:"TIME" help:"First attempts at or after this time, such as 2026-10-02T09:00:00Z."`
	To       string `placeholder:"TIME" help:"First attempts before this time."`
	Search   string `short:"q" placeholder:"TEXT" help:"Free text."`
}

func (f entryFilter) params() client.ListEntriesParams {
	return client.ListEntriesParams{
		Status: given(client.Status(f.Status)), Outcome: given(client.Outcome(f.Outcome)), Reason: given(client.Reason(f.Reason)),
		Source: given(f.Source), Target: given(f.Target), TargetID: given(f.TargetID), Run: given(f.Run), Owner: given(f.Owner),
		FirstAttemptFrom: given(f.From), FirstAttemptTo: given(f.To), Q: given(f.Search),
	}
}

type entriesListCommand struct {
	remote
	entryFilter
	Limit  int    `default:"50" placeholder:"N" help:"Entries of a page, at most 200 (default ${default})."`
	Cursor string `placeholder:"CURSOR" help:"Where the page before has ended."`
	All    bool   `help:"Page through to the end."`
	IDs    bool   `name:"ids" help:"Print IDs alone, one a line, for other commands."`
}

// Help shows how the command is used.
func (entriesListCommand) Help() string {
	return `Payloads are not listed; airtable-replay entries show prints one.

Examples:

	airtable-replay entries list --status pending_review --reason transient_exhausted
	airtable-replay entries list --target Orders --from 2026-10-01T00:00:00Z --all
	airtable-replay entries list --owner ann --ids | airtable-replay entries assign - --owner ben --yes
	airtable-replay entries list --status pending_review --json`
}

// Validate refuses pages that no service gives.
func (c *entriesListCommand) Validate() error {
	return errors.Join(c.remote.Validate(), pageFits(c.Limit))
}

func pageFits(limit int) error {
	if limit < 1 || limit > pageLimit {
		return fmt.Errorf("--limit: %d is not between 1 and %d", limit, pageLimit)
	}
	return nil
}

// word is one of the service's codes, however it is spelled: "Pending Review" is pending_review.
type word string

// UnmarshalText implements encoding.TextUnmarshaler.
func (w *word) UnmarshalText(text []byte) error {
	*w = word(strings.NewReplacer(" ", "_", "-", "_").Replace(strings.ToLower(strings.TrimSpace(string(text)))))
	return nil
}

// Run implements the command.
func (c *entriesListCommand) Run(p *process) error {
	api, err := c.dial()
	if err != nil {
		return err
	}
	params := c.params()
	params.Limit = &c.Limit
	if c.All {
		params.Limit = new(pageLimit)
	}
	list := newEntryGrid()
	sheet := c.sheet(p, list)
	for cursor := given(c.Cursor); ; {
		params.Cursor = cursor
		a, err := ask[client.EntryList](api.ListEntriesWithResponse(p.ctx, &params))
		if err != nil {
			return err
		}
		cursor = a.value.NextCursor
		if err := sheet(a, c.All && cursor != nil); err != nil {
			return err
		}
		if cursor == nil {
			return nil
		}
		if !c.All {
			if !c.JSON && !c.IDs {
				p.note("There are more: add --all, or --cursor %s", *cursor)
			}
			return nil
		}
	}
}

// sheet gives what prints one page after the other.
func (c *entriesListCommand) sheet(p *process, list *grid) func(a answer[client.EntryList], more bool) error {
	begun := false
	return func(a answer[client.EntryList], more bool) error {
		switch {
		case c.JSON && !c.All:
			return p.print(harmless(a.raw) + "\n")
		case c.JSON:
			text, err := joinedPage(a.raw, !begun, !more)
			begun = true
			if err != nil {
				return err
			}
			return p.print(text)
		case c.IDs:
			var b strings.Builder
			for _, e := range a.value.Entries {
				b.WriteString(printable(e.ID) + "\n")
			}
			return p.print(b.String())
		}
		if len(a.value.Entries) == 0 && !list.begun {
			p.note("No entry is as you asked.")
			return nil
		}
		for _, e := range a.value.Entries {
			addEntry(list, e)
		}
		return p.print(list.page(p.columns()))
	}
}

// joinedPage is a part of the one JSON list that many pages make together, each entry digit for digit.
func joinedPage(raw []byte, first, last bool) (string, error) {
	var page struct {
		Entries []json.RawMessage `json:"entries"`
	}
	if err := json.Unmarshal(raw, &page); err != nil {
		return "", fmt.Errorf("read page: %w", err)
	}
	var b strings.Builder
	if first {
		b.WriteString(`{"entries":[`)
	}
	for i, e := range page.Entries {
		if i > 0 || !first {
			b.WriteString(",\n")
		}
		b.WriteString(harmless(e))
	}
	if last {
		b.WriteString(`],"next_cursor":null}` + "\n")
	}
	return b.String(), nil
}

func newEntryGrid() *grid {
	return newGrid(column{title: "ID"}, column{title: "STATUS", least: 14}, column{title: "RECORD", least: 16}, column{title: "OUTCOME", least: 12, drop: 2},
		column{title: "REASON", least: 12}, column{title: "FIRST ATTEMPT", drop: 3}, column{title: "OWNER", least: 5, drop: 4})
}

// addEntry adds a line about an entry. The reason is that of the filing; that of the last replay stands
// with its outcome.
func addEntry(g *grid, e client.Entry) {
	outcome := ""
	if r := e.Replay; r != nil && r.Outcome != nil {
		outcome = plain(string(*r.Outcome))
		if r.Reason != nil {
			outcome += " (" + string(*r.Reason) + ")"
		}
	}
	g.add(e.ID, plain(string(e.Status)), recordOf(e), outcome, string(e.ReasonCode), minute(e.FirstAttemptAt), e.AssignedOwner)
}

// recordOf names what an entry is about.
func recordOf(e client.Entry) string {
	if e.TargetTable == "" {
		return e.SourceSystem
	}
	return strings.TrimSpace(e.TargetTable + " " + orNone(e.TargetID))
}

type entriesSummaryCommand struct {
	remote
	entryFilter
}

// Help shows how the command is used.
func (entriesSummaryCommand) Help() string {
	return `Examples:

	airtable-replay entries summary
	airtable-replay entries summary --status pending_review --target Orders`
}

// Run implements the command.
func (c *entriesSummaryCommand) Run(p *process) error {
	api, err := c.dial()
	if err != nil {
		return err
	}
	params := client.SummarizeEntriesParams{}
	l := c.params()
	params.Status, params.Outcome, params.Reason, params.Source, params.Target, params.TargetID = l.Status, l.Outcome, l.Reason, l.Source, l.Target, l.TargetID
	params.Run, params.Owner, params.FirstAttemptFrom, params.FirstAttemptTo, params.Q = l.Run, l.Owner, l.FirstAttemptFrom, l.FirstAttemptTo, l.Q
	a, err := ask[client.Summary](api.SummarizeEntriesWithResponse(p.ctx, &params))
	if err != nil {
		return err
	}
	if len(a.value.ByStatus) == 0 && !c.JSON {
		p.note("No entry is as you asked.")
		return nil
	}
	return c.show(p, a.raw, func() string {
		var b strings.Builder
		for _, part := range []struct {
			title string
			tally client.Tally
		}{{"STATUS", a.value.ByStatus}, {"REASON", a.value.ByReason}, {"SOURCE", a.value.BySource}, {"TARGET", a.value.ByTarget}} {
			if b.Len() > 0 {
				b.WriteString("\n")
			}
			b.WriteString(tallyText(part.title, part.tally, p.columns()))
		}
		return b.String()
	})
}

// pageLimit is the largest page that the service gives.
const pageLimit = 200

// tallyText is a table of counts, the largest first. Names are told as other commands take them.
func tallyText(title string, tally client.Tally, line int) string {
	return countText(title, "ENTRIES", tally, line)
}

// countText is a table of how many things there are of each name, the most first.
func countText(title, things string, tally client.Tally, line int) string {
	g := newGrid(column{title: title, least: 8}, column{title: things})
	for _, name := range byCount(tally) {
		g.add(name, fmt.Sprint(tally[name]))
	}
	return g.page(line)
}

func byCount(tally client.Tally) []string {
	names := slices.Sorted(maps.Keys(tally))
	slices.SortStableFunc(names, func(a, b string) int { return tally[b] - tally[a] })
	return names
}
