package main

import (
	"slices"
	"strings"
)

// gap is what stands between two columns.
const gap = 2

// column is one column of a grid.
type column struct {
	title string
	// least is the width down to which it may be cut before others are left out; 0: it is never cut.
	least int
	// drop is the order in which columns are left out when even the least widths do not fit, the
	// highest first; 0: never.
	drop int
}

// cramped is the width down to which columns are cut when nothing else helps.
const cramped = 4

// grid is a table that fits the terminal. Its cells may be of any origin.
type grid struct {
	columns []column
	rows    [][]string
	widths  []int // as printed last, so that pages of one list line up
	begun   bool  // the head is printed
}

func newGrid(columns ...column) *grid { return &grid{columns: columns} }

func (g *grid) add(values ...string) {
	for i, v := range values {
		if values[i] = printable(v); v == "" {
			values[i] = "-"
		}
	}
	g.rows = append(g.rows, values)
}

// page gives the rows added so far as text that fits into a line of so many characters (0: of any
// length), with the head above the first page, and forgets them.
func (g *grid) page(line int) string {
	if g.widths == nil {
		g.widths = make([]int, len(g.columns))
	}
	for i, c := range g.columns {
		g.widths[i] = max(g.widths[i], cells(c.title))
		for _, row := range g.rows {
			g.widths[i] = max(g.widths[i], cells(row[i]))
		}
	}
	widths := g.fit(line)
	var b strings.Builder
	if !g.begun {
		titles := make([]string, len(g.columns))
		for i, c := range g.columns {
			titles[i] = c.title
		}
		writeRow(&b, titles, widths)
		g.begun = true
	}
	for _, row := range g.rows {
		writeRow(&b, row, widths)
	}
	g.rows = nil
	return b.String()
}

func writeRow(b *strings.Builder, row []string, widths []int) {
	var line strings.Builder
	for i, value := range row {
		if widths[i] < 0 {
			continue
		}
		value = cut(value, widths[i])
		line.WriteString(value + strings.Repeat(" ", widths[i]-cells(value)+gap))
	}
	b.WriteString(strings.TrimRight(line.String(), " ") + "\n")
}

// fit gives each column its width; those below 0 are left out.
func (g *grid) fit(line int) []int {
	widths := slices.Clone(g.widths)
	if line == 0 {
		return widths
	}
	for least(g.columns, widths) > line {
		at := g.expendable(widths)
		if at < 0 {
			break
		}
		widths[at] = -1
	}
	for _, bound := range []func(column) int{func(c column) int { return c.least }, func(c column) int { return min(c.least, cramped) }} {
		for total(widths) > line {
			at := g.widest(widths, bound)
			if at < 0 {
				break
			}
			widths[at]--
		}
	}
	return widths
}

func (g *grid) expendable(widths []int) int {
	found := -1
	for i, c := range g.columns {
		if c.drop > 0 && widths[i] >= 0 && (found < 0 || c.drop > g.columns[found].drop) {
			found = i
		}
	}
	return found
}

// widest is the column that can best spare a character without falling below its bound.
func (g *grid) widest(widths []int, bound func(column) int) int {
	found := -1
	for i, c := range g.columns {
		if c.least > 0 && widths[i] > bound(c) && (found < 0 || widths[i] > widths[found]) {
			found = i
		}
	}
	return found
}

func least(columns []column, widths []int) int {
	shortest := make([]int, len(widths))
	for i, w := range widths {
		if shortest[i] = w; columns[i].least > 0 {
			shortest[i] = min(w, columns[i].least)
		}
	}
	return total(shortest)
}

func total(widths []int) int {
	sum := -gap
	for _, w := range widths {
		if w >= 0 {
			sum += w + gap
		}
	}
	return sum
}
