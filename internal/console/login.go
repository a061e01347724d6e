package console

import (
	"crypto/rand"
	"crypto/sha256"
	"net/http"
	"strings"
	"time"
	"unicode/utf8"

	"airtable-replay/internal/deadletter"
	"airtable-replay/internal/store"
)

// sessionLasts is how long a person stays logged in: a long night.
const sessionLasts = 12 * time.Hour

// maxPerson bounds the name that a person gives, in characters.
const maxPerson = 80

// The names of the cookie. A browser takes one with the prefix only over TLS and for this host alone.
const (
	plainCookie  = "replay_session"
	secureCookie = "__Host-replay_session"
)

type loginView struct {
	Next, Person, Wrong string
}

func (k *console) showLogin(v *visit) error {
	if v.session.Token.ID != "" {
		return v.follow(localPath(v.r.URL.Query().Get("next")))
	}
	return k.render(v, http.StatusOK, "login", loginView{Next: localPath(v.r.URL.Query().Get("next"))})
}

// logIn starts a session for the holder of a token.
func (k *console) logIn(v *visit) error {
	form := loginView{Next: localPath(v.field("next")), Person: strings.TrimSpace(v.field("person"))}
	if utf8.RuneCountInString(form.Person) > maxPerson || !utf8.ValidString(form.Person) || strings.ContainsRune(form.Person, 0) {
		form.Wrong = "Your name may have up to 80 characters."
		return k.render(v, http.StatusUnprocessableEntity, "login", form)
	}
	token, err := k.Sessions.TokenByHash(v.r.Context(), sha256.Sum256([]byte(strings.TrimSpace(v.field("token")))))
	if deadletter.CodeOf(err) == deadletter.CodeNotFound {
		form.Wrong = "This token is unknown or revoked."
		return k.render(v, http.StatusUnauthorized, "login", form)
	}
	if err != nil {
		return err
	}
	v.session = store.Session{Token: token}
	if !v.allows(scopeRead) {
		v.session = store.Session{}
		form.Wrong = "This token may not read. The console needs one with the scope read, and replay to act; admin has both."
		return k.render(v, http.StatusForbidden, "login", form)
	}
	secret := rand.Text() + rand.Text()
	if err := k.Sessions.StartSession(v.r.Context(), token.ID, form.Person, sha256.Sum256([]byte(secret)), sessionLasts); err != nil {
		return err
	}
	http.SetCookie(v.w, k.cookie(v.r, secret, int(sessionLasts.Seconds())))
	return v.follow(form.Next)
}

func (k *console) logOut(v *visit) error {
	if secret, ok := k.secretOf(v.r); ok {
		if err := k.Sessions.EndSession(v.r.Context(), sha256.Sum256([]byte(secret))); err != nil {
			return err
		}
	}
	http.SetCookie(v.w, k.cookie(v.r, "", -1))
	return v.follow("/login")
}

// cookie holds a session's secret, out of reach for scripts and other sites.
func (k *console) cookie(r *http.Request, secret string, seconds int) *http.Cookie {
	c := &http.Cookie{
		Name: plainCookie, Value: secret, Path: "/", MaxAge: seconds, HttpOnly: true,
		// Lax, so that a link from the dead letter table finds the person logged in; nothing is changed by a GET.
		SameSite: http.SameSiteLaxMode,
	}
	if k.overTLS(r) {
		c.Name, c.Secure = secureCookie, true
	}
	return c
}

// overTLS tells whether the person's browser speaks TLS, to us or to what stands before us.
func (k *console) overTLS(r *http.Request) bool {
	return r.TLS != nil || strings.HasPrefix(k.URL, "https://") || strings.EqualFold(r.Header.Get("X-Forwarded-Proto"), "https")
}

func (k *console) secretOf(r *http.Request) (string, bool) {
	name := plainCookie
	if k.overTLS(r) {
		name = secureCookie
	}
	c, err := r.Cookie(name)
	if err != nil || c.Value == "" {
		return "", false
	}
	return c.Value, true
}

// sessionOf finds the session of a request; CodeNotFound: there is none.
func (k *console) sessionOf(r *http.Request) (store.Session, error) {
	secret, ok := k.secretOf(r)
	if !ok {
		return store.Session{}, deadletter.Errorf(deadletter.CodeNotFound, "", "there is no session")
	}
	return k.Sessions.SessionByHash(r.Context(), sha256.Sum256([]byte(secret)))
}

// localPath is a path of ours to go on to; anything that could lead elsewhere is the overview.
func localPath(next string) string {
	if !strings.HasPrefix(next, "/") || strings.HasPrefix(next, "//") || strings.ContainsAny(next, "\\\r\n\t") || strings.HasPrefix(next, "/login") {
		return "/"
	}
	return next
}
