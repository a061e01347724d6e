package deadletter_test

import (
	"encoding/json"
	"fmt"
	"os"
	"strconv"
	"testing"
	"time"

	"github.com/goccy/go-yaml"
	"github.com/stretchr/testify/require"
	"golang.org/x/tools/txtar"

	"airtable-replay/internal/deadletter"
)

// The forms of testdata/decide/*.txtar; see its README.
type (
	caseFile struct {
		Rules    rulesForm
		Records  []recordForm
		Mark     markForm
		Members  []memberForm
		Siblings []string
		Plan     planForm
	}
	rulesForm struct {
		OnSharedChange    string               `yaml:"on_shared_change"`
		Margin            string               `yaml:"margin"`
		AllowBlankVersion bool                 `yaml:"allow_blank_version"`
		AppendOnly        bool                 `yaml:"append_only"`
		Version           versionForm          `yaml:"version"`
		Fields            map[string]fieldForm `yaml:"fields"`
	}
	versionForm struct {
		Kind      string `yaml:"kind"`
		Precision string `yaml:"precision"`
		TieBreak  bool   `yaml:"tie_break"`
	}
	fieldForm struct {
		Kind  string `yaml:"kind"`
		Guard string `yaml:"guard"`
	}
	recordForm struct {
		ID                string         `yaml:"id"`
		Version           string         `yaml:"version"`
		Tie               string         `yaml:"tie"`
		VersionUnreadable bool           `yaml:"version_unreadable"`
		Fields            map[string]any `yaml:"fields"`
	}
	markForm struct {
		Record   string `yaml:"record"`
		Kind     string `yaml:"kind"`
		Highest  string `yaml:"highest"`
		Stored   string `yaml:"stored"`
		Restored bool   `yaml:"restored"`
		Guards   map[string]struct {
			Stamp string `yaml:"stamp"`
			Value any    `yaml:"value"`
		} `yaml:"guards"`
	}
	memberForm struct {
		live         bool
		ID           string         `yaml:"id"`
		Operation    string         `yaml:"operation"`
		Sends        string         `yaml:"sends"`
		Fields       map[string]any `yaml:"fields"`
		Version      string         `yaml:"version"`
		Tie          string         `yaml:"tie"`
		Versionless  bool           `yaml:"versionless"`
		FirstAttempt string         `yaml:"first_attempt"`
		Waited       bool           `yaml:"waited"`
		Order        int64          `yaml:"order"`
		Mode         string         `yaml:"mode"`
		Chosen       []string       `yaml:"chosen"`
		Expect       map[string]any `yaml:"expect"`
		Wrote        string         `yaml:"wrote"`
		Reextracted  bool           `yaml:"reextracted"`
		Problem      *struct {
			Reason string `yaml:"reason"`
			Detail string `yaml:"detail"`
		} `yaml:"problem"`
	}
	planForm struct {
		Action      string                 `yaml:"action"`
		Record      string                 `yaml:"record"`
		Fields      map[string]any         `yaml:"fields"`
		Version     string                 `yaml:"version"`
		LateLanding bool                   `yaml:"late_landing"`
		Verdicts    map[string]verdictForm `yaml:"verdicts"`
	}
	verdictForm struct {
		Outcome   string            `yaml:"outcome"`
		Reason    string            `yaml:"reason"`
		Fields    map[string]any    `yaml:"fields"`
		Skipped   map[string]string `yaml:"skipped"`
		Merged    bool              `yaml:"merged"`
		ChangedAt map[string]string `yaml:"changed_at"`
		Checks    map[string]string `yaml:"checks"`
		Note      []string          `yaml:"note"`
	}
)

func readCase(t *testing.T, path string) caseFile {
	t.Helper()
	data, err := os.ReadFile(path)
	require.NoError(t, err)
	archive := txtar.Parse(data)
	require.NotEmpty(t, archive.Comment, "a case begins with its story")

	var c caseFile
	var single recordForm
	var entries, writes []memberForm
	sections := map[string]any{
		"rules": &c.Rules, "record": &single, "records": &c.Records, "mark": &c.Mark, "siblings": &c.Siblings,
		"entries": &entries, "writes": &writes, "plan": &c.Plan,
	}
	seen := map[string]bool{}
	for _, file := range archive.Files {
		require.Contains(t, sections, file.Name)
		require.NoError(t, yaml.UnmarshalWithOptions(file.Data, sections[file.Name], yaml.Strict()), "section %s", file.Name)
		seen[file.Name] = true
	}
	require.True(t, seen["plan"] && seen["entries"] != seen["writes"], "a case has a plan and either entries or writes")
	if seen["record"] {
		c.Records = append(c.Records, single)
	}
	for i := range writes {
		writes[i].live = true
	}
	c.Members = append(entries, writes...)
	return c
}

