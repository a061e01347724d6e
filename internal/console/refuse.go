package console

import (
	"context"
	"errors"
	"net/http"
	"net/url"

	"airtable-replay/internal/deadletter"
	"airtable-replay/internal/telemetry"
)

// alert is what a page says about something that did not go as asked.
type alert struct {
	Message string
	Fields  []deadletter.FieldError
	RunID   string // of the run that has the entry
}

// alertOf words an error for a person. Only a deadletter.Error speaks for itself; anything else is told
// by the request's ID alone.
func alertOf(ctx context.Context, err error) alert {
	e, ok := errors.AsType[*deadletter.Error](err)
	if !ok || e.Code == deadletter.CodeInternal {
		return alert{Message: "Something went wrong on our side, and nothing was changed by this page. Quote the request ID " + telemetry.RequestID(ctx) + " when you report it."}
	}
	return alert{Message: sentence(e.Message), Fields: e.Fields, RunID: e.RunID}
}

// refusal is an error that a page can show beside what it has; a fault of ours stays an error.
func refusal(ctx context.Context, err error) (*alert, error) {
	if statusOf(err) == http.StatusInternalServerError {
		return nil, err
	}
	wrong := alertOf(ctx, err)
	return &wrong, nil
}

// statusOf is the HTTP status of an error.
func statusOf(err error) int {
	switch deadletter.CodeOf(err) {
	case deadletter.CodeInvalid:
		return http.StatusUnprocessableEntity
	case deadletter.CodeUnauthenticated:
		return http.StatusUnauthorized
	case deadletter.CodeForbidden:
		return http.StatusForbidden
	case deadletter.CodeNotFound:
		return http.StatusNotFound
	case deadletter.CodeConflict:
		return http.StatusConflict
	case deadletter.CodeRateLimited:
		return http.StatusTooManyRequests
	case deadletter.CodeUpstream:
		return http.StatusBadGateway
	case deadletter.CodeUnavailable:
		return http.StatusServiceUnavailable
	case deadletter.CodeInternal:
	}
	return http.StatusInternalServerError
}

// wrongView is the page that says what went wrong.
type wrongView struct {
	Title string
	Alert alert
}

// refuse answers with an error.
func (k *console) refuse(v *visit, err error) {
	switch {
	case errors.Is(err, errLogin):
		k.sendToLogin(v)
		return
	case errors.Is(err, context.Canceled) && v.r.Context().Err() != nil:
		return // the person went away
	}
	status := statusOf(err)
	if status >= http.StatusInternalServerError {
		k.Logger.ErrorContext(v.r.Context(), "console page", telemetry.KeyPath, v.r.URL.Path, telemetry.KeyError, err)
	}
	title := map[int]string{
		http.StatusNotFound: "Not found", http.StatusForbidden: "Not allowed", http.StatusConflict: "Not possible now",
		http.StatusUnprocessableEntity: "Not accepted", http.StatusServiceUnavailable: "Not available",
	}[status]
	if title == "" {
		title = "Something went wrong"
	}
	if err := k.render(v, status, "wrong", wrongView{title, alertOf(v.r.Context(), err)}); err != nil {
		k.Logger.ErrorContext(v.r.Context(), "console page", telemetry.KeyError, err)
		http.Error(v.w, "Something went wrong.", http.StatusInternalServerError)
	}
}

// sendToLogin remembers where a person wanted to go, when that was to look at something.
func (k *console) sendToLogin(v *visit) {
	if v.r.Header.Get("X-Part") != "" {
		http.Error(v.w, "Your session is over. Reload the page to log in.", http.StatusUnauthorized)
		return
	}
	next := "/"
	if v.r.Method == http.MethodGet {
		next = v.r.URL.RequestURI()
	}
	http.Redirect(v.w, v.r, "/login?"+url.Values{"next": {next}}.Encode(), http.StatusSeeOther)
}

func noSuchPage(*visit) error {
	return deadletter.Errorf(deadletter.CodeNotFound, "", "There is no page at this address.")
}
