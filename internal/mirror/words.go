package mirror

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"airtable-replay/internal/deadletter"
)

func statusWord(s deadletter.Status) string {
	switch s {
	case deadletter.PendingReview:
		return "Pending Review"
	case deadletter.Replaying:
		return "Replaying"
	case deadletter.Resolved:
		return "Resolved"
	case deadletter.Ignored:
		return "Ignored"
	}
	return string(s)
}

func statusWords() []string {
	return []string{
		statusWord(deadletter.PendingReview), statusWord(deadletter.Replaying), statusWord(deadletter.Resolved), statusWord(deadletter.Ignored),
	}
}

// outcomeWord is empty while there is no outcome.
func outcomeWord(o deadletter.Outcome) string {
	switch o {
	case deadletter.Replayed:
		return "Replayed"
	case deadletter.PartiallyReplayed:
		return "Partially Replayed"
	case deadletter.Superseded:
		return "Superseded"
	case deadletter.NeedsReview:
		return "Needs Review"
	case deadletter.ReplayFailed:
		return "Replay Failed"
	}
	return string(o)
}

func outcomeWords() []string {
	words := make([]string, 0, len(deadletter.Outcomes()))
	for _, o := range deadletter.Outcomes() {
		words = append(words, outcomeWord(o))
	}
	return words
}

func flagWords(f deadletter.Flag) string {
	switch f {
	case deadletter.MayHaveBeenWritten:
		return "May have been written: look at the record."
	case deadletter.Landed:
		return "An earlier attempt of this entry has landed."
	case deadletter.LateLanding:
		return "A write landed late, over a newer value: look at the record."
	case deadletter.ChangedInWindow:
		return "Somebody changed the record in the moment of the write: look at it."
	case deadletter.CreatedElsewhere:
		return "Somebody else made the record in the moment of the write."
	}
	return string(f)
}

// notes is everything that a person should read: why the newest press was refused, what the last
// replay says, and the flags. An entry that has nothing to say leaves the cell alone.
func notes(e deadletter.Entry) (any, bool) {
	var parts []string
	if e.Refusal != "" {
		parts = append(parts, "Replay was refused: "+e.Refusal)
	}
	if e.Replay != nil && e.Replay.Notes != "" {
		parts = append(parts, e.Replay.Notes)
	}
	for _, f := range e.Flags {
		parts = append(parts, flagWords(f))
	}
	return strings.Join(parts, "\n\n"), e.Replay != nil || len(parts) > 0
}

// object is a map of fields as readable JSON text; nothing for none.
func (p *pen) object(fields map[string]any) any {
	if len(fields) == 0 {
		return nil
	}
	return p.json(fields)
}

// skips are the fields left out, as the API tells of them.
func (p *pen) skips(skips []deadletter.Skip) any {
	if len(skips) == 0 {
		return nil
	}
	type skip struct {
		Field     string            `json:"field"`
		Reason    deadletter.Reason `json:"reason"`
		ChangedAt time.Time         `json:"changed_at,omitzero"`
		Current   any               `json:"current"`
		Incoming  any               `json:"incoming"`
	}
	out := make([]skip, len(skips))
	for i, s := range skips {
		out[i] = skip{s.Field, s.Reason, s.ChangedAt.UTC(), s.Current, s.Incoming}
	}
	return p.json(out)
}

// json keeps numbers digit for digit (case B20) and < > & as they are.
func (p *pen) json(v any) any {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(v); err != nil {
		p.problem("cannot be written as JSON: " + err.Error())
		return nil
	}
	return strings.TrimSuffix(b.String(), "\n")
}

func digits(n int) json.Number { return json.Number(strconv.Itoa(n)) }

// The marks of a payload cell that is not the payload itself.
const (
	base64Mark = "[base64, as the payload is not plain text]\n"
	cutMark    = "\n[cut here: "
)

// payloadText is the payload as a cell takes it: as it is, or in base64 where it is not UTF-8, holds a
// NUL, which not every reader of the table takes, or would itself be taken for marked.
func payloadText(raw []byte) string {
	plain := string(raw)
	read, fault := payloadBytes(plain)
	if utf8.Valid(raw) && !strings.Contains(plain, "\x00") && fault == "" && bytes.Equal(read, raw) {
		return plain
	}
	return base64Mark + base64.StdEncoding.EncodeToString(raw)
}

// payloadBytes reads a payload cell; fault says why it cannot be taken for the payload.
func payloadBytes(cell string) (raw []byte, fault string) {
	if at := strings.LastIndex(cell, cutMark); at >= 0 && strings.HasSuffix(strings.TrimRight(cell, "\n"), "]") {
		return nil, "the payload in it is cut; put in the whole of it"
	}
	coded, ok := strings.CutPrefix(cell, base64Mark)
	if !ok {
		return []byte(cell), ""
	}
	raw, err := base64.StdEncoding.DecodeString(strings.TrimSpace(coded))
	if err != nil {
		return nil, "it says base64 but is not; put in the payload as it was sent"
	}
	return raw, ""
}
