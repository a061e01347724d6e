package main

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"

	"airtable-replay/api/client"
)

type entriesEditCommand struct {
	remote
	ID     string `arg:"" help:"The entry's ID, or the Airtable record ID of its row in the dead letter table."`
	Reason string `required:"" placeholder:"TEXT" help:"Why it is edited; kept with the edit."`
	File   string `placeholder:"FILE" help:"Take the payload from a file (- is standard input) in place of the editor."`
}

// Help shows how the command is used.
func (entriesEditCommand) Help() string {
	return `The editor is the one that VISUAL or EDITOR names. The payload as filed and every edit are kept. An edit that the service refuses stays in its file.

Examples:

	airtable-replay entries edit 0199aa00-0000-7000-8000-000000000001 --reason "the date was in American order"
	airtable-replay entries edit 0199aa00-0000-7000-8000-000000000001 --file mended.json --reason "sent again by hand"`
}

// Run implements the command.
func (c *entriesEditCommand) Run(p *process) error {
	api, err := c.dial()
	if err != nil {
		return err
	}
	e, err := ask[client.Entry](api.ShowEntryWithResponse(p.ctx, c.ID))
	if err != nil {
		return astray(err, c.ID)
	}
	before := payloadOf(e.value.RawPayload, e.value.RawPayloadBase64)
	after, kept, err := c.edited(p, before)
	if err != nil {
		return err
	}
	if bytes.Equal(before, after) {
		p.note("The payload is as it was; nothing was sent.")
		return discard(kept)
	}
	body := client.PayloadEdit{Reason: c.Reason, ExpectRevision: &e.value.PayloadRevision}
	body.RawPayload, body.RawPayloadBase64 = payloadMembers(after)
	a, err := ask[client.Entry](api.EditPayloadWithResponse(p.ctx, c.ID, body))
	if err != nil {
		if kept != "" {
			err = fmt.Errorf("%w\nyour edit is kept in %s", err, kept)
		}
		return err
	}
	if err := discard(kept); err != nil {
		return err
	}
	return c.show(p, a.raw, func() string {
		return fmt.Sprintf("Payload saved as edit %d. airtable-replay entries preview %s tells what a replay would do.\n", a.value.PayloadRevision, printable(a.value.ID))
	})
}

// edited gives the new payload, and the file that holds it when that was made here.
func (c *entriesEditCommand) edited(p *process, before []byte) (after []byte, kept string, err error) {
	switch c.File {
	case "":
		return edit(p, before)
	case "-":
		after, err = io.ReadAll(p.stdin)
	default:
		after, err = os.ReadFile(c.File)
	}
	if err != nil {
		return nil, "", usage("--file: %w", err)
	}
	return after, "", nil
}

// edit lets a person change text in an editor. A line end that the editor adds at the end is taken off
// again, since payloads are kept byte for byte.
func edit(p *process, before []byte) (after []byte, file string, err error) {
	editor := cmp.Or(os.Getenv("VISUAL"), os.Getenv("EDITOR"))
	if editor == "" {
		return nil, "", usage("no editor is named: set EDITOR, or use --file")
	}
	dir, err := os.MkdirTemp("", "airtable-replay-")
	if err != nil {
		return nil, "", fmt.Errorf("make file to edit: %w", err)
	}
	file = filepath.Join(dir, "payload.json")
	if err := os.WriteFile(file, before, 0o600); err != nil {
		return nil, "", fmt.Errorf("make file to edit: %w", err)
	}
	cmd := exec.CommandContext(p.ctx, "sh", "-c", editor+` "$1"`, "sh", file) //nolint:gosec // the user's own editor, which may have arguments
	cmd.Stdin, cmd.Stdout, cmd.Stderr = p.stdin, p.stdout, p.stderr
	if err := cmd.Run(); err != nil {
		return nil, "", fmt.Errorf("run editor %s: %w: the file is %s", editor, err, file)
	}
	if after, err = os.ReadFile(file); err != nil {
		return nil, "", fmt.Errorf("read edited file: %w", err)
	}
	if !bytes.HasSuffix(before, []byte("\n")) {
		after = bytes.TrimSuffix(after, []byte("\n"))
	}
	return after, file, nil
}

