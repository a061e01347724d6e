package pipeline

import (
	"strings"
	"unicode"
)

// nearest shows the candidate that takes the fewest changes to get to, and says what the difference
// is where it is one that the eye misses (case B23). It is empty without candidates.
func nearest(text string, candidates []string) string {
	best, fewest := "", -1
	for _, candidate := range candidates {
		n := 0
		if difference(text, candidate) == "" {
			n = 1 + distance(fold(text), fold(candidate))
		}
		if fewest < 0 || n < fewest {
			best, fewest = candidate, n
		}
	}
	if fewest < 0 {
		return ""
	}
	shown := show(best)
	if why := difference(text, best); why != "" {
		shown += ", which differs only in " + why
	}
	_, markedText := mark(text)
	_, markedBest := mark(best)
	if markedText || markedBest {
		shown += " (· is a blank, ⍽ a no-break blank)"
	}
	return shown
}

// difference names what alone tells two texts apart; empty when it is more than that.
func difference(a, b string) string {
	switch {
	case withoutBlanks(a) == withoutBlanks(b):
		return "blanks"
	case strings.EqualFold(a, b):
		return "upper and lower case"
	case plainQuotes(a) == plainQuotes(b):
		return "the form of a quotation mark or dash"
	case fold(a) == fold(b):
		return "blanks, case or quotation marks"
	}
	return ""
}

func fold(text string) string { return strings.ToLower(plainQuotes(withoutBlanks(text))) }

func withoutBlanks(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) || r == '\u200b' || r == '\ufeff' {
			return -1
		}
		return r
	}, text)
}

var quotes = strings.NewReplacer("‘", "'", "’", "'", "ʼ", "'", "“", `"`, "”", `"`, "–", "-", "—", "-", "‐", "-", "‑", "-")

func plainQuotes(text string) string { return quotes.Replace(text) }

// distance is the number of characters to insert, delete or replace; of long texts only the
// beginnings are compared.
func distance(a, b string) int {
	const most = 100
	x, y := []rune(a), []rune(b)
	x, y = x[:min(len(x), most)], y[:min(len(y), most)]
	row := make([]int, len(y)+1)
	for j := range row {
		row[j] = j
	}
	for i, r := range x {
		diagonal := row[0]
		row[0] = i + 1
		for j, s := range y {
			change := diagonal
			if r != s {
				change++
			}
			diagonal = row[j+1]
			row[j+1] = min(change, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(y)]
}
