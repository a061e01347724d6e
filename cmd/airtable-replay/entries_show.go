package main

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"unicode/utf8"

	"airtable-replay/api/client"
)

// payloadShown is how many bytes of a payload are shown beside everything else.
const payloadShown = 2000

type entriesShowCommand struct {
	remote
	ID string `arg:"" help:"The entry's ID, or the Airtable record ID of its row in the dead letter table."`
}

// Help shows how the command is used.
func (entriesShowCommand) Help() string {
	return `Example:

	airtable-replay entries show 0199aa00-0000-7000-8000-000000000001`
}

// Run implements the command.
func (c *entriesShowCommand) Run(p *process) error {
	api, err := c.dial()
	if err != nil {
		return err
	}
	a, err := ask[client.Entry](api.ShowEntryWithResponse(p.ctx, c.ID))
	if err != nil {
		return astray(err, c.ID)
	}
	return c.show(p, a.raw, func() string { return entryText(a.value, p.columns()) })
}

// facts are lines of a name and what there is to say.
type facts struct {
	strings.Builder
	line int // columns of a line; 0: as many as there are
}

// factIndent is where the text of a fact begins.
const factIndent = 18

func (f *facts) say(name, format string, args ...any) {
	if text := fmt.Sprintf(format, args...); strings.TrimSpace(text) != "" {
		f.WriteString(hang(fmt.Sprintf("  %-15s %s", name, printable(text)), factIndent, f.line) + "\n")
	}
}

// entryText is everything about an entry.
func entryText(e client.Entry, line int) string {
	f := facts{line: line}
	fmt.Fprintf(&f, "%s  %s\n", printable(e.ID), plain(string(e.Status)))
	f.say("Record", "%s", recordOf(e)+", "+string(e.Operation))
	f.say("Source", "%s", sourceText(e))
	f.say("Failed with", "%s", string(e.ReasonCode)+failedText(e))
	f.say("", "%s", e.ErrorDetail)
	f.say("First attempt", "%s", clock(e.FirstAttemptAt))
	f.say("Owner", "%s", e.AssignedOwner)
	f.say("Airtable row", "%s", orNone(e.DLQRecordID))
	for _, flag := range e.Flags {
		f.say("Note", "%s", plain(string(flag)))
	}
	if e.Replay != nil {
		f.WriteString("\n" + replayText(*e.Replay, e.Status, line))
	}
	f.WriteString("\n" + payloadText(e.RawPayload, e.RawPayloadBase64, e.PayloadRevision))
	return f.String()
}

func sourceText(e client.Entry) string {
	if e.SourceVersion == "" {
		return e.SourceSystem + ", without a version"
	}
	return e.SourceSystem + ", version " + e.SourceVersion
}

func failedText(e client.Entry) string {
	text := ""
	if e.StatusCode != nil && *e.StatusCode > 0 {
		text = fmt.Sprintf(", HTTP %d", *e.StatusCode)
	}
	if e.Attempts > 0 {
		text += fmt.Sprintf(", attempt %d", e.Attempts)
	}
	return text
}

// replayText is the account of the last replay of an entry that is at the given status.
func replayText(r client.Replay, status client.Status, line int) string {
	f := facts{line: line}
	f.WriteString("Last replay\n")
	outcome := "none, the entry was released"
	switch {
	case r.Outcome != nil:
		outcome = plain(string(*r.Outcome))
	case status == client.StatusReplaying:
		outcome = "under way"
	}
	if r.Reason != nil {
		outcome += " (" + string(*r.Reason) + ")"
	}
	f.say("Outcome", "%s", outcome)
	f.say("Asked by", "%s, %s", r.RequestedBy, clock(orNone(r.RequestedAt)))
	f.say("Run", "%s", orNone(r.RunID))
	f.say("Mode", "%s", string(r.Mode))
	f.say("Ended", "%s", clock(orNone(r.ReplayedAt)))
	f.say("Record", "%s", orNone(r.RecordID))
	f.say("Notes", "%s", r.Notes)
	f.say("Error", "%s", r.ErrorDetail)
	if len(r.FieldsReplayed) > 0 {
		g := newGrid(column{title: "WRITTEN", least: 8}, column{title: "BEFORE", least: 8}, column{title: "NOW", least: 8})
		for _, name := range slices.Sorted(maps.Keys(r.FieldsReplayed)) {
			g.add(name, valueText(r.ValuesBefore[name]), valueText(r.FieldsReplayed[name]))
		}
		f.WriteString("\n" + g.page(line))
	}
	if len(r.FieldsSkipped) > 0 {
		f.WriteString("\n" + skipsText(r.FieldsSkipped, line))
	}
	return f.String()
}

func skipsText(skips []client.Skip, line int) string {
	g := newGrid(column{title: "LEFT ALONE", least: 8}, column{title: "WHY", least: 8}, column{title: "CURRENT", least: 8},
		column{title: "INCOMING", least: 8}, column{title: "CHANGED", drop: 1})
	for _, s := range skips {
		g.add(s.Field, string(s.Reason), valueText(s.Current), valueText(s.Incoming), clock(orNone(s.ChangedAt)))
	}
	return g.page(line)
}

