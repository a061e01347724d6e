package main

import (
	"bufio"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"airtable-replay/api/client"
)

const (
	// manyEntries is from how many entries on an order is asked about.
	manyEntries = 10
	// orderLimit is how many entries the service takes in one order.
	orderLimit = 1000
)

// chosenEntries are the entries of an order.
type chosenEntries struct {
	IDs []string `arg:"" name:"ids" placeholder:"ID" help:"IDs of entries, or record IDs of their rows; - reads them from standard input, one a line."`
	Yes bool     `short:"y" help:"Do not ask, however many there are."`
}

// read gives the IDs, each once, and asks when there are many.
func (c chosenEntries) read(p *process, what string) ([]string, error) {
	ids := c.IDs
	if slices.Equal(ids, []string{"-"}) {
		ids = nil
		lines := bufio.NewScanner(p.stdin)
		for lines.Scan() {
			if id := strings.TrimSpace(lines.Text()); id != "" {
				ids = append(ids, id)
			}
		}
		if err := lines.Err(); err != nil {
			return nil, fmt.Errorf("read IDs: %w", err)
		}
	}
	var once []string
	seen := map[string]bool{}
	for _, id := range ids {
		if !seen[id] {
			once = append(once, id)
		}
		seen[id] = true
	}
	if len(once) == 0 {
		return nil, usage("no entries are named")
	}
	if len(once) < manyEntries {
		return once, nil
	}
	return once, p.confirm(fmt.Sprintf("This will %s %d entries.", what, len(once)), c.Yes)
}

// send gives an order on entries, by as many requests as it takes, and tells what came of it.
func (c chosenEntries) send(p *process, r *remote, done string, order func(ids []string) (reply, error)) error {
	var changed []string
	var refused []client.BulkRefusal
	ids, err := c.read(p, orderWord(done))
	if err != nil {
		return err
	}
	for chunk := range slices.Chunk(ids, orderLimit) {
		a, err := ask[client.BulkAnswer](order(chunk))
		if err != nil {
			return errors.Join(err, interruptedOrder(done, len(changed)))
		}
		changed, refused = append(changed, a.value.Changed...), append(refused, a.value.Refused...)
		if r.JSON {
			if err := p.print(harmless(a.raw) + "\n"); err != nil {
				return err
			}
		}
	}
	return tellOrder(p, r, done, len(changed), refused)
}

// orderWord is the order of which done is the past.
func orderWord(done string) string {
	return map[string]string{"ignored": "ignore", "reopened": "reopen", "assigned": "assign", "reset": "reset"}[done]
}

func interruptedOrder(done string, n int) error {
	if n == 0 {
		return nil
	}
	return fmt.Errorf("%d entries were %s before that", n, done)
}

func tellOrder(p *process, r *remote, done string, changed int, refused []client.BulkRefusal) error {
	if !r.JSON {
		if err := p.print(fmt.Sprintf("%s %s.\n", entriesText(changed), done)); err != nil {
			return err
		}
	}
	if len(refused) == 0 {
		return nil
	}
	lines := []string{entriesText(len(refused)) + " refused:"}
	for _, no := range refused {
		lines = append(lines, printable(no.ID+": "+no.Detail))
	}
	return errors.New(strings.Join(lines, "\n"))
}

func entriesText(n int) string {
	if n == 1 {
		return "1 entry"
	}
	return fmt.Sprintf("%d entries", n)
}

type entriesIgnoreCommand struct {
	remote
	chosenEntries
	Reason string `placeholder:"TEXT" help:"Why; kept in the history."`
}

// Help shows how the command is used.
func (entriesIgnoreCommand) Help() string {
	return `Examples:

	airtable-replay entries ignore 0199aa00-0000-7000-8000-000000000001 --reason "test order"
	airtable-replay entries list --source old-system --ids --all | airtable-replay entries ignore - --reason "system is off" --yes`
}

// Run implements the command.
func (c *entriesIgnoreCommand) Run(p *process) error {
	api, err := c.dial()
	if err != nil {
		return err
	}
	return c.send(p, &c.remote, "ignored", func(ids []string) (reply, error) {
		return api.IgnoreEntriesWithResponse(p.ctx, client.BulkOrder{Ids: ids, Reason: given(c.Reason)})
	})
}

type entriesReopenCommand struct {
	remote
	chosenEntries
	Reason string `required:"" placeholder:"TEXT" help:"Why; kept in the history."`
}

// Help shows how the command is used.
func (entriesReopenCommand) Help() string {
	return `Example:

	airtable-replay entries reopen 0199aa00-0000-7000-8000-000000000001 --reason "closed by mistake"`
}

