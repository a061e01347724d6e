package console

import (
	"bytes"
	"strings"
	"unicode/utf8"
)

// diffKind tells what became of a line.
type diffKind string

// The kinds of line.
const (
	diffSame    diffKind = "same"
	diffRemoved diffKind = "removed"
	diffAdded   diffKind = "added"
	diffGap     diffKind = "gap" // lines that are the same and not shown
)

// diffLine is one line of a comparison.
type diffLine struct {
	Kind diffKind
	Text string
}

// Sign is the mark of the line, so that colour is not needed.
func (l diffLine) Sign() string {
	switch l.Kind {
	case diffRemoved:
		return "−"
	case diffAdded:
		return "+"
	case diffGap:
		return "…"
	case diffSame:
	}
	return " "
}

// diffPayloads compares two payloads by line: as JSON with line breaks where both are JSON that differs
// in more than its blanks, else as they are.
func diffPayloads(before, after []byte) []diffLine {
	a, b := prettyJSON(before), prettyJSON(after)
	if a == b || a == string(before) != (b == string(after)) {
		a, b = string(before), string(after)
	}
	if !utf8.Valid(before) || bytes.IndexByte(before, 0) >= 0 {
		a = showPayload(before).Text
	}
	return diffLines(strings.Split(a, "\n"), strings.Split(b, "\n"))
}

// maxCompared bounds the table of a comparison, in cells; beyond, the middle is one removal and one
// addition.
const maxCompared = 4_000_000

// diffLines compares lines: what both begin and end with, and between them the longest common
// subsequence.
func diffLines(a, b []string) []diffLine {
	head := 0
	for head < len(a) && head < len(b) && a[head] == b[head] {
		head++
	}
	tail := 0
	for tail < len(a)-head && tail < len(b)-head && a[len(a)-1-tail] == b[len(b)-1-tail] {
		tail++
	}
	out := lines(diffSame, a[:head])
	x, y := a[head:len(a)-tail], b[head:len(b)-tail]
	if len(x)*len(y) > maxCompared {
		out = append(append(out, lines(diffRemoved, x)...), lines(diffAdded, y)...)
	} else {
		out = append(out, diffMiddle(x, y)...)
	}
	return fold(append(out, lines(diffSame, a[len(a)-tail:])...))
}

func diffMiddle(a, b []string) []diffLine {
	common := make([][]int, len(a)+1) // length of the longest common subsequence of a[i:] and b[j:]
	for i := range common {
		common[i] = make([]int, len(b)+1)
	}
	for i := len(a) - 1; i >= 0; i-- {
		for j := len(b) - 1; j >= 0; j-- {
			if a[i] == b[j] {
				common[i][j] = common[i+1][j+1] + 1
			} else {
				common[i][j] = max(common[i+1][j], common[i][j+1])
			}
		}
	}
	var out []diffLine
	i, j := 0, 0
	for i < len(a) && j < len(b) {
		switch {
		case a[i] == b[j]:
			out = append(out, diffLine{diffSame, a[i]})
			i, j = i+1, j+1
		case common[i+1][j] >= common[i][j+1]:
			out = append(out, diffLine{diffRemoved, a[i]})
			i++
		default:
			out = append(out, diffLine{diffAdded, b[j]})
			j++
		}
	}
	return append(append(out, lines(diffRemoved, a[i:])...), lines(diffAdded, b[j:])...)
}

func lines(kind diffKind, texts []string) []diffLine {
	out := make([]diffLine, len(texts))
	for i, text := range texts {
		out[i] = diffLine{kind, text}
	}
	return out
}

// around is how many lines that are the same are shown beside a change.
const around = 4

// fold leaves out long stretches that are the same.
func fold(all []diffLine) []diffLine {
	near := make([]bool, len(all))
	for i, l := range all {
		if l.Kind == diffSame {
			continue
		}
		for j := max(0, i-around); j <= min(len(all)-1, i+around); j++ {
			near[j] = true
		}
	}
	var out []diffLine
	for i, l := range all {
		switch {
		case near[i]:
			out = append(out, l)
		case len(out) == 0 || out[len(out)-1].Kind != diffGap:
			out = append(out, diffLine{Kind: diffGap})
		}
	}
	return out
}
