package conformance

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"
)

// Target is an address that claims to be Airtable.
type Target struct {
	// URL has no path: https://api.airtable.com.
	URL, Token, Base, Table string
	Client                  *http.Client
	// Pace is how long to wait before each request; 0 for the sandbox.
	Pace time.Duration
}

// Missing names the fields that the table lacks, or has with another type.
func (t Target) Missing(ctx context.Context) ([]string, error) {
	var schema struct {
		Tables []struct {
			ID, Name string
			Fields   []struct{ Name, Type string }
		}
	}
	a, err := t.send(ctx, exchange{method: http.MethodGet, path: "/v0/meta/bases/" + t.Base + "/tables"})
	if err != nil {
		return nil, err
	}
	if err := json.Unmarshal([]byte(a.body), &schema); err != nil || a.status != http.StatusOK {
		return nil, fmt.Errorf("schema: status %d: %s", a.status, a.body)
	}
	for _, table := range schema.Tables {
		if table.ID != t.Table && table.Name != t.Table {
			continue
		}
		var missing []string
		for _, f := range Fields {
			if !slices.ContainsFunc(table.Fields, func(have struct{ Name, Type string }) bool {
				return have.Name == f.Name && have.Type == f.Type
			}) {
				missing = append(missing, strings.TrimSuffix(f.Name+": "+f.Type+", "+f.Config, ", "))
			}
		}
		return missing, nil
	}
	return nil, fmt.Errorf("table: base %s has no %q", t.Base, t.Table)
}

// answer is what came back.
type answer struct {
	status int
	header http.Header
	body   string
}

func (t Target) send(ctx context.Context, x exchange) (answer, error) {
	path := x.path
	if !strings.HasPrefix(path, "/v0/") && !strings.HasPrefix(path, "/_sandbox/") {
		path = "/v0/" + t.Base + path
	}
	for i, pair := range x.query {
		path += string("?&"[min(i, 1)]) + url.QueryEscape(pair[0]) + "=" + url.QueryEscape(pair[1])
	}
	req, err := http.NewRequestWithContext(ctx, x.method, t.URL+path, strings.NewReader(x.body))
	if err != nil {
		return answer{}, err
	}
	req.Header.Set("Authorization", "Bearer "+t.Token)
	if x.body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	for _, pair := range x.header {
		req.Header.Set(pair[0], pair[1])
	}
	if t.Pace > 0 {
		select {
		case <-time.After(t.Pace):
		case <-ctx.Done():
			return answer{}, ctx.Err()
		}
	}
	resp, err := t.Client.Do(req)
	if err != nil {
		return answer{}, err
	}
	body, err := io.ReadAll(resp.Body)
	return answer{resp.StatusCode, resp.Header, string(body)}, errors.Join(err, resp.Body.Close())
}

// Play sends the scenario's requests in turn and returns what the first answer
// that is not as expected has wrong. It deletes the records it created.
func (t Target) Play(ctx context.Context, s Scenario) (err error) {
	run := fmt.Sprintf("run%d", time.Now().UnixNano())
	bound := names{"base": t.Base, "table": url.PathEscape(t.Table), "run": run}
	var created []string
	defer func() { err = errors.Join(err, t.remove(context.WithoutCancel(ctx), created)) }()
	for i, x := range s.exchanges {
		a, err := t.exchange(ctx, x, bound)
		created = append(created, a.created(x)...)
		if err != nil {
			return fmt.Errorf("exchange %d, %s %s: %w", i+1, x.method, x.path, err)
		}
	}
	return nil
}

func (t Target) exchange(ctx context.Context, x exchange, bound names) (answer, error) {
	x, err := x.with(bound)
	if err != nil {
		return answer{}, err
	}
	a, err := t.send(ctx, x)
	if err != nil {
		return a, err
	}
	if a.status != x.status {
		return a, fmt.Errorf("want status %d, got %d: %s", x.status, a.status, a.body)
	}
	for _, pair := range x.answerHeader {
		if got := a.header.Get(pair[0]); (pair[1] == "none") != (got == "") || (pair[1] != "none" && pair[1] != "some" && got != pair[1]) {
			return a, fmt.Errorf("header %s: want %s, got %q", pair[0], pair[1], got)
		}
	}
	if x.exactly {
		want, err := bound.put(x.answer)
		if err == nil && want != a.body {
			err = fmt.Errorf("want exactly %s, got %s", want, a.body)
		}
		return a, err
	}
	if x.answer == "" {
		return a, nil
	}
	date, err := http.ParseTime(a.header.Get("Date"))
	if err != nil {
		return a, fmt.Errorf("header Date: %w", err)
	}
	return a, answered{bound, date}.compare(x.answer, a.body)
}

// with puts what is bound into the request.
func (x exchange) with(bound names) (exchange, error) {
	var errs []error
	put := func(text string) string {
		out, err := bound.put(text)
		errs = append(errs, err)
		return out
	}
	x.path, x.body = put(x.path), put(x.body)
	x.query = slices.Clone(x.query)
	for i := range x.query {
		x.query[i][1] = put(x.query[i][1])
	}
	return x, errors.Join(errs...)
}

// created are the records that the request made: never one that it only read
// or changed, since those may be somebody else's.
func (a answer) created(x exchange) []string {
	var body struct {
		ID             string
		Records        []struct{ ID string }
		CreatedRecords []string
	}
	if a.status != http.StatusOK || json.Unmarshal([]byte(a.body), &body) != nil {
		return nil
	}
	ids := body.CreatedRecords
	if x.method != http.MethodPost || strings.TrimRight(x.path, "/?") != "/<table>" {
		return ids
	}
	for _, r := range append(body.Records, struct{ ID string }{body.ID}) {
		if strings.HasPrefix(r.ID, "rec") {
			ids = append(ids, r.ID)
		}
	}
	return ids
}

// remove deletes records; those that are gone already are fine.
func (t Target) remove(ctx context.Context, ids []string) error {
	slices.Sort(ids)
	var errs []error
	for _, id := range slices.Compact(ids) {
		a, err := t.send(ctx, exchange{method: http.MethodDelete, path: "/" + url.PathEscape(t.Table) + "/" + id})
		if err == nil && a.status != http.StatusOK && a.status != http.StatusNotFound {
			err = fmt.Errorf("delete record %s: status %d: %s", id, a.status, a.body)
		}
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}
