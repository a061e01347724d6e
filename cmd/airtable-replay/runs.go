package main

import (
	"errors"
	"fmt"
	"strings"

	"airtable-replay/api/client"
)

// runsCommand is about runs over many entries.
type runsCommand struct {
	Start    runsStartCommand    `cmd:"" help:"Replay every pending entry that a selector picks."`
	List     runsListCommand     `cmd:"" help:"List runs, the newest first."`
	Show     runsShowCommand     `cmd:"" help:"Show one run with its totals."`
	Watch    runsWatchCommand    `cmd:"" help:"Follow a run to its end."`
	Cancel   runsCancelCommand   `cmd:"" help:"Return what a run has not written yet to pending review."`
	Evidence runsEvidenceCommand `cmd:"" help:"Save everything that a run did, as JSON or CSV."`
}

// entrySelector picks the entries of a run.
type entrySelector struct {
	ID      []string `name:"id" placeholder:"ID" help:"These entries; repeat it, or separate IDs by commas."`
	Reason  string   `placeholder:"CODE" help:"Those filed for this reason, such as transient_exhausted."`
	Outcome word     `enum:",replayed,partially_replayed,superseded,needs_review,replay_failed" default:"" placeholder:"OUTCOME" help:"Those whose last replay ended so: needs_review, replay_failed, …"`
	Source  string   `placeholder:"NAME" help:"Those of this source system."`
	Target  string   `placeholder:"NAME" help:"Those for this target."`
	Of      string   `name:"run" placeholder:"ID" help:"Those that this run took."`
	Owner   string   `placeholder:"NAME" help:"Those assigned to this owner."`
	From    string   `placeholder:"TIME" help:"First attempts at or after this time, such as 2026-10-02T09:00:00Z."`
	To      string   `placeholder:"TIME" help:"First attempts before this time."`
}

func (s entrySelector) selector() client.Selector {
	return client.Selector{
		Ids: s.ID, Reason: given(client.Reason(s.Reason)), Outcome: given(client.Outcome(s.Outcome)), Source: given(s.Source), Target: given(s.Target),
		Run: given(s.Of), Owner: given(s.Owner), FirstAttemptFrom: given(s.From), FirstAttemptTo: given(s.To),
	}
}

type runsStartCommand struct {
	remote
	entrySelector
	Mode         string `enum:"checked,unchanged_fields" default:"checked" placeholder:"MODE" help:"checked: both checks (default); unchanged_fields: leave out what changed."`
	Limit        int    `placeholder:"N" help:"Take at most so many entries, the oldest first attempts."`
	WithSiblings bool   `help:"Take along the other pending entries of the records."`
	By           string `placeholder:"NAME" help:"Who asks for it (default: the token's name)."`
	Note         string `placeholder:"TEXT" help:"What it is for."`
	DryRun       bool   `help:"Claim nothing; print what a run would come to."`
	Watch        bool   `help:"Follow the run to its end; exit code 1 when it is not completed, or an entry ended as replay failed."`
	Yes          bool   `short:"y" help:"Start without a dry run and without asking."`
}

// Help shows how the command is used.
func (runsStartCommand) Help() string {
	return `Only entries pending review are taken. Unless --yes is said, a dry run comes first, and its forecast is asked about.

Examples:

	airtable-replay runs start --reason transient_exhausted --watch
	airtable-replay runs start --target Orders --from 2026-10-01T00:00:00Z --to 2026-10-02T00:00:00Z --dry-run
	airtable-replay runs start --outcome needs_review --owner ann --mode unchanged_fields --yes`
}

// Validate refuses a run over everything, which nobody means.
func (c *runsStartCommand) Validate() error {
	errs := []error{c.remote.Validate()}
	s := c.selector()
	if len(s.Ids) == 0 && s.Reason == nil && s.Outcome == nil && s.Source == nil && s.Target == nil && s.Run == nil && s.Owner == nil &&
		s.FirstAttemptFrom == nil && s.FirstAttemptTo == nil {
		errs = append(errs, errors.New("say which entries: --reason, --outcome, --source, --target, --run, --owner, --from, --to or --id"))
	}
	if c.Limit < 0 {
		errs = append(errs, fmt.Errorf("--limit: %d is less than 1", c.Limit))
	}
	return errors.Join(errs...)
}

// Run implements the command.
func (c *runsStartCommand) Run(p *process) error {
	api, err := c.dial()
	if err != nil {
		return err
	}
	if c.DryRun || !c.Yes {
		dry, err := c.forecast(p, api)
		if err != nil {
			return err
		}
		if c.DryRun {
			return c.show(p, dry.raw, func() string { return forecastText(dry.value, p.columns()) })
		}
		p.note("%s", forecastText(dry.value, p.columns()))
		if err := p.confirm("Start the run?", false); err != nil {
			return err
		}
	}
	started, err := c.start(p, api, false)
	if err != nil {
		return err
	}
	if !c.Watch {
		return c.show(p, started.raw, func() string {
			return fmt.Sprintf("Run %s has claimed %s.\n", printable(started.value.ID), entriesText(started.value.Counts.Claimed))
		})
	}
	return watch(p, &c.remote, api, started.value.ID)
}

