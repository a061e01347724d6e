package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"time"

	"airtable-replay/api/client"
)

// demoClient does over HTTP what the people and programs of the demo do: senders, Data Ops, and those
// who edit the base by hand.
type demoClient struct {
	api     *client.ClientWithResponses
	sandbox string // URL of the emulator
	http    *http.Client
}

// pollEvery is the time between two looks at work under way.
const pollEvery = 20 * time.Millisecond

func newDemoClient(service, sandbox, token string) (*demoClient, error) {
	c := &demoClient{sandbox: sandbox, http: &http.Client{Timeout: time.Minute, Transport: &http.Transport{}}}
	var err error
	c.api, err = client.NewClientWithResponses(service, client.WithHTTPClient(c.http),
		client.WithRequestEditorFn(func(_ context.Context, r *http.Request) error {
			r.Header.Set("Authorization", "Bearer "+token)
			return nil
		}))
	return c, err
}

func (c *demoClient) close() { c.http.CloseIdleConnections() }

// unexpected words an answer that nobody counted on.
func unexpected(what string, status int, problem *client.Problem) error {
	if problem == nil {
		return fmt.Errorf("%s: the service answered %d", what, status)
	}
	return fmt.Errorf("%s: the service answered %d: %s: %s", what, status, problem.Title, problem.Detail)
}

// file puts a failed write aside as a dead letter.
func (c *demoClient) file(ctx context.Context, filing client.Filing) (string, error) {
	r, err := c.api.FileEntryWithResponse(ctx, nil, filing)
	if err != nil {
		return "", fmt.Errorf("file entry: %w", err)
	}
	if r.JSON201 == nil {
		return "", unexpected("file entry", r.StatusCode(), r.ApplicationProblemJSONDefault)
	}
	return r.JSON201.ID, nil
}

// send delivers newer data of the sender and waits until it is written.
func (c *demoClient) send(ctx context.Context, source string, payload json.RawMessage) error {
	accepted, err := c.api.AcceptWritesWithResponse(ctx, nil, client.WriteRequest{SourceSystem: &source, Payload: payload})
	if err != nil {
		return fmt.Errorf("send write: %w", err)
	}
	if accepted.JSON202 == nil {
		return unexpected("send write", accepted.StatusCode(), accepted.ApplicationProblemJSONDefault)
	}
	id := accepted.JSON202.Writes[0].ID
	return poll(ctx, func() (bool, error) {
		r, err := c.api.ShowWriteWithResponse(ctx, id)
		if err != nil {
			return false, fmt.Errorf("show write: %w", err)
		}
		if r.JSON200 == nil {
			return false, unexpected("show write", r.StatusCode(), r.ApplicationProblemJSONDefault)
		}
		switch r.JSON200.Status {
		case client.WriteStatusQueued:
			return false, nil
		case client.WriteStatusWritten:
			return true, nil
		case client.WriteStatusStale, client.WriteStatusDeadLettered:
		}
		return false, fmt.Errorf("send write: it is %s", r.JSON200.Status)
	})
}

// press presses Replay. A refusal is an answer, not an error.
func (c *demoClient) press(ctx context.Context, id string, press client.Press) (*client.Problem, error) {
	r, err := c.api.PressReplayWithResponse(ctx, id, nil, press)
	if err != nil {
		return nil, fmt.Errorf("press replay: %w", err)
	}
	if r.JSON202 == nil && r.StatusCode() != http.StatusConflict {
		return nil, unexpected("press replay", r.StatusCode(), r.ApplicationProblemJSONDefault)
	}
	return r.ApplicationProblemJSONDefault, nil
}

// show reads an entry.
func (c *demoClient) show(ctx context.Context, id string) (client.Entry, error) {
	r, err := c.api.ShowEntryWithResponse(ctx, id)
	if err != nil {
		return client.Entry{}, fmt.Errorf("show entry: %w", err)
	}
	if r.JSON200 == nil {
		return client.Entry{}, unexpected("show entry", r.StatusCode(), r.ApplicationProblemJSONDefault)
	}
	return *r.JSON200, nil
}

