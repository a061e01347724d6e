package main

import (
	"strings"

	"airtable-replay/api/client"
)

type entriesRestoreCommand struct {
	remote
	ID     string `arg:"" help:"The entry's ID, or the Airtable record ID of its row in the dead letter table."`
	Reason string `placeholder:"TEXT" help:"Why; kept in the history."`
	By     string `placeholder:"NAME" help:"Who asks for it (default: the token's name)."`
	DryRun bool   `help:"Only tell what would be written back, and what cannot be."`
	Watch  bool   `help:"Follow the restore to its end; exit code 1 when it is not completed."`
	Yes    bool   `short:"y" help:"Do not show it first and ask."`
}

// Help shows how the command is used.
func (entriesRestoreCommand) Help() string {
	return `A field is written back only where the record still holds what the replay wrote and nobody has touched it since. The entry stays resolved.

Examples:

	airtable-replay entries restore 0199aa00-0000-7000-8000-000000000001 --dry-run
	airtable-replay entries restore 0199aa00-0000-7000-8000-000000000001 --reason "wrong order" --watch`
}

// Run implements the command.
func (c *entriesRestoreCommand) Run(p *process) error {
	api, err := c.dial()
	if err != nil {
		return err
	}
	if c.DryRun || !c.Yes {
		a, err := ask[client.RestorePreview](api.PreviewRestoreWithResponse(p.ctx, c.ID))
		if err != nil {
			return astray(err, c.ID)
		}
		if c.DryRun {
			return c.show(p, a.raw, func() string { return restoreText(a.value, p.columns()) })
		}
		p.note("%s", restoreText(a.value, p.columns()))
		if err := p.confirm("Write the values back?", false); err != nil {
			return err
		}
	}
	a, err := create[client.Run](p, func(key *client.IdempotencyKey) (reply, error) {
		return api.RestoreEntryWithResponse(p.ctx, c.ID, &client.RestoreEntryParams{IdempotencyKey: key}, client.RestoreRequest{Reason: given(c.Reason), RequestedBy: given(c.By)})
	})
	if err != nil {
		return astray(err, c.ID)
	}
	if c.Watch {
		return watch(p, &c.remote, api, a.value.ID)
	}
	return c.show(p, a.raw, func() string { return "Accepted as run " + printable(a.value.ID) + ".\n" })
}

// restoreText is what a restore would do, field by field.
func restoreText(v client.RestorePreview, line int) string {
	f := facts{line: line}
	f.WriteString(map[bool]string{true: "A restore would write values back", false: "Nothing can be restored"}[v.Possible] + "\n")
	f.say("Record", "%s", orNone(v.RecordID))
	f.say("Note", "%s", strings.Join(v.Notes, " "))
	if len(v.Fields) > 0 {
		f.WriteString("\n" + checksText(v.Fields, "BEFORE THE REPLAY", line))
	}
	return f.String()
}
