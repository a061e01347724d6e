package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"airtable-replay/api/client"
)

// modal are the flags about how an entry is replayed.
type modal struct {
	Mode  string   `enum:"checked,unchanged_fields,chosen_fields,overwrite" default:"checked" placeholder:"MODE" help:"checked: both checks (default); unchanged_fields: leave out what changed; chosen_fields: write the fields named, whatever changed; overwrite: no check at all (admin, with a reason)."`
	Field []string `sep:"none" placeholder:"NAME" help:"With chosen_fields: a field to write; repeat it for more."`
}

func (m modal) validate() error {
	if (m.Mode == string(client.ModeChosenFields)) != (len(m.Field) > 0) {
		return errors.New("--field: needed with --mode chosen_fields, and only there")
	}
	return nil
}

type entriesPreviewCommand struct {
	remote
	modal
	ID string `arg:"" help:"The entry's ID, or the Airtable record ID of its row in the dead letter table."`
}

// Help shows how the command is used.
func (entriesPreviewCommand) Help() string {
	return `The record is read from Airtable; nothing is written.

Examples:

	airtable-replay entries preview 0199aa00-0000-7000-8000-000000000001
	airtable-replay entries preview 0199aa00-0000-7000-8000-000000000001 --mode chosen_fields --field Status`
}

// Validate refuses modes that do not fit their fields.
func (c *entriesPreviewCommand) Validate() error {
	return errors.Join(c.remote.Validate(), c.modal.validate())
}

// Run implements the command.
func (c *entriesPreviewCommand) Run(p *process) error {
	api, err := c.dial()
	if err != nil {
		return err
	}
	a, err := c.preview(p, api, c.ID)
	if err != nil {
		return astray(err, c.ID)
	}
	hindrance := ""
	if !c.JSON {
		if hindrance, err = hindranceOf(p, api, c.ID); err != nil {
			return err
		}
	}
	return c.show(p, a.raw, func() string { return hindrance + previewText(a.value, p.columns()) })
}

// hindranceOf says why a press on an entry would be refused whatever the checks say; empty: it would not.
func hindranceOf(p *process, api *client.ClientWithResponses, id string) (string, error) {
	e, err := ask[client.Entry](api.ShowEntryWithResponse(p.ctx, id))
	if err != nil || e.value.Status == client.StatusPendingReview {
		return "", err
	}
	return fmt.Sprintf("A press would be refused: the entry is %s, not pending review. Were it pending:\n\n", plain(string(e.value.Status))), nil
}

func (m modal) preview(p *process, api *client.ClientWithResponses, id string) (answer[client.Preview], error) {
	return ask[client.Preview](api.PreviewReplayWithResponse(p.ctx, id, &client.PreviewReplayParams{Mode: given(client.Mode(m.Mode)), Fields: m.Field}))
}

// previewText is a decision, field by field.
func previewText(v client.Preview, line int) string {
	f := facts{line: line}
	f.WriteString("A replay would end as " + plain(string(v.Outcome)))
	if v.Reason != nil {
		f.WriteString(" (" + string(*v.Reason) + ")")
	}
	f.WriteString("\n")
	f.say("Why", "%s", v.Note)
	if v.RecordID != nil || v.Action != client.PreviewActionNone {
		f.say("Record", "%s", strings.TrimSpace(orNone(v.RecordID)+" "+actionText(v.Action)))
	}
	f.say("Version after", "%s", orNone(v.Version))
	if len(v.Fields) > 0 {
		f.WriteString("\n" + checksText(v.Fields, "INCOMING", line))
	}
	return f.String()
}

// checksText is a table of fields, with what would come into each.
func checksText(checks []client.FieldCheck, incoming string, line int) string {
	g := newGrid(column{title: "FIELD", least: 8}, column{title: "ACTION"}, column{title: "CURRENT", least: 8}, column{title: incoming, least: 8}, column{title: "WHY", least: 8})
	for _, c := range checks {
		g.add(c.Field, string(c.Action), valueText(c.Current), valueText(c.Incoming), c.Why)
	}
	return g.page(line)
}

func actionText(a client.PreviewAction) string {
	switch a {
	case client.PreviewActionCreate:
		return "would be created"
	case client.PreviewActionUpdate:
		return "would be updated"
	case client.PreviewActionNone:
		return "would stay as it is"
	}
	return string(a)
}

type entriesReplayCommand struct {
	remote
	modal
	ID           string   `arg:"" help:"The entry's ID, or the Airtable record ID of its row in the dead letter table."`
	Expect       []string `sep:"none" placeholder:"FIELD=JSON" help:"With chosen_fields and overwrite: a current value that you saw; a field that changed since goes back to review. Without, the preview is shown and asked about."`
	Reason       string   `placeholder:"TEXT" help:"Why; needed for overwrite."`
	WithSiblings bool     `help:"Take along the other pending entries of the record."`
	By           string   `placeholder:"NAME" help:"Who asks for it (default: the token's name)."`
	Wait         bool     `help:"Wait for the outcome; exit code 1 when the entry is not resolved by it."`
	Yes          bool     `short:"y" help:"Do not ask."`
}

