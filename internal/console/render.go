package console

import (
	"bytes"
	"fmt"
	"html/template"
	"io/fs"
	"path"
	"time"

	"airtable-replay/web"
)

// pages are the parsed templates by name.
type pages map[string]*template.Template

// frame is what every page has around its own data.
type frame struct {
	Page    string // the template's name
	Session sessionView
	Data    any
	Version string
	Queue   bool
}

// sessionView is the person as pages show it.
type sessionView struct {
	In                  bool
	Who                 string
	Read, Replay, Admin bool
	Expires             time.Time
}

// parsePages parses each page with the frame and the parts that pages share.
func parsePages(now func() time.Time) (pages, error) {
	shared, err := template.New("frame").Funcs(functions(now)).ParseFS(web.Console, "console/page/frame.html", "console/page/part_*.html")
	if err != nil {
		return nil, fmt.Errorf("parse templates: %w", err)
	}
	names, err := fs.Glob(web.Console, "console/page/*.html")
	if err != nil {
		return nil, fmt.Errorf("list templates: %w", err)
	}
	out := pages{}
	for _, name := range names {
		base := path.Base(name)
		if base == "frame.html" || len(base) > 5 && base[:5] == "part_" {
			continue
		}
		one, err := shared.Clone()
		if err == nil {
			_, err = one.ParseFS(web.Console, name)
		}
		if err != nil {
			return nil, fmt.Errorf("parse template %s: %w", base, err)
		}
		out[base[:len(base)-len(".html")]] = one
	}
	return out, nil
}

// render makes a whole page before it sends the first byte of it.
func (k *console) render(v *visit, status int, name string, data any) error {
	return k.renderPart(v, status, name, "frame", data)
}

// renderPart renders one named template of a page, for scripts that put it in place.
func (k *console) renderPart(v *visit, status int, name, part string, data any) error {
	var body bytes.Buffer
	if err := k.execute(&body, v, name, part, data); err != nil {
		return err
	}
	v.w.Header().Set("Content-Type", "text/html; charset=utf-8")
	v.w.WriteHeader(status)
	_, _ = body.WriteTo(v.w) // the person may be gone
	return nil
}

func (k *console) execute(body *bytes.Buffer, v *visit, name, part string, data any) error {
	page, ok := k.pages[name]
	if !ok {
		return fmt.Errorf("there is no template %s", name)
	}
	s := v.session
	f := frame{Page: name, Data: data, Version: k.Version, Queue: k.Queue != nil, Session: sessionView{
		In: s.Token.ID != "", Who: s.Token.Name, Expires: s.Expires,
	}}
	if f.Session.In {
		f.Session.Who = v.who()
		f.Session.Read, f.Session.Replay, f.Session.Admin = v.allows(scopeRead), v.allows(scopeReplay), v.allows(scopeAdmin)
	}
	if err := page.ExecuteTemplate(body, part, f); err != nil {
		return fmt.Errorf("render %s: %w", name, err)
	}
	return nil
}

// isPart tells whether a script asks for a part of a page.
func (v *visit) isPart() bool { return v.r.Header.Get("X-Part") != "" }