// until reads an entry until done is content with it.
func (c *demoClient) until(ctx context.Context, id string, done func(client.Entry) bool) (client.Entry, error) {
	var e client.Entry
	err := poll(ctx, func() (ok bool, err error) {
		e, err = c.show(ctx, id)
		return err == nil && done(e), err
	})
	return e, err
}

// replayEntries starts a run over entries and waits for its end.
func (c *demoClient) replayEntries(ctx context.Context, by string, ids ...string) (client.Run, error) {
	started, err := c.api.StartRunWithResponse(ctx, nil, client.RunRequest{Selector: client.Selector{Ids: ids}, RequestedBy: &by})
	if err != nil {
		return client.Run{}, fmt.Errorf("start run: %w", err)
	}
	if started.JSON202 == nil {
		return client.Run{}, unexpected("start run", started.StatusCode(), started.ApplicationProblemJSONDefault)
	}
	run := *started.JSON202
	err = poll(ctx, func() (bool, error) {
		r, err := c.api.ShowRunWithResponse(ctx, run.ID)
		if err != nil {
			return false, fmt.Errorf("show run: %w", err)
		}
		if r.JSON200 == nil {
			return false, unexpected("show run", r.StatusCode(), r.ApplicationProblemJSONDefault)
		}
		run = *r.JSON200
		return run.FinishedAt != nil, nil
	})
	return run, err
}

// poll asks until the answer is yes or an error.
func poll(ctx context.Context, ask func() (bool, error)) error {
	every := time.NewTicker(pollEvery)
	defer every.Stop()
	for {
		if done, err := ask(); done || err != nil {
			return err
		}
		select {
		case <-every.C:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// row is a record as the emulator shows it.
type row struct {
	ID     string         `json:"id"`
	Fields map[string]any `json:"fields"`
}

// find reads the record of a table whose field holds a value; false when there is none.
func (c *demoClient) find(ctx context.Context, table, field, value string) (row, bool, error) {
	var answer struct{ Records []row }
	if err := c.control(ctx, http.MethodGet, table, nil, &answer); err != nil {
		return row{}, false, err
	}
	for _, r := range answer.Records {
		if r.Fields[field] == value {
			return r, true, nil
		}
	}
	return row{}, false, nil
}

// edit changes a record as a person does.
func (c *demoClient) edit(ctx context.Context, table, id, by string, fields map[string]any) error {
	return c.control(ctx, http.MethodPatch, table+"/"+id, map[string]any{"fields": fields, "by": by}, nil)
}

// control calls the emulator's control API, which plays the people of the base.
func (c *demoClient) control(ctx context.Context, method, path string, body, answer any) error {
	var text io.Reader = http.NoBody
	if body != nil {
		encoded, err := json.Marshal(body)
		if err != nil {
			return fmt.Errorf("write request: %w", err)
		}
		text = bytes.NewReader(encoded)
	}
	target := c.sandbox + (&url.URL{Path: "/_sandbox/" + demoBase + "/" + path}).EscapedPath()
	r, err := http.NewRequestWithContext(ctx, method, target, text)
	if err != nil {
		return fmt.Errorf("write request: %w", err)
	}
	resp, err := c.http.Do(r)
	if err != nil {
		return fmt.Errorf("ask sandbox: %w", err)
	}
	defer func() { _ = resp.Body.Close() }()
	told, err := io.ReadAll(resp.Body)
	if err != nil {
		return fmt.Errorf("read sandbox: %w", err)
	}
	if resp.StatusCode/100 != 2 {
		return fmt.Errorf("ask sandbox: it answered %d: %s", resp.StatusCode, told)
	}
	if answer == nil {
		return nil
	}
	return json.Unmarshal(told, answer)
}