func (c *runsStartCommand) start(p *process, api *client.ClientWithResponses, dry bool) (answer[client.Run], error) {
	body := client.RunRequest{
		Selector: c.selector(), Mode: given(client.Mode(c.Mode)), WithSiblings: given(c.WithSiblings), Limit: given(c.Limit),
		RequestedBy: given(c.By), Note: given(c.Note), DryRun: given(dry),
	}
	return create[client.Run](p, func(key *client.IdempotencyKey) (reply, error) {
		return api.StartRunWithResponse(p.ctx, &client.StartRunParams{IdempotencyKey: key}, body)
	})
}

// forecast makes a dry run and waits until it has judged every entry.
func (c *runsStartCommand) forecast(p *process, api *client.ClientWithResponses) (answer[client.Run], error) {
	dry, err := c.start(p, api, true)
	if err != nil {
		return dry, err
	}
	bar := newProgress(p, c.JSON)
	err = follow(p, api, dry.value.ID, bar.draw)
	bar.end()
	if err != nil {
		return dry, err
	}
	return ask[client.Run](api.ShowRunWithResponse(p.ctx, dry.value.ID))
}

// forecastText is what a run would come to.
func forecastText(r client.Run, line int) string {
	f := r.Forecast
	if f == nil {
		return fmt.Sprintf("The dry run is %s and tells nothing.\n", plain(string(r.Status)))
	}
	var b strings.Builder
	fmt.Fprintf(&b, "A run would claim %s about %s: %d created, %d updated", entriesText(f.Selected), counted(f.Records, "record"), f.Created, f.Updated)
	if f.Merged > 0 {
		fmt.Fprintf(&b, ", %d merged into another entry's write", f.Merged)
	}
	fmt.Fprintf(&b, ".\nIt takes about %s to Airtable, %s at the bases' pace.\n", counted(f.Requests, "request"), spanText(f.Seconds))
	if r.LeftOut > 0 {
		fmt.Fprintf(&b, "%s left out: failed too often by their own fault; an admin can replay them one by one.\n", entriesText(r.LeftOut))
	}
	if len(f.Outcomes) > 0 {
		spelled := client.Tally{}
		for outcome, n := range f.Outcomes {
			spelled[plain(outcome)] = n
		}
		b.WriteString("\n" + tallyText("OUTCOME", spelled, line))
	}
	if len(f.Reasons) > 0 {
		b.WriteString("\n" + tallyText("REASON", f.Reasons, line))
	}
	return b.String()
}

