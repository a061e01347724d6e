package console_test

import (
	"html"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// person uses the console over HTTP, as a browser without scripts does.
type person struct {
	t    *testing.T
	url  string
	http *http.Client
}

// answer is a page as it came.
type answer struct {
	status int
	path   string // where the person ended up
	header http.Header
	body   string
}

// words is the page's text without its tags, as a person reads it.
func (a answer) words() string {
	text := regexp.MustCompile(`(?s)<(script|style)\b.*?</(script|style)>|<[^>]*>`).ReplaceAllString(a.body, " ")
	return strings.Join(strings.Fields(html.UnescapeString(text)), " ")
}

// field is the value of a named input, or the text of a named textarea.
func (a answer) field(t *testing.T, name string) string {
	t.Helper()
	tag := regexp.MustCompile(`<input[^>]*\bname="` + name + `"[^>]*>`).FindString(a.body)
	if tag == "" {
		text := regexp.MustCompile(`(?s)<textarea[^>]*\bname="` + name + `"[^>]*>\n?(.*?)</textarea>`).FindStringSubmatch(a.body)
		require.NotNil(t, text, "no field %s in %s", name, a.words())
		return html.UnescapeString(text[1])
	}
	value := regexp.MustCompile(`\bvalue="([^"]*)"`).FindStringSubmatch(tag)
	if value == nil {
		return ""
	}
	return html.UnescapeString(value[1])
}

func newPerson(t *testing.T, url string) *person {
	t.Helper()
	jar, err := cookiejar.New(nil)
	require.NoError(t, err)
	return &person{t: t, url: url, http: &http.Client{Jar: jar, Transport: &http.Transport{}}}
}

// loggedIn is a person with a session.
func loggedIn(t *testing.T, url, token string) *person {
	t.Helper()
	p := newPerson(t, url)
	t.Cleanup(p.http.CloseIdleConnections)
	a := p.submit("/login", "token", token, "person", "Ann")
	require.Equal(t, http.StatusOK, a.status, a.words())
	require.Equal(t, "/", a.path)
	return p
}

func (p *person) send(method, path string, form url.Values, headers ...string) answer {
	p.t.Helper()
	r, err := http.NewRequestWithContext(p.t.Context(), method, p.url+path, strings.NewReader(form.Encode()))
	require.NoError(p.t, err)
	if method == http.MethodPost {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		r.Header.Set("Sec-Fetch-Site", "same-origin")
	}
	for i := 0; i+1 < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	resp, err := p.http.Do(r)
	require.NoError(p.t, err)
	defer func() { _ = resp.Body.Close() }()
	body, err := io.ReadAll(resp.Body)
	require.NoError(p.t, err)
	return answer{resp.StatusCode, resp.Request.URL.Path, resp.Header, string(body)}
}

func (p *person) visit(path string) answer {
	p.t.Helper()
	return p.send(http.MethodGet, path, nil)
}

// submit sends a form, given as names and values; a name may come more than once.
func (p *person) submit(path string, pairs ...string) answer {
	p.t.Helper()
	form := url.Values{}
	for i := 0; i+1 < len(pairs); i += 2 {
		form.Add(pairs[i], pairs[i+1])
	}
	return p.send(http.MethodPost, path, form)
}
