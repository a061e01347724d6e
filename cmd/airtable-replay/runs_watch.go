package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	"airtable-replay/api/client"
)

const (
	// followAgain is how long to wait before a stream that broke is opened again.
	followAgain = time.Second
	// followTries is how many streams in a row may break without a word before it is given up.
	followTries = 5
	// eventLimit is the longest line of a stream, in bytes.
	eventLimit = 1 << 20
)

type runsWatchCommand struct {
	remote
	ID string `arg:"" help:"The run's ID."`
}

// Help shows how the command is used.
func (runsWatchCommand) Help() string {
	return `A terminal shows a bar; elsewhere each tenth is told on a line. Interrupting it does not stop the run. The exit code is 1 when the run is not completed, or when an entry ended as replay failed; entries that need review are no failure.

Example:

	airtable-replay runs watch 0199aa00-0000-7000-8000-000000000002`
}

// Run implements the command.
func (c *runsWatchCommand) Run(p *process) error {
	api, err := c.dial()
	if err != nil {
		return err
	}
	return watch(p, &c.remote, api, c.ID)
}

// watch shows a run until it ends, and errs when it was not completed, does not add up, or an
// entry failed.
func watch(p *process, c *remote, api *client.ClientWithResponses, id string) error {
	bar := newProgress(p, c.JSON)
	err := follow(p, api, id, bar.draw)
	bar.end()
	if err != nil {
		return err
	}
	a, err := ask[client.Run](api.ShowRunWithResponse(p.ctx, id))
	if err != nil {
		return err
	}
	if err := showRun(p, c, a); err != nil {
		return err
	}
	switch {
	case a.value.Status != client.RunStatusCompleted:
		return fmt.Errorf("the run is %s", statusText(a.value))
	case !a.value.DryRun && !a.value.Reconciliation.Balanced:
		return errors.New("the run's numbers do not add up")
	case a.value.Counts.ReplayFailed > 0:
		return fmt.Errorf("%s ended as replay failed", entriesText(a.value.Counts.ReplayFailed))
	}
	return nil
}

// follow tells each state of a run until it has ended, over as many streams as it takes.
func follow(p *process, api *client.ClientWithResponses, id string, tell func(client.Run)) error {
	for tries := 0; ; tries++ {
		finished, err := followOnce(p.ctx, api, id, func(r client.Run) {
			tries = 0
			tell(r)
		})
		refused, isProblem := errors.AsType[*problemError](err)
		if finished || isProblem && refused.Status < http.StatusInternalServerError || p.ctx.Err() != nil || tries >= followTries {
			return err
		}
		if waitFor(p.ctx, followAgain) != nil {
			return unreachable(context.Canceled)
		}
	}
}

func waitFor(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-t.C:
		return nil
	}
}

// followOnce reads one stream; finished tells that the run has ended.
func followOnce(ctx context.Context, api *client.ClientWithResponses, id string, tell func(client.Run)) (finished bool, err error) {
	resp, err := api.WatchRun(ctx, id)
	if err != nil {
		return false, unreachable(err)
	}
	defer func() { _ = resp.Body.Close() }()
	if resp.StatusCode != http.StatusOK {
		raw, err := io.ReadAll(resp.Body)
		if err != nil {
			return false, unreachable(err)
		}
		return false, refusalOf(resp.Status, resp.Header.Get("Content-Type"), raw)
	}
	lines := bufio.NewScanner(resp.Body)
	lines.Buffer(nil, eventLimit)
	event, data := "", []byte(nil)
	for lines.Scan() {
		name, value, _ := bytes.Cut(lines.Bytes(), []byte(":"))
		value = bytes.TrimPrefix(value, []byte(" "))
		switch string(name) {
		case "event":
			event = string(value)
		case "data":
			data = append(data, value...)
		case "":
			if len(lines.Bytes()) > 0 || data == nil {
				continue // a comment, or nothing yet
			}
			if finished, err := heard(event, data, tell); finished || err != nil {
				return finished, err
			}
			event, data = "", nil
		}
	}
	if err := lines.Err(); err != nil {
		return false, unreachable(err)
	}
	return false, errors.New("the service ended the stream before the run has ended")
}