func counted(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// spanText is a time in seconds, roughly.
func spanText(seconds int) string {
	switch {
	case seconds < 90:
		return fmt.Sprintf("%ds", seconds)
	case seconds < 90*60:
		return fmt.Sprintf("%d min", (seconds+30)/60)
	}
	return fmt.Sprintf("%d h %d min", seconds/3600, seconds%3600/60)
}

type runsListCommand struct {
	remote
	Limit  int    `default:"50" placeholder:"N" help:"Runs of a page, at most 200 (default ${default})."`
	Cursor string `placeholder:"CURSOR" help:"Where the page before has ended."`
}

// Help shows how the command is used.
func (runsListCommand) Help() string {
	return `Example:

	airtable-replay runs list --limit 20`
}

// Validate refuses pages that no service gives.
func (c *runsListCommand) Validate() error {
	return errors.Join(c.remote.Validate(), pageFits(c.Limit))
}

// Run implements the command.
func (c *runsListCommand) Run(p *process) error {
	api, err := c.dial()
	if err != nil {
		return err
	}
	a, err := ask[client.RunList](api.ListRunsWithResponse(p.ctx, &client.ListRunsParams{Limit: &c.Limit, Cursor: given(c.Cursor)}))
	if err != nil {
		return err
	}
	if len(a.value.Runs) == 0 && !c.JSON {
		p.note("There are no runs.")
		return nil
	}
	if err := c.show(p, a.raw, func() string {
		g := newGrid(column{title: "ID"}, column{title: "KIND"}, column{title: "STATUS"}, column{title: "DONE"}, column{title: "BY", least: 5, drop: 2},
			column{title: "CREATED", drop: 1}, column{title: "NOTE", least: 4, drop: 3})
		for _, r := range a.value.Runs {
			n, of := extent(r)
			g.add(r.ID, kindText(r)+aboutText(r), statusText(r), fmt.Sprintf("%d/%d", n, of), r.RequestedBy, minute(r.CreatedAt), r.Note)
		}
		return g.page(p.columns())
	}); err != nil {
		return err
	}
	if a.value.NextCursor != nil && !c.JSON {
		p.note("There are more: add --cursor %s", *a.value.NextCursor)
	}
	return nil
}

func kindText(r client.Run) string {
	if r.DryRun {
		return "dry run"
	}
	return string(r.Kind)
}

// idTail is how much of an ID tells it apart in a list: IDs of one day begin alike.
const idTail = 6

// aboutText is the end of the ID of the entry that a run is about, where it is about a single one.
func aboutText(r client.Run) string {
	if r.DryRun || len(r.Selector.Ids) != 1 {
		return ""
	}
	id := r.Selector.Ids[0]
	return " …" + id[max(0, len(id)-idTail):]
}

// statusText is the state of a run; numbers that do not add up are told loudly (mission B5).
func statusText(r client.Run) string {
	text := plain(string(r.Status))
	if r.FinishedAt != nil && !r.DryRun && !r.Reconciliation.Balanced {
		text += ", UNBALANCED"
	}
	return text
}

// done counts the entries of which the run has made an end; of a restore, the fields.
func done(r client.Run) int {
	n := r.Counts
	return n.Replayed + n.PartiallyReplayed + n.Superseded + n.NeedsReview + n.ReplayFailed + n.Restored + n.Refused + n.Released
}

// extent is how many entries are done, of how many; a dry run's are judged.
func extent(r client.Run) (n, of int) {
	switch {
	case !r.DryRun:
		return done(r), r.Counts.Claimed
	case r.Forecast == nil:
		return 0, 0
	}
	return r.Forecast.Checked, r.Forecast.Selected
}

type runsShowCommand struct {
	remote
	ID string `arg:"" help:"The run's ID."`
}

// Help shows how the command is used.
func (runsShowCommand) Help() string {
	return `Example:

	airtable-replay runs show 0199aa00-0000-7000-8000-000000000002`
}

// Run implements the command.
func (c *runsShowCommand) Run(p *process) error {
	api, err := c.dial()
	if err != nil {
		return err
	}
	a, err := ask[client.Run](api.ShowRunWithResponse(p.ctx, c.ID))
	if err != nil {
		return err
	}
	return showRun(p, &c.remote, a)
}

// runText is everything about a run.
func runText(r client.Run, line int) string {
	f := facts{line: line}
	fmt.Fprintf(&f, "%s  %s, %s\n", printable(r.ID), kindText(r), statusText(r))
	f.say("Because", "%s", string(orNone(r.Reason)))
	f.say("Asked by", "%s, %s", r.RequestedBy, clock(r.CreatedAt))
	f.say("Note", "%s", r.Note)
	f.say("Mode", "%s", string(r.Mode))
	f.say("Started", "%s", clock(orNone(r.StartedAt)))
	f.say("Ended", "%s", clock(orNone(r.FinishedAt)))
	for _, told := range r.Notices {
		f.say("Told", "%s", noticeText(told))
	}
	if r.DryRun {
		return f.String() + "\n" + forecastText(r, line)
	}
	items, claimed := "ENTRIES", entriesText(r.Counts.Claimed)
	if r.Kind == client.RunKindRestore {
		items, claimed = "FIELDS", counted(r.Counts.Claimed, "field")
	}
	f.say("Claimed", "%s", claimed)
	g := newGrid(column{title: "OUTCOME"}, column{title: items})
	for _, o := range outcomesOf(r.Counts) {
		if o.n > 0 {
			g.add(o.name, fmt.Sprint(o.n))
		}
	}
	if waiting := r.Counts.Claimed - done(r); waiting > 0 {
		g.add("waiting", fmt.Sprint(waiting))
	}
	f.WriteString("\n" + g.page(line))
	n := r.Reconciliation
	fmt.Fprintf(&f, "\nRecords: %d created, %d updated, %d unchanged; %s merged into another entry's write.\n", n.Created, n.Updated, n.Unchanged, entriesText(n.Merged))
	if r.FinishedAt != nil && !n.Balanced {
		f.WriteString("THE NUMBERS DO NOT ADD UP: look at the history of the run's entries, and tell the admins.\n")
	}
	if len(n.SkippedByReason) > 0 {
		f.WriteString("\n" + countText("LEFT OUT BECAUSE", "FIELDS", n.SkippedByReason, line))
	}
	return f.String()
}

// noticeText is what downstream was told.
func noticeText(n client.Notice) string {
	text := n.Endpoint + " of " + n.Event
	switch {
	case !n.Delivered && n.LastError != "":
		text += fmt.Sprintf(", not delivered after %s: %s", counted(n.Attempts, "attempt"), n.LastError)
	case !n.Delivered:
		text += ", on its way"
	}
	return text
}

// tallied is one outcome of a run.
type tallied struct {
	name string
	n    int
}

func outcomesOf(n client.Counts) []tallied {
	return []tallied{
		{"replayed", n.Replayed}, {"partially replayed", n.PartiallyReplayed}, {"superseded", n.Superseded},
		{"needs review", n.NeedsReview}, {"replay failed", n.ReplayFailed}, {"restored", n.Restored}, {"refused", n.Refused}, {"released", n.Released},
	}
}