// valueText is a cell's value for people: texts without their quotes, nothing for null.
func valueText(raw json.RawMessage) string {
	var text string
	if json.Unmarshal(raw, &text) == nil {
		return text
	}
	return string(raw)
}

// payloadText is the beginning of a payload.
func payloadText(text, encoded *string, revision int) string {
	payload := payloadOf(text, encoded)
	head := fmt.Sprintf("Payload, %d bytes, %s\n", len(payload), revisionText(revision))
	if len(payload) <= payloadShown {
		return head + printableLines(string(payload), "  ")
	}
	return head + printableLines(strings.ToValidUTF8(string(payload[:payloadShown]), ""), "  ") + "  … (airtable-replay entries payloads has all of it)\n"
}

func revisionText(n int) string {
	if n == 0 {
		return "as filed"
	}
	return fmt.Sprintf("edit %d", n)
}

// payloadOf is a payload byte for byte.
func payloadOf(text, encoded *string) []byte {
	if text == nil && encoded != nil {
		if payload, err := base64.StdEncoding.DecodeString(*encoded); err == nil {
			return payload
		}
	}
	return []byte(orNone(text))
}

// payloadMembers are the two members of a request that carry a payload, one of them filled.
func payloadMembers(payload []byte) (text, encoded *string) {
	if utf8.Valid(payload) {
		return new(string(payload)), nil
	}
	return nil, new(base64.StdEncoding.EncodeToString(payload))
}

type entriesHistoryCommand struct {
	remote
	ID string `arg:"" help:"The entry's ID, or the Airtable record ID of its row in the dead letter table."`
}

// Help shows how the command is used.
func (entriesHistoryCommand) Help() string {
	return `Example:

	airtable-replay entries history 0199aa00-0000-7000-8000-000000000001`
}

// Run implements the command.
func (c *entriesHistoryCommand) Run(p *process) error {
	api, err := c.dial()
	if err != nil {
		return err
	}
	a, err := ask[client.History](api.ListEntryHistoryWithResponse(p.ctx, c.ID))
	if err != nil {
		return astray(err, c.ID)
	}
	return c.show(p, a.raw, func() string {
		g := newGrid(column{title: "AT"}, column{title: "EVENT"}, column{title: "STATUS AFTER", drop: 2}, column{title: "BY", least: 5, drop: 1}, column{title: "WHAT", least: 12})
		for _, h := range a.value.History {
			what := plain(string(orNone(h.Outcome)))
			for _, more := range []string{string(orNone(h.Reason)), h.Note} {
				if more != "" && what != "" {
					what += ": "
				}
				what += more
			}
			g.add(clock(h.At), plain(h.Event), plain(string(orNone(h.ToStatus))), h.Actor, what)
		}
		return g.page(p.columns())
	})
}

type entriesPayloadsCommand struct {
	remote
	ID       string `arg:"" help:"The entry's ID, or the Airtable record ID of its row in the dead letter table."`
	Revision int    `default:"-1" placeholder:"N" help:"Print this revision's payload alone, byte for byte (to a terminal: with control characters escaped); 0 is the payload as filed."`
}

// Help shows how the command is used.
func (entriesPayloadsCommand) Help() string {
	return `Examples:

	airtable-replay entries payloads 0199aa00-0000-7000-8000-000000000001
	airtable-replay entries payloads 0199aa00-0000-7000-8000-000000000001 --revision 0 > payload.json`
}

// Run implements the command.
func (c *entriesPayloadsCommand) Run(p *process) error {
	api, err := c.dial()
	if err != nil {
		return err
	}
	a, err := ask[client.PayloadList](api.ListPayloadsWithResponse(p.ctx, c.ID))
	if err != nil {
		return astray(err, c.ID)
	}
	if c.Revision >= 0 {
		return c.printOne(p, a.value.Payloads)
	}
	return c.show(p, a.raw, func() string {
		g := newGrid(column{title: "REVISION"}, column{title: "BYTES"}, column{title: "BY", least: 5}, column{title: "AT"}, column{title: "WHY", least: 8})
		for _, r := range a.value.Payloads {
			g.add(fmt.Sprint(r.Revision), fmt.Sprint(len(payloadOf(r.RawPayload, r.RawPayloadBase64))), r.EditedBy, clock(r.CreatedAt), r.Reason)
		}
		return g.page(p.columns())
	})
}

func (c *entriesPayloadsCommand) printOne(p *process, revisions []client.PayloadRevision) error {
	at := slices.IndexFunc(revisions, func(r client.PayloadRevision) bool { return r.Revision == c.Revision })
	if at < 0 {
		return usage("the payload has no revision %d; airtable-replay entries payloads %s lists them", c.Revision, printable(c.ID))
	}
	payload := payloadOf(revisions[at].RawPayload, revisions[at].RawPayloadBase64)
	if file, ok := p.stdout.(*os.File); ok && terminal(file) {
		return p.print(printableLines(string(payload), ""))
	}
	return p.print(string(payload))
}
