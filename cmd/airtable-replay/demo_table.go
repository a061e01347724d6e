package main

import (
	"context"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"airtable-replay/api/client"
)

// curtain ends the story when all of it came out as it must.
const curtain = `
All %d outcomes are as expected: nothing newer was overwritten, and no entry was lost.

To go on:
  make demo    the same dead letters, left for you to press and the orders for you to edit
  make test    every test
  airtable-replay serve --help
`

// perform plays the scenes and prints how they came out. An outcome that is not as expected is an error.
func (p *play) perform(ctx context.Context, w io.Writer) error {
	var text strings.Builder
	table := tabwriter.NewWriter(&text, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "ORDER\tWHAT HAPPENED MEANWHILE\tOUTCOME\tREASON\tCELL NOW")
	var wrong []string
	for _, s := range scenes() {
		got, err := p.performScene(ctx, s)
		if err != nil {
			return fmt.Errorf("order %s, %s: %w", s.order, s.meanwhile, err)
		}
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%s\n", s.order, s.meanwhile, got.outcome, got.reason, got.cell)
		if got != s.want {
			wrong = append(wrong, fmt.Sprintf("order %s, %s: expected %s, %s, %s", s.order, s.meanwhile, s.want.outcome, s.want.reason, s.want.cell))
		}
	}
	if err := table.Flush(); err != nil {
		return err
	}
	if len(wrong) == 0 {
		fmt.Fprintf(&text, curtain, len(scenes()))
	}
	if _, err := io.WriteString(w, text.String()); err != nil {
		return fmt.Errorf("print table: %w", err)
	}
	if len(wrong) > 0 {
		return fmt.Errorf("not every outcome is as expected\n%s", strings.Join(wrong, "\n"))
	}
	return nil
}

func (p *play) performScene(ctx context.Context, s scene) (ending, error) {
	got, err := s.act(ctx, p)
	if err != nil {
		return ending{}, err
	}
	got.cell = "-"
	r, found, err := p.client.find(ctx, "Orders", "Order ID", s.order)
	if value, ok := r.Fields[s.field].(string); found && ok {
		got.cell = value
	}
	return got, err
}

// problemName is the last part of a problem's type.
func problemName(p *client.Problem) string {
	return p.Type[strings.LastIndex(p.Type, "/")+1:]
}