// Help shows how the command is used.
func (entriesReplayCommand) Help() string {
	return `Examples:

	airtable-replay entries replay 0199aa00-0000-7000-8000-000000000001 --wait
	airtable-replay entries replay 0199aa00-0000-7000-8000-000000000001 --mode unchanged_fields
	airtable-replay entries replay 0199aa00-0000-7000-8000-000000000001 --mode chosen_fields --field Status --expect 'Status="Pending"'
	airtable-replay entries replay 0199aa00-0000-7000-8000-000000000001 --mode overwrite --reason "agreed with sales"`
}

// Validate refuses modes that do not fit their fields, and expectations that are no JSON.
func (c *entriesReplayCommand) Validate() error {
	errs := []error{c.remote.Validate(), c.modal.validate()}
	if _, err := c.expected(); err != nil {
		errs = append(errs, err)
	}
	if c.Mode == string(client.ModeOverwrite) && c.Reason == "" {
		errs = append(errs, errors.New("--reason: needed with --mode overwrite"))
	}
	return errors.Join(errs...)
}

// expected reads --expect.
func (c *entriesReplayCommand) expected() (client.FieldValues, error) {
	values := client.FieldValues{}
	for _, pair := range c.Expect {
		name, value, ok := strings.Cut(pair, "=")
		if !ok || !json.Valid([]byte(value)) {
			return nil, fmt.Errorf("--expect: %q is not FIELD=JSON, such as 'Status=\"Pending\"' or 'Note=null'", pair)
		}
		values[name] = json.RawMessage(value)
	}
	return values, nil
}

// forced tells whether the mode writes over what somebody may have changed, and so needs what was seen.
func (m modal) forced() bool {
	return m.Mode == string(client.ModeChosenFields) || m.Mode == string(client.ModeOverwrite)
}

// Run implements the command.
func (c *entriesReplayCommand) Run(p *process) error {
	api, err := c.dial()
	if err != nil {
		return err
	}
	body, err := c.press(p, api)
	if err != nil {
		return err
	}
	a, err := create[client.Pressed](p, func(key *client.IdempotencyKey) (reply, error) {
		return api.PressReplayWithResponse(p.ctx, c.ID, &client.PressReplayParams{IdempotencyKey: key}, body)
	})
	if err != nil {
		return astray(err, c.ID)
	}
	if !c.Wait {
		return c.show(p, a.raw, func() string {
			return "Accepted as run " + printable(a.value.RunID) + ".\n"
		})
	}
	if err := follow(p, api, a.value.RunID, func(client.Run) {}); err != nil {
		return err
	}
	e, err := ask[client.Entry](api.ShowEntryWithResponse(p.ctx, c.ID))
	if err != nil {
		return err
	}
	if err := c.show(p, e.raw, func() string { return outcomeText(e.value, p.columns()) }); err != nil {
		return err
	}
	if e.value.Status != client.StatusResolved {
		return fmt.Errorf("the entry is %s", plain(string(e.value.Status)))
	}
	return nil
}

func outcomeText(e client.Entry, line int) string {
	if e.Replay == nil {
		return ""
	}
	return replayText(*e.Replay, e.Status, line)
}

// press is the body of the press. What is to be forced is first shown, and pressed with what was seen
// (R11).
func (c *entriesReplayCommand) press(p *process, api *client.ClientWithResponses) (client.Press, error) {
	expect, err := c.expected()
	if err != nil {
		return client.Press{}, err
	}
	if c.forced() && len(expect) == 0 {
		if expect, err = c.seen(p, api); err != nil {
			return client.Press{}, err
		}
	}
	body := client.Press{Mode: given(client.Mode(c.Mode)), Fields: c.Field, Reason: given(c.Reason), RequestedBy: given(c.By), WithSiblings: given(c.WithSiblings)}
	if len(expect) > 0 {
		body.Expect = &expect
	}
	return body, nil
}

// seen shows what would be written over, and asks.
func (c *entriesReplayCommand) seen(p *process, api *client.ClientWithResponses) (client.FieldValues, error) {
	if c.Yes || !terminal(p.stdin) {
		return nil, usage("--expect: needed with --mode %s where nobody looks at the preview; airtable-replay entries preview shows the current values", c.Mode)
	}
	a, err := c.preview(p, api, c.ID)
	if err != nil {
		return nil, astray(err, c.ID)
	}
	hindrance, err := hindranceOf(p, api, c.ID)
	if err != nil {
		return nil, err
	}
	p.note("%s", hindrance+previewText(a.value, p.columns()))
	if err := p.confirm("Write over the current values?", false); err != nil {
		return nil, err
	}
	expect := client.FieldValues{}
	for _, f := range a.value.Fields {
		expect[f.Field] = f.Current
	}
	return expect, nil
}