// Run implements the command.
func (c *entriesReopenCommand) Run(p *process) error {
	api, err := c.dial()
	if err != nil {
		return err
	}
	return c.send(p, &c.remote, "reopened", func(ids []string) (reply, error) {
		return api.ReopenEntriesWithResponse(p.ctx, client.BulkOrder{Ids: ids, Reason: given(c.Reason)})
	})
}

type entriesAssignCommand struct {
	remote
	chosenEntries
	Owner string `required:"" placeholder:"NAME" help:"Who takes care of them; empty for nobody."`
}

// Help shows how the command is used.
func (entriesAssignCommand) Help() string {
	return `Examples:

	airtable-replay entries assign 0199aa00-0000-7000-8000-000000000001 --owner ann
	airtable-replay entries assign 0199aa00-0000-7000-8000-000000000001 --owner ""`
}

// Run implements the command.
func (c *entriesAssignCommand) Run(p *process) error {
	api, err := c.dial()
	if err != nil {
		return err
	}
	return c.send(p, &c.remote, "assigned", func(ids []string) (reply, error) {
		return api.AssignEntriesWithResponse(p.ctx, client.BulkAssignment{Ids: ids, AssignedOwner: &c.Owner})
	})
}

type entriesResetCommand struct {
	remote
	chosenEntries
	Reason string `placeholder:"TEXT" help:"Why; kept in the history."`
}

// Help shows how the command is used.
func (entriesResetCommand) Help() string {
	return `An entry that a living pass is writing at this moment is refused. The record needs checking: the write may have landed.

Example:

	airtable-replay entries reset 0199aa00-0000-7000-8000-000000000001 --reason "worker lost"`
}

// Run implements the command. The service resets one entry at a time.
func (c *entriesResetCommand) Run(p *process) error {
	api, err := c.dial()
	if err != nil {
		return err
	}
	ids, err := c.read(p, "reset")
	if err != nil {
		return err
	}
	done := 0
	var refused []client.BulkRefusal
	for _, id := range ids {
		a, err := ask[client.Entry](api.ResetEntryWithResponse(p.ctx, id, client.Order{Reason: given(c.Reason)}))
		problem, isProblem := errors.AsType[*problemError](err)
		switch {
		case isProblem && (problem.Status == http.StatusConflict || problem.Status == http.StatusNotFound):
			refused = append(refused, client.BulkRefusal{ID: id, Problem: problem.Type, Detail: problem.Detail})
		case err != nil:
			return errors.Join(err, interruptedOrder("reset", done))
		default:
			done++
			if c.JSON {
				if err := p.print(harmless(a.raw) + "\n"); err != nil {
					return err
				}
			}
		}
	}
	return tellOrder(p, &c.remote, "reset", done, refused)
}

// stuckCommand is about entries that nobody works on any more.
type stuckCommand struct {
	List  stuckListCommand  `cmd:"" help:"List entries that are replaying without progress."`
	Reset stuckResetCommand `cmd:"" help:"Return them to pending review."`
}

type stuckListCommand struct{ remote }

// Help shows how the command is used.
func (stuckListCommand) Help() string {
	return `Example:

	airtable-replay entries stuck list`
}

// Run implements the command.
func (c *stuckListCommand) Run(p *process) error {
	api, err := c.dial()
	if err != nil {
		return err
	}
	a, err := ask[client.StuckList](api.ListStuckWithResponse(p.ctx))
	if err != nil {
		return err
	}
	if len(a.value.Entries) == 0 && !c.JSON {
		p.note("No entry is stuck.")
		return nil
	}
	return c.show(p, a.raw, func() string {
		g := newEntryGrid()
		for _, e := range a.value.Entries {
			addEntry(g, e)
		}
		return g.page(p.columns())
	})
}

type stuckResetCommand struct {
	remote
	IDs []string `arg:"" optional:"" name:"ids" placeholder:"ID" help:"IDs of entries; none: all that are stuck."`
	Yes bool     `short:"y" help:"Do not ask before all are reset."`
}

// Help shows how the command is used.
func (stuckResetCommand) Help() string {
	return `The sweeper does so by itself after the configuration's stuck_after. Each record needs checking: its write may have landed.

Examples:

	airtable-replay entries stuck reset 0199aa00-0000-7000-8000-000000000001
	airtable-replay entries stuck reset --yes`
}

// Run implements the command.
func (c *stuckResetCommand) Run(p *process) error {
	api, err := c.dial()
	if err != nil {
		return err
	}
	if len(c.IDs) == 0 {
		if err := p.confirm("This will reset every entry that is stuck.", c.Yes); err != nil {
			return err
		}
	}
	a, err := ask[client.StuckAnswer](api.ResetStuckWithResponse(p.ctx, client.StuckReset{Ids: c.IDs}))
	if err != nil {
		return err
	}
	return c.show(p, a.raw, func() string { return entriesText(a.value.Reset) + " reset.\n" })
}