// heard takes one event.
func heard(event string, data []byte, tell func(client.Run)) (finished bool, err error) {
	if event == "error" {
		var p client.Problem
		if err := json.Unmarshal(data, &p); err != nil {
			return false, fmt.Errorf("read event: %w", err)
		}
		return false, &problemError{p}
	}
	var r client.Run
	if err := json.Unmarshal(data, &r); err != nil {
		return false, fmt.Errorf("read event: %w", err)
	}
	tell(r)
	return event == "done", nil
}

type runsCancelCommand struct {
	remote
	ID     string `arg:"" help:"The run's ID."`
	Reason string `placeholder:"TEXT" help:"Why; kept in the history."`
}

// Help shows how the command is used.
func (runsCancelCommand) Help() string {
	return `What is being written at this moment still gets its outcome.

Example:

	airtable-replay runs cancel 0199aa00-0000-7000-8000-000000000002 --reason "wrong selector"`
}

// Run implements the command.
func (c *runsCancelCommand) Run(p *process) error {
	api, err := c.dial()
	if err != nil {
		return err
	}
	a, err := ask[client.Run](api.CancelRunWithResponse(p.ctx, c.ID, client.Order{Reason: given(c.Reason)}))
	if err != nil {
		return err
	}
	return c.show(p, a.raw, func() string { return runText(a.value, p.columns()) })
}

type runsEvidenceCommand struct {
	remote
	ID     string `arg:"" help:"The run's ID."`
	Format string `enum:"json,csv" default:"json" help:"json, or csv with one line for each field of each entry (default ${default})."`
	Output string `short:"o" placeholder:"FILE" help:"Where to save it; it must not exist yet. Standard output otherwise."`
}

// Help shows how the command is used.
func (runsEvidenceCommand) Help() string {
	return `Examples:

	airtable-replay runs evidence 0199aa00-0000-7000-8000-000000000002 -o evidence.json
	airtable-replay runs evidence 0199aa00-0000-7000-8000-000000000002 --format csv -o evidence.csv`
}

// Run implements the command.
func (c *runsEvidenceCommand) Run(p *process) error {
	api, err := c.dial()
	if err != nil {
		return err
	}
	if _, err := os.Stat(c.Output); c.Output != "" && err == nil {
		return usage("--output: %s exists", c.Output)
	}
	resp, err := api.ShowEvidence(p.ctx, c.ID, &client.ShowEvidenceParams{Format: given(client.ShowEvidenceParamsFormat(c.Format))})
	if err != nil {
		return unreachable(err)
	}
	defer func() { _ = resp.Body.Close() }()
	if resp.StatusCode != http.StatusOK {
		raw, err := io.ReadAll(resp.Body)
		if err != nil {
			return unreachable(err)
		}
		return refusalOf(resp.Status, resp.Header.Get("Content-Type"), raw)
	}
	if c.Output != "" {
		return save(p, c.Output, resp.Body)
	}
	if !terminal(p.stdout) {
		_, err := io.Copy(p.stdout, resp.Body)
		return copied(err)
	}
	lines := bufio.NewReader(resp.Body)
	for {
		line, err := lines.ReadString('\n')
		if line != "" {
			if err := p.print(printable(strings.TrimRight(line, "\r\n")) + "\n"); err != nil {
				return err
			}
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return copied(err)
		}
	}
}

func copied(err error) error {
	if err != nil {
		return fmt.Errorf("save evidence: %w", err)
	}
	return nil
}

// save writes a file whole or not at all.
func save(p *process, name string, from io.Reader) error {
	file, err := os.CreateTemp(filepath.Dir(name), ".evidence-*")
	if err != nil {
		return copied(err)
	}
	defer func() { _ = os.Remove(file.Name()) }() // gone already when all went well
	n, err := io.Copy(file, from)
	if err := errors.Join(err, file.Close()); err != nil {
		return copied(err)
	}
	if err := os.Link(file.Name(), name); err != nil { // unlike a rename, it replaces nothing
		return copied(err)
	}
	p.note("%d bytes saved in %s", n, name)
	return nil
}
