package main

import (
	"fmt"

	"airtable-replay/api/client"
)

// basesCommand is about the Airtable bases.
type basesCommand struct {
	List   basesListCommand   `cmd:"" help:"List the bases and what waits for each."`
	Halt   basesHaltCommand   `cmd:"" help:"Stop all work on a base."`
	Resume basesResumeCommand `cmd:"" help:"Let a halted base go on."`
}

type basesListCommand struct{ remote }

// Help shows how the command is used.
func (basesListCommand) Help() string {
	return `Example:

	airtable-replay bases list`
}

// Run implements the command.
func (c *basesListCommand) Run(p *process) error {
	api, err := c.dial()
	if err != nil {
		return err
	}
	a, err := ask[client.BaseList](api.ListBasesWithResponse(p.ctx))
	if err != nil {
		return err
	}
	return c.show(p, a.raw, func() string { return basesText(a.value.Bases, p.columns()) })
}

func basesText(bases []client.Base, line int) string {
	g := newGrid(column{title: "BASE"}, column{title: "STATE"}, column{title: "ENTRIES"}, column{title: "WRITES"}, column{title: "ROWS"},
		column{title: "SINCE/UNTIL", drop: 1}, column{title: "WHY", least: 10})
	for _, b := range bases {
		at := ""
		switch b.State {
		case client.BaseStateHalted:
			at = "since " + clock(orNone(b.HaltedAt))
		case client.BaseStatePaused:
			at = "until " + clock(orNone(b.PausedUntil))
		case client.BaseStateRunning:
		}
		g.add(b.Name, string(b.State), fmt.Sprint(b.WaitingEntries), fmt.Sprint(b.WaitingWrites), fmt.Sprint(b.WaitingMirror), at, b.Reason)
	}
	text := g.page(line)
	for _, b := range bases {
		if b.MirrorHeldUntil != nil {
			text += hang(printable(fmt.Sprintf("%s: rows for the dead letter table wait until %s: %s", b.Name, clock(*b.MirrorHeldUntil), b.MirrorProblem)), 2, line) + "\n"
		}
	}
	return text
}

type basesHaltCommand struct {
	remote
	Name   string `arg:"" help:"The base, as the configuration calls it."`
	Reason string `placeholder:"TEXT" help:"Why; shown to everybody who presses meanwhile."`
	Yes    bool   `short:"y" help:"Do not ask."`
}

// Help shows how the command is used.
func (basesHaltCommand) Help() string {
	return `Work stays where it is until the base is resumed; presses are refused. Entries that are claimed and not yet written go back to pending review.

Example:

	airtable-replay bases halt orders --reason "moving the table" --yes`
}

// Run implements the command.
func (c *basesHaltCommand) Run(p *process) error {
	api, err := c.dial()
	if err != nil {
		return err
	}
	if err := p.confirm("This will stop all work on the base "+printable(c.Name)+".", c.Yes); err != nil {
		return err
	}
	a, err := ask[client.BaseList](api.HaltBaseWithResponse(p.ctx, c.Name, client.Order{Reason: given(c.Reason)}))
	if err != nil {
		return err
	}
	return c.show(p, a.raw, func() string { return basesText(a.value.Bases, p.columns()) })
}

type basesResumeCommand struct {
	remote
	Name string `arg:"" help:"The base, as the configuration calls it."`
}

// Help shows how the command is used.
func (basesResumeCommand) Help() string {
	return `Example:

	airtable-replay bases resume orders`
}

// Run implements the command.
func (c *basesResumeCommand) Run(p *process) error {
	api, err := c.dial()
	if err != nil {
		return err
	}
	a, err := ask[client.BaseList](api.ResumeBaseWithResponse(p.ctx, c.Name))
	if err != nil {
		return err
	}
	return c.show(p, a.raw, func() string { return basesText(a.value.Bases, p.columns()) })
}