// input turns the file into the input of Decide.
func (c caseFile) input(t *testing.T) deadletter.Case {
	t.Helper()
	spec := c.Rules.Version.spec(t)
	in := deadletter.Case{Rules: c.Rules.rules(t), Siblings: c.Siblings}
	for _, r := range c.Records {
		in.Matches = append(in.Matches, deadletter.Record{
			ID: or(r.ID, "recA"), Fields: values(r.Fields).(map[string]any),
			Version: parse(t, spec, r.Version, r.Tie), VersionUnreadable: r.VersionUnreadable,
		})
	}
	for i, m := range c.Members {
		in.Members = append(in.Members, m.member(t, spec, i))
	}
	markSpec := spec
	if c.Mark.Kind != "" {
		markSpec.Kind = deadletter.VersionKind(c.Mark.Kind)
	}
	in.Mark = deadletter.Mark{
		RecordID: c.Mark.Record, Restored: c.Mark.Restored,
		Highest: parse(t, markSpec, c.Mark.Highest, ""), Stored: parse(t, markSpec, c.Mark.Stored, ""),
		Guards: map[string]deadletter.GuardMark{},
	}
	for name, g := range c.Mark.Guards {
		in.Mark.Guards[name] = deadletter.GuardMark{Stamp: g.Stamp, Value: values(g.Value)}
	}
	return in
}

func (r rulesForm) rules(t *testing.T) deadletter.Rules {
	t.Helper()
	rules := orders()
	rules.OnSharedChange = deadletter.OnSharedChange(or(r.OnSharedChange, string(deadletter.Review)))
	rules.AllowBlankVersion, rules.AppendOnly = r.AllowBlankVersion, r.AppendOnly
	if r.Margin != "" {
		rules.Margin = duration(t, r.Margin)
	}
	for name, f := range r.Fields {
		rules.Fields[name] = deadletter.Field{Name: name, Kind: deadletter.FieldKind(f.Kind), Guard: f.Guard}
	}
	return rules
}

func (v versionForm) spec(t *testing.T) deadletter.VersionSpec {
	t.Helper()
	spec := deadletter.VersionSpec{Kind: deadletter.VersionKind(or(v.Kind, "timestamp")), TieBreak: v.TieBreak}
	if v.Precision != "" {
		spec.Precision = duration(t, v.Precision)
	}
	return spec
}

func (m memberForm) member(t *testing.T, spec deadletter.VersionSpec, i int) deadletter.Member {
	t.Helper()
	kind, operation := deadletter.MemberEntry, deadletter.Update
	if m.live {
		kind, operation = deadletter.MemberWrite, deadletter.Upsert
	}
	if m.Order == 0 {
		m.Order = int64(i + 1)
	}
	member := deadletter.Member{
		ID: m.ID, Kind: kind, Operation: deadletter.Operation(or(m.Operation, string(operation))),
		Sends: deadletter.Sends(or(m.Sends, string(deadletter.SendsFull))), Fields: values(m.Fields).(map[string]any),
		Version: parse(t, spec, m.Version, m.Tie), Versionless: m.Versionless,
		FirstAttemptAt: instant(t, or(m.FirstAttempt, "2026-10-05T08:00:00Z")), Waited: m.Waited, Order: m.Order,
		Mode: deadletter.Mode(or(m.Mode, string(deadletter.Checked))), Chosen: m.Chosen, Expect: values(m.Expect).(map[string]any),
		Wrote: parse(t, spec, m.Wrote, ""), Reextracted: m.Reextracted,
	}
	if m.Problem != nil {
		member.Problem = &deadletter.Problem{Reason: deadletter.Reason(m.Problem.Reason), Detail: m.Problem.Detail}
	}
	return member
}

// orders are the rules that the README of the cases describes.
func orders() deadletter.Rules {
	fields := map[string]deadletter.Field{}
	for name, kind := range map[string]deadletter.FieldKind{
		"Status": deadletter.KindSelect, "Qty": deadletter.KindNumber, "Paid": deadletter.KindCheckbox,
		"Tags": deadletter.KindMultiSelect, "Delivery Date": deadletter.KindDate,
		"Notes": deadletter.KindLongText, "Agent": deadletter.KindCollaborator, "Photos": deadletter.KindAttachments,
	} {
		fields[name] = deadletter.Field{Name: name, Kind: kind}
	}
	for _, name := range []string{"Delivery Date", "Notes", "Agent"} {
		field := fields[name]
		field.Guard = name + " Changed At"
		fields[name] = field
	}
	return deadletter.Rules{Target: "Orders", Fields: fields, OnSharedChange: deadletter.Review, Margin: 10 * time.Second}
}

// values turns YAML's numbers into those of a decoded payload.
func values(v any) any {
	switch v := v.(type) {
	case map[string]any:
		object := make(map[string]any, len(v))
		for key, value := range v {
			object[key] = values(value)
		}
		return object
	case []any:
		array := make([]any, len(v))
		for i, value := range v {
			array[i] = values(value)
		}
		return array
	case uint64, int64:
		return json.Number(fmt.Sprint(v))
	case float64:
		return json.Number(strconv.FormatFloat(v, 'g', -1, 64))
	}
	return v
}

func or(text, otherwise string) string {
	if text == "" {
		return otherwise
	}
	return text
}

func parse(t require.TestingT, spec deadletter.VersionSpec, raw, tie string) deadletter.Version {
	v, err := deadletter.ParseVersion(spec, raw, tie)
	require.NoError(t, err)
	return v
}

func duration(t require.TestingT, text string) time.Duration {
	d, err := time.ParseDuration(text)
	require.NoError(t, err)
	return d
}

func instant(t require.TestingT, text string) time.Time {
	at, err := time.Parse(time.RFC3339Nano, text)
	require.NoError(t, err)
	return at
}
