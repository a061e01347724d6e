package main

import "airtable-replay/api/client"

// What the tests of text and streams look at without a process around it.
var (
	Printable      = printable
	PrintableLines = printableLines
	Harmless       = harmless
	Hang           = hang
	Cut            = cut
	Cells          = cells
)

// Page is a grid's page of one cuttable, one firm and one expendable column.
func Page(line int, rows [][3]string) string {
	g := newGrid(column{title: "CUT", least: 6}, column{title: "FIRM"}, column{title: "DROP", drop: 1})
	for _, row := range rows {
		g.add(row[:]...)
	}
	return g.page(line)
}

// ProblemText is how a problem is said.
func ProblemText(p client.Problem) string { return (&problemError{p}).Error() }
