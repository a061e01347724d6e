package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"airtable-replay/internal/app"
	"airtable-replay/internal/config"
	"airtable-replay/internal/doctor"
)

// examined is a command that looks at what the configuration names. It does without a database, and then
// says what it could not look at.
type examined struct {
	configured
	connected
	JSON bool `name:"json" help:"Print JSON."`
}

func (c *examined) validate() error {
	if c.DatabaseURL == "" {
		return c.configured.validate()
	}
	return errors.Join(c.configured.validate(), c.connected.validate())
}

// open reads the configuration and connects to the database, whose failure is a finding like others.
func (c *examined) open(p *process) (doctor.Config, func(), error) {
	file, err := c.load()
	if err != nil {
		return doctor.Config{}, nil, err
	}
	look, db := doctor.Config{File: file}, (*app.Database)(nil)
	if c.DatabaseURL != "" {
		if db, look.StoreErr = app.OpenMigrated(p.ctx, c.DatabaseURL); look.StoreErr == nil {
			look.Store = db.StoreOf(file)
		}
	}
	return look, func() {
		if db != nil {
			db.Close()
		}
	}, nil
}

func (c *examined) printJSON(p *process, v any) error {
	text, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return fmt.Errorf("write report: %w", err)
	}
	return p.print(harmless(text) + "\n")
}

// doctorCommand checks what the Airtable side needs (mission T4).
type doctorCommand struct {
	examined
	AllRecords bool `help:"Look for double keys among all records, not only among the first 1,000 of each table."`
}

// Help shows how the command is used.
func (doctorCommand) Help() string {
	return `Checks tokens and what they may do, tables and fields against the configuration, what the guards watch, double keys, the dead letter table, the database, the clocks and the webhooks' addresses. Nothing is changed. Each finding says what to mend. The exit code is 1 when there is a fault.

Examples:

	airtable-replay doctor --config replay.yaml
	airtable-replay doctor --config replay.yaml --all-records --json`
}

// Validate refuses a call without a configuration.
func (c *doctorCommand) Validate() error { return c.validate() }

// Run implements the command.
func (c *doctorCommand) Run(p *process) error {
	look, end, err := c.open(p)
	if err != nil {
		return err
	}
	defer end()
	if c.AllRecords {
		look.Records = -1
	}
	report, err := doctor.Check(p.ctx, look)
	if err != nil {
		return err
	}
	if c.JSON {
		err = c.printJSON(p, report)
	} else {
		err = p.print(findingsText(report.Findings, p.columns()))
	}
	if err != nil {
		return err
	}
	if n := report.Count(doctor.Fault); n > 0 {
		return fmt.Errorf("%s and %s found", counted(n, "fault"), counted(report.Count(doctor.Warning), "warning"))
	}
	return nil
}

// findingIndent is where the text of a finding begins.
const findingIndent = 9

// findingsText is a line for each finding; below it what to do.
func findingsText(findings []doctor.Finding, line int) string {
	var b strings.Builder
	for _, f := range findings {
		about := f.Area
		if f.Subject != "" {
			about += " " + f.Subject
		}
		b.WriteString(hang(fmt.Sprintf("%-8s %s: %s", f.Level, printable(about), printable(f.Detail)), findingIndent, line) + "\n")
		if f.Fix != "" {
			b.WriteString(hang("         -> "+printable(f.Fix), findingIndent+3, line) + "\n")
		}
	}
	return b.String()
}

// setupCommand adds what the Airtable side lacks (mission T4).
type setupCommand struct {
	examined
	DryRun bool `help:"Only say what would be added."`
}

// Help shows how the command is used.
func (setupCommand) Help() string {
	return `Makes the dead letter table, or adds what it lacks; adds stamp fields, and version fields of empty tables. The token needs the scope schema.bases:write for that. What only a person can do is listed with the steps. With DATABASE_URL every entry's row is sent again, to fill new fields.

Examples:

	airtable-replay setup --config replay.yaml --dry-run
	airtable-replay setup --config replay.yaml`
}

// Validate refuses a call without a configuration.
func (c *setupCommand) Validate() error { return c.validate() }

// Run implements the command.
func (c *setupCommand) Run(p *process) error {
	look, end, err := c.open(p)
	if err != nil {
		return err
	}
	defer end()
	if look.StoreErr != nil && !c.DryRun {
		return fmt.Errorf("%w\nnothing was added: mend that first, or run setup without DATABASE_URL", look.StoreErr)
	}
	work, err := doctor.Setup(p.ctx, look, c.DryRun)
	if err != nil {
		return err
	}
	if c.JSON {
		err = c.printJSON(p, work)
	} else {
		err = p.print(c.text(look.File, work, p.columns()))
	}
	if err != nil {
		return err
	}
	switch {
	case len(work.Unread) > 0:
		return fmt.Errorf("the tables of %s could not be checked", strings.Join(work.Unread, ", "))
	case work.Failed():
		return errors.New("not every field could be added")
	}
	return nil
}

// text tells what was done, and what is left to a person.
func (c *setupCommand) text(file *config.File, w doctor.Work, line int) string {
	var b strings.Builder
	added := false
	for _, a := range w.Additions {
		how := "would add "
		switch {
		case a.Problem != "":
			how = "could not add "
		case a.Added:
			how, added = "added ", true
		}
		what := fmt.Sprintf("%q to %q (%s)", a.Field, a.Table, a.Type)
		if a.Field == "" {
			what = fmt.Sprintf("the table %q", a.Table)
		}
		b.WriteString(how + printable(what) + "\n")
		if a.Problem != "" {
			b.WriteString(hang("         -> "+printable(a.Problem), findingIndent+3, line) + "\n")
		}
	}
	if len(w.Additions) == 0 && len(w.Unread) == 0 {
		b.WriteString("There is nothing to add.\n")
	}
	for _, base := range w.Unread {
		b.WriteString("could not look at the base " + base + ": what it lacks is not known\n")
	}
	switch {
	case w.Remirrored:
		b.WriteString("\nThe rows of all entries will be sent again in about ten minutes, when every process knows the new fields.\n")
	case added && file.DeadLetters != nil:
		b.WriteString("\nNo database is named, so rows that are in the dead letter table already keep the new fields empty until their entries change.\n")
	}
	if len(w.ByHand) > 0 {
		b.WriteString("\nLeft for a person:\n\n" + findingsText(w.ByHand, line))
	}
	return b.String()
}
