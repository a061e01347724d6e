package conformance

import (
	"bufio"
	"fmt"
	"io/fs"
	"strconv"
	"strings"

	"golang.org/x/tools/txtar"
)

// Scenario is a file of exchanges that belong together.
type Scenario struct {
	// Name is the file's, without its ending.
	Name string
	// Title says what the exchanges show, Source where that is known from.
	Title, Source string
	// Needs is why only the sandbox can play it; empty for any address.
	Needs     string
	exchanges []exchange
}

// exchange is a request and the answer that is expected.
type exchange struct {
	method, path  string
	query, header [][2]string
	body          string

	status       int
	answerHeader [][2]string
	answer       string
	exactly      bool
}

// Load reads the scenarios of a folder. The error names the file and what is
// wrong in it.
func Load(files fs.FS) ([]Scenario, error) {
	names, err := fs.Glob(files, "*.txtar")
	if err != nil {
		return nil, err
	}
	var all []Scenario
	for _, name := range names {
		data, err := fs.ReadFile(files, name)
		if err != nil {
			return nil, err
		}
		s, err := parse(data)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		s.Name = strings.TrimSuffix(name, ".txtar")
		all = append(all, s)
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("no exchanges: the folder has no .txtar file")
	}
	return all, nil
}

func parse(data []byte) (Scenario, error) {
	archive := txtar.Parse(data)
	var s Scenario
	for line := range strings.Lines(string(archive.Comment)) {
		line = strings.TrimSpace(line)
		if source, ok := strings.CutPrefix(line, "source: "); ok {
			s.Source = source
		} else if needs, ok := strings.CutPrefix(line, "needs: sandbox, because "); ok {
			s.Needs = needs
		} else if line != "" {
			s.Title = strings.TrimSpace(s.Title + " " + line)
		}
	}
	if s.Title == "" || s.Source == "" {
		return s, fmt.Errorf("a title and a line \"source: \" must stand before the first request")
	}
	if len(archive.Files) == 0 || len(archive.Files)%2 != 0 {
		return s, fmt.Errorf("%d parts: requests and answers must come in pairs", len(archive.Files))
	}
	for i := 0; i < len(archive.Files); i += 2 {
		request, answer := archive.Files[i], archive.Files[i+1]
		if request.Name != "request" || answer.Name != "answer" {
			return s, fmt.Errorf("part %d is %q and %q, not request and answer", i, request.Name, answer.Name)
		}
		var x exchange
		if err := x.parse(string(request.Data), string(answer.Data)); err != nil {
			return s, fmt.Errorf("exchange %d: %w", i/2+1, err)
		}
		s.exchanges = append(s.exchanges, x)
	}
	return s, nil
}

func (x *exchange) parse(request, answer string) error {
	first, header, body := split(request)
	var ok bool
	if x.method, x.path, ok = strings.Cut(first, " "); !ok {
		return fmt.Errorf("%q is no method and path", first)
	}
	for _, line := range header {
		if value, isQuery := strings.CutPrefix(line, "?"); isQuery {
			name, value, _ := strings.Cut(value, "=")
			x.query = append(x.query, [2]string{name, value})
			continue
		}
		pair, err := headerLine(line)
		if err != nil {
			return err
		}
		x.header = append(x.header, pair)
	}
	x.body = body
	first, header, x.answer = split(answer)
	var err error
	if x.status, err = strconv.Atoi(strings.TrimSuffix(first, " exactly")); err != nil {
		return fmt.Errorf("%q is no status", first)
	}
	x.exactly = strings.HasSuffix(first, " exactly")
	for _, line := range header {
		pair, err := headerLine(line)
		if err != nil {
			return err
		}
		x.answerHeader = append(x.answerHeader, pair)
	}
	return nil
}

func headerLine(line string) ([2]string, error) {
	name, value, ok := strings.Cut(line, ": ")
	if !ok {
		return [2]string{}, fmt.Errorf("%q is no header", line)
	}
	return [2]string{name, value}, nil
}

// split takes the first line, the header lines up to an empty one, and the rest.
func split(text string) (string, []string, string) {
	var head []string
	scanner := bufio.NewScanner(strings.NewReader(text))
	read := 0
	for scanner.Scan() {
		read += len(scanner.Text()) + 1
		if scanner.Text() == "" {
			break
		}
		head = append(head, scanner.Text())
	}
	if len(head) == 0 {
		return "", nil, ""
	}
	return head[0], head[1:], strings.TrimSpace(text[min(read, len(text)):])
}
