package console_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"airtable-replay/internal/app/apptest"

	"github.com/stretchr/testify/require"
)

func TestLoginMakesASessionThatEndsWithItsToken(t *testing.T) {
	t.Parallel()
	w := apptest.New(t, apptest.Options{NoStart: true})
	p := newPerson(t, w.URLs[0])
	t.Cleanup(p.http.CloseIdleConnections)
	p.http.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }

	a := p.visit("/entries?status=ignored")
	require.Equal(t, http.StatusSeeOther, a.status)
	require.Equal(t, "/login?next=%2Fentries%3Fstatus%3Dignored", a.header.Get("Location"))
	require.Equal(t, http.StatusOK, p.visit("/login").status)

	a = p.submit("/login", "token", "wrong", "person", "Ann", "next", "/runs")
	require.Equal(t, http.StatusUnauthorized, a.status)
	require.Contains(t, a.words(), "This token is unknown or revoked.")
	require.Equal(t, "Ann", a.field(t, "person"), "what was typed is not lost")
	require.NotContains(t, a.body, "wrong\"", "but the token is not shown again")

	a = p.submit("/login", "token", w.Token, "person", "Ann", "next", "/runs")
	require.Equal(t, http.StatusSeeOther, a.status)
	require.Equal(t, "/runs", a.header.Get("Location"))
	cookie := a.header.Get("Set-Cookie")
	require.Regexp(t, `^replay_session=[A-Z2-7]{52}; Path=/; Max-Age=43200; HttpOnly; SameSite=Lax$`, cookie)
	require.NotContains(t, cookie, w.Token)
	require.Contains(t, p.visit("/runs").words(), "Ann (tester)")
	require.Equal(t, "/", p.visit("/login?next=//evil.example").header.Get("Location"))

	_, err := w.DB.Pool.Exec(t.Context(), `UPDATE api_token SET revoked_at = replay_now()`)
	require.NoError(t, err)
	require.Equal(t, http.StatusSeeOther, p.visit("/runs").status)
}

func TestLogoutEndsTheSession(t *testing.T) {
	t.Parallel()
	w := apptest.New(t, apptest.Options{NoStart: true})
	p := loggedIn(t, w.URLs[0], w.Token)
	site, err := url.Parse(p.url)
	require.NoError(t, err)
	kept := p.http.Jar.Cookies(site)
	require.Equal(t, "/login", p.submit("/logout").path)
	p.http.Jar.SetCookies(site, kept) // a stolen cookie
	require.Equal(t, "/login", p.visit("/").path)
}

func TestCookieIsForTLSAloneBehindTLS(t *testing.T) {
	t.Parallel()
	w := apptest.New(t, apptest.Options{NoStart: true})
	p := newPerson(t, w.URLs[0])
	t.Cleanup(p.http.CloseIdleConnections)
	p.http.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	a := p.send(http.MethodPost, "/login", url.Values{"token": {w.Token}}, "X-Forwarded-Proto", "https")
	require.Regexp(t, `^__Host-replay_session=.*; Path=/; Max-Age=43200; HttpOnly; Secure; SameSite=Lax$`, a.header.Get("Set-Cookie"))
}

func TestOtherSitesCannotSendForms(t *testing.T) {
	t.Parallel()
	w := apptest.New(t, apptest.Options{NoStart: true})
	id := w.File(t, order("O-1", "Shipped", "2026-10-05"), nil)
	p := loggedIn(t, w.URLs[0], w.Token)
	for _, headers := range [][]string{{"Sec-Fetch-Site", "cross-site"}, {"Sec-Fetch-Site", "same-site"}, {"Sec-Fetch-Site", "", "Origin", "https://evil.example"}} {
		a := p.send(http.MethodPost, "/entries/"+id+"/ignore", url.Values{"reason": {"x"}}, headers...)
		require.Equal(t, http.StatusForbidden, a.status, "%v", headers)
	}
	require.Equal(t, "pending_review", w.Entry(t, id)["status"])
}

func TestScopesDecideWhatIsShownAndDone(t *testing.T) {
	t.Parallel()
	w := apptest.New(t, apptest.Options{NoStart: true})
	id := w.File(t, order("O-1", "Shipped", "2026-10-05"), nil)
	token := func(scopes ...string) string { return strings.TrimPrefix(w.NewToken(t, scopes...), "Bearer ") }

	reader := loggedIn(t, w.URLs[0], token("read"))
	page := reader.visit("/entries/" + id)
	require.Contains(t, page.words(), "needs a token with the scope replay")
	for _, forbidden := range []string{"/ignore", "/owner", "/replay", "/payload", "/reopen", "/reset"} {
		require.NotContains(t, page.body, id+forbidden)
		require.Equal(t, http.StatusForbidden, reader.submit("/entries/"+id+forbidden, "reason", "x").status, forbidden)
	}
	require.Equal(t, http.StatusForbidden, reader.submit("/runs", "id", id).status)
	require.Equal(t, http.StatusForbidden, reader.submit("/entries", "id", id, "do", "ignore").status)
	require.Equal(t, http.StatusForbidden, reader.visit("/river/").status)
	require.NotContains(t, reader.visit("/entries").body, `name="id"`)

	replayer := loggedIn(t, w.URLs[0], token("read", "replay"))
	require.NotContains(t, replayer.visit("/").body, "/halt")
	require.Equal(t, http.StatusForbidden, replayer.submit("/bases/orders/halt", "reason", "x").status)
	a := replayer.submit("/entries/"+id+"/replay", "mode", "overwrite", "reason", "x", "expect", `{"Status":"Pending"}`)
	require.Equal(t, http.StatusForbidden, a.status)
	require.Contains(t, a.words(), "needs the admin scope")
	require.NotContains(t, replayer.visit("/entries/"+id+"?preview=1").body, `value="overwrite"`)

	writer := newPerson(t, w.URLs[0])
	t.Cleanup(writer.http.CloseIdleConnections)
	a = writer.submit("/login", "token", token("write"))
	require.Equal(t, http.StatusForbidden, a.status)
	require.Contains(t, a.words(), "This token may not read.")

	admin := loggedIn(t, w.URLs[0], w.Token)
	require.Contains(t, admin.visit("/").body, "/bases/orders/halt")
	require.Contains(t, admin.visit("/entries/"+id+"?preview=1").body, `value="overwrite"`)
	require.Equal(t, http.StatusOK, admin.visit("/river/").status)
	require.Contains(t, admin.visit("/river/").body, "<title>River</title>")
}

func TestEveryAnswerIsHardened(t *testing.T) {
	t.Parallel()
	w := apptest.New(t, apptest.Options{NoStart: true})
	p := loggedIn(t, w.URLs[0], w.Token)
	for _, path := range []string{"/", "/login", "/entries", "/entries/none", "/runs", "/connect", "/assets/console.css", "/assets/none"} {
		h := p.visit(path).header
		require.Equal(t, "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
			h.Get("Content-Security-Policy"), path)
		require.Equal(t, "nosniff", h.Get("X-Content-Type-Options"), path)
	}
	require.NotContains(t, p.visit("/river/").header.Get("Content-Security-Policy"), "script-src 'self' 'unsafe")
}
