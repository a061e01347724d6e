package sandbox

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"strings"
)

const (
	maxPresses        = 1_000
	automationWorkers = 8
	maxAnswer         = 64 << 10
)

// automation posts to a URL when a checkbox becomes checked, as the script of
// a Replay button does.
type automation struct {
	table       *table
	checkbox    *field
	post, token string
}

// press is one run of an automation.
type press struct {
	automation  *automation
	record      string
	requestedBy string
	key         string
}

func (b *builder) automation(a SeedAutomation, path string) {
	base := b.s.base(a.Base)
	if base == nil {
		b.fault(a.line, path+".base", "there is no base %q", a.Base)
		return
	}
	t := base.table(a.Table)
	if t == nil {
		b.fault(a.line, path+".table", "base %s has no table %q", a.Base, a.Table)
		return
	}
	f := t.field(a.Checkbox)
	if f == nil || !f.is("checkbox") {
		b.fault(a.line, path+".checkbox", "%q is no checkbox of table %q", a.Checkbox, a.Table)
	}
	post, postOK := b.resolve(a.Post, a.line, path+".post")
	token, tokenOK := b.resolve(a.Token, a.line, path+".token")
	target, err := url.Parse(strings.ReplaceAll(post, "{record}", "rec"))
	if postOK && !b.dry && (err != nil || target.Host == "") {
		b.fault(a.line, path+".post", "%q is no URL", a.Post)
	}
	if postOK && tokenOK {
		b.s.automations = append(b.s.automations, &automation{t, f, post, token})
	}
}

var reference = regexp.MustCompile(`\$\{([A-Za-z_][A-Za-z0-9_]*)\}`)

// resolve replaces ${NAME} by the environment's value.
func (b *builder) resolve(text string, line int, path string) (string, bool) {
	if b.dry {
		return text, true
	}
	ok := true
	resolved := reference.ReplaceAllStringFunc(text, func(ref string) string {
		name := reference.FindStringSubmatch(ref)[1]
		value, found := b.s.config.LookupEnv(name)
		if !found {
			b.fault(line, path, "the environment has no %s", name)
			ok = false
		}
		return value
	})
	return resolved, ok
}

// triggerAutomations starts one run for every box that became checked. A box
// that the queue has no room for is unticked again.
func (s *Sandbox) triggerAutomations(c *commit) {
	for _, change := range c.changes {
		for _, a := range s.automations {
			if change.field != a.checkbox || change.new != true {
				continue
			}
			p := press{automation: a, record: change.record.id, requestedBy: s.requester(c, change),
				key: "automation-" + newID("run")}
			select {
			case s.presses <- p:
			default:
				s.untick(p, "Too many presses are waiting. Press again later.")
			}
		}
	}
}

// requester is whose press it is: what the table's own field says, or who
// ticked the box.
func (s *Sandbox) requester(c *commit, change *cellChange) string {
	if f := change.table.field("Replay Requested By"); f != nil {
		if name := c.base.reader(c.at).text(change.record, f); name != "" {
			return name
		}
	}
	return c.by.person.label()
}

func (s *Sandbox) runAutomations() {
	for {
		select {
		case <-s.ctx.Done():
			return
		case p := <-s.presses:
			if problem := s.post(p); problem != "" {
				s.refused(p, problem)
			}
		}
	}
}

// post sends the press and gives the reason of a refusal, "" for none.
func (s *Sandbox) post(p press) string {
	body, err := json.Marshal(map[string]string{"requested_by": p.requestedBy})
	if err != nil {
		return "The press could not be written as JSON."
	}
	target := strings.ReplaceAll(p.automation.post, "{record}", p.record)
	ctx, cancel := context.WithCancel(s.ctx)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, target, bytes.NewReader(body))
	if err != nil {
		return "The automation's URL is malformed."
	}
	req.Header.Set("Authorization", "Bearer "+p.automation.token)
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Idempotency-Key", p.key)
	resp, err := s.config.Client.Do(req)
	if err != nil {
		s.config.Logger.Warn("automation press", "record", p.record, "error", err)
		return "The replay service did not answer."
	}
	defer func() { _ = resp.Body.Close() }()
	answer, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer))
	if resp.StatusCode/100 == 2 {
		return ""
	}
	var told struct{ Title, Detail string }
	if err == nil && json.Unmarshal(answer, &told) == nil {
		if told.Detail != "" {
			return told.Detail
		}
		if told.Title != "" {
			return told.Title
		}
	}
	return fmt.Sprintf("The replay service answered %d.", resp.StatusCode)
}

// refused does what the shipped script does then: it unticks the box, so that
// the button works again, and leaves a note where the table has room for one.
func (s *Sandbox) refused(p press, problem string) {
	if s.ctx.Err() != nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.settleDue()
	s.untick(p, problem)
}

func (s *Sandbox) untick(p press, problem string) {
	t := p.automation.table
	r := t.byID[p.record]
	if r == nil || p.automation.checkbox.gone() {
		return
	}
	tx := s.begin(t.base, actor{person: person{ID: fixedID("usr", "automation"), Name: "Automation"},
		label: "automation", source: "automation"}, s.clock.now())
	tx.set(t, r, p.automation.checkbox, nil, true)
	if note := t.field("Replay Notes"); note != nil && (note.texty() || note.is("richText")) {
		tx.set(t, r, note, problem, true)
	}
	tx.finish()
}