// discard removes a file of edit with its folder.
func discard(file string) error {
	if file == "" {
		return nil
	}
	if err := os.RemoveAll(filepath.Dir(file)); err != nil {
		return fmt.Errorf("remove edited file: %w", err)
	}
	return nil
}

type entriesFileCommand struct {
	remote
	Source        string `required:"" placeholder:"NAME" help:"The source system."`
	Reason        string `required:"" placeholder:"CODE" help:"Why the write failed, such as transient_exhausted."`
	FirstAttempt  string `required:"" placeholder:"TIME" help:"When it was tried first, such as 2026-10-02T09:00:00Z."`
	Payload       string `default:"-" placeholder:"FILE" help:"The payload as it was to be sent; - is standard input (default)."`
	Operation     string `enum:",update,upsert" default:"" placeholder:"WORD" help:"update: the record must exist (default); upsert: it is created when missing."`
	Target        string `placeholder:"NAME" help:"The target, where the source does not tell."`
	TargetID      string `name:"target-id" placeholder:"ID" help:"The sender's ID of the record, where the payload does not tell."`
	SourceVersion string `placeholder:"VERSION" help:"The payload's version, where the payload does not tell."`
	StatusCode    int    `placeholder:"N" help:"HTTP status of the last attempt."`
	Attempts      int32  `placeholder:"N" help:"How often it was tried."`
	ErrorDetail   string `placeholder:"TEXT" help:"What the last attempt said."`
	Owner         string `placeholder:"NAME" help:"Who takes care of it."`
}

// Help shows how the command is used.
func (entriesFileCommand) Help() string {
	return `Filing the same source, payload and first attempt again gives the entry filed before.

Examples:

	airtable-replay entries file --source order-system --reason transient_exhausted --first-attempt 2026-10-02T13:00:00Z --payload order.json
	curl -s https://orders.example/orders/4 | airtable-replay entries file --source order-system --reason other --first-attempt 2026-10-02T13:00:00Z`
}

// Run implements the command.
func (c *entriesFileCommand) Run(p *process) error {
	api, err := c.dial()
	if err != nil {
		return err
	}
	payload, err := c.read(p)
	if err != nil {
		return usage("--payload: %w", err)
	}
	body := client.Filing{
		SourceSystem: c.Source, ReasonCode: client.Reason(c.Reason), FirstAttemptAt: c.FirstAttempt, Operation: given(client.Operation(c.Operation)),
		TargetTable: given(c.Target), TargetID: given(c.TargetID), SourceVersion: given(c.SourceVersion), StatusCode: given(c.StatusCode),
		Attempts: given(c.Attempts), ErrorDetail: given(c.ErrorDetail), AssignedOwner: given(c.Owner),
	}
	body.RawPayload, body.RawPayloadBase64 = payloadMembers(payload)
	a, err := create[client.Entry](p, func(key *client.IdempotencyKey) (reply, error) {
		return api.FileEntryWithResponse(p.ctx, &client.FileEntryParams{IdempotencyKey: key}, body)
	})
	if err != nil {
		return err
	}
	if a.value.TargetTable == "" {
		p.note("The source %s is not configured: the entry cannot be replayed until it is.", printable(a.value.SourceSystem))
	}
	return c.show(p, a.raw, func() string {
		how := "Filed as "
		if a.status == http.StatusOK {
			how = "Was filed before as "
		}
		return how + printable(a.value.ID) + ", " + printable(recordOf(a.value)) + ".\n"
	})
}

func (c *entriesFileCommand) read(p *process) ([]byte, error) {
	if c.Payload != "-" {
		return os.ReadFile(c.Payload)
	}
	if terminal(p.stdin) {
		return nil, errors.New("name a file, or send the payload to standard input")
	}
	return io.ReadAll(p.stdin)
}
