package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	"golang.org/x/term"
	"golang.org/x/text/width"
)

// terminal tells whether a stream is one.
func terminal(stream any) bool {
	file, ok := stream.(*os.File)
	return ok && term.IsTerminal(int(file.Fd()))
}

// columns is how many characters fit into a line of standard output; 0: as many as there are.
func (p *process) columns() int { return columnsOf(p.stdout) }

// columnsOf is the width of the terminal that a stream is, else what COLUMNS says; 0: without bounds.
func columnsOf(stream any) int {
	if file, ok := stream.(*os.File); ok {
		if n, _, err := term.GetSize(int(file.Fd())); err == nil && n > 0 {
			return n
		}
	}
	if n, err := strconv.Atoi(os.Getenv("COLUMNS")); err == nil && n > 0 {
		return n
	}
	return 0
}

// print writes text for people to standard output.
func (p *process) print(text string) error {
	if _, err := io.WriteString(p.stdout, text); err != nil {
		return fmt.Errorf("print: %w", err)
	}
	return nil
}

// note tells people something that is no part of the output.
func (p *process) note(format string, args ...any) {
	fmt.Fprintf(p.stderr, format+"\n", args...)
}

var errDeclined = errors.New("nothing was changed")

// confirm asks before something large. Where nobody can be asked, the flag --yes has to say it.
func (p *process) confirm(question string, yes bool) error {
	if yes {
		return nil
	}
	if !terminal(p.stdin) {
		return usage("%s Add --yes if you mean it.", question)
	}
	fmt.Fprintf(p.stderr, "%s [y/N] ", question)
	answer, err := p.typed()
	if err != nil {
		return err
	}
	switch strings.ToLower(strings.TrimSpace(answer)) {
	case "y", "yes":
		return nil
	}
	return errDeclined
}

// typed reads a line that a person types. An interrupt ends the wait, not the read, which nothing can end
// but the process; so it is for commands that then return.
func (p *process) typed() (string, error) {
	type read struct {
		line string
		err  error
	}
	come := make(chan read, 1)
	go func() {
		line, err := bufio.NewReader(p.stdin).ReadString('\n')
		come <- read{line, err}
	}()
	select {
	case <-p.ctx.Done():
		p.note("") // the shell's prompt gets a line of its own
		return "", errDeclined
	case r := <-come:
		if r.err != nil && !errors.Is(r.err, io.EOF) {
			return "", fmt.Errorf("read answer: %w", r.err)
		}
		return r.line, nil
	}
}

// printable makes text of unknown origin harmless for a terminal, on one line: control characters, which
// could move the cursor, change colours or type for the user, and those that turn the direction of
// writing, are shown by their code; so are bytes that are not UTF-8.
func printable(text string) string {
	var b strings.Builder
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRuneInString(text[i:])
		switch {
		case r == utf8.RuneError && size == 1:
			fmt.Fprintf(&b, `\x%02x`, text[i])
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\t':
			b.WriteString(`\t`)
		case hostile(r):
			b.WriteString(escaped(r))
		default:
			b.WriteRune(r)
		}
		i += size
	}
	return b.String()
}

// hostile tells characters that do something to a terminal rather than show: controls (C0, C1), and the
// format characters of Unicode such as those of bidirectional text. The joiners, without which some
// scripts and emoji cannot be written, do no harm.
func hostile(r rune) bool {
	const nonJoiner, joiner = '\u200c', '\u200d'
	return r != nonJoiner && r != joiner &&
		(unicode.IsControl(r) || unicode.Is(unicode.Cf, r) || r == '\u2028' || r == '\u2029')
}

// escaped is a character by its code, as JSON writes it.
func escaped(r rune) string {
	if high, low := utf16.EncodeRune(r); high != unicode.ReplacementChar {
		return fmt.Sprintf(`\u%04x\u%04x`, high, low)
	}
	return fmt.Sprintf(`\u%04x`, r)
}

// printableLines is printable for text of several lines, each indented.
func printableLines(text, indent string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		b.WriteString(indent + printable(strings.TrimRight(line, "\r\n")) + "\n")
	}
	return b.String()
}

// hang breaks a text into lines of so many columns (0: of any length), at blanks. What begins the first
// line, up to the indent, is kept as it is; the other lines are indented by as much.
func hang(text string, indent, line int) string {
	if line == 0 || len(text) <= indent || cells(text) <= line {
		return text
	}
	current, used := text[:indent], indent
	var lines []string
	for i, word := range strings.Split(text[indent:], " ") {
		switch n := cells(word); {
		case i == 0:
		case used+1+n > line:
			lines = append(lines, current)
			current, used = strings.Repeat(" ", indent), indent
		default:
			current, used = current+" ", used+1
		}
		current, used = current+word, used+cells(word)
	}
	return strings.Join(append(lines, current), "\n")
}

// cells is how wide a text is on a terminal.
func cells(text string) int {
	n := 0
	for _, r := range text {
		n += runeCells(r)
	}
	return n
}

func runeCells(r rune) int {
	switch {
	case unicode.In(r, unicode.Mn, unicode.Me):
		return 0
	case width.LookupRune(r).Kind() == width.EastAsianWide || width.LookupRune(r).Kind() == width.EastAsianFullwidth:
		return 2
	}
	return 1
}

// cut shortens a text to n columns, its end marked.
func cut(text string, n int) string {
	if cells(text) <= n {
		return text
	}
	used := 0
	for i, r := range text {
		if used+runeCells(r) > n-1 {
			return text[:i] + "…"
		}
		used += runeCells(r)
	}
	return text
}
