package formula

import (
	"regexp"
	"regexp/syntax"
	"strings"
)

// Airtable's regular expressions are RE2, and so are Go's.
var regexFunctions = map[string]*function{
	"REGEX_MATCH":   {min: 2, max: 2, apply: regexMatch},
	"REGEX_EXTRACT": {min: 2, max: 2, apply: regexExtract},
	"REGEX_REPLACE": {min: 3, max: 3, apply: regexReplace},
}

// maxPattern is the longest regular expression, in bytes.
const maxPattern = 10_000

// regexSearch is a compiled expression, the text to search, and the most matches the work left allows for.
type regexSearch struct {
	expression *regexp.Regexp
	text       string
	matches    int
}

// compile prepares a search. One match costs at most the size of the program times the length of the text.
func (ev *evaluation) compile(text, pattern Value) (regexSearch, bool) {
	source := pattern.Text()
	if len(source) > maxPattern {
		return regexSearch{}, false
	}
	expression, err := regexp.Compile(source)
	if err != nil {
		return regexSearch{}, false
	}
	tree, err := syntax.Parse(source, syntax.Perl)
	if err != nil {
		return regexSearch{}, false
	}
	program, err := syntax.Compile(tree.Simplify())
	if err != nil {
		return regexSearch{}, false
	}
	const compiling = 32 // what compiling an instruction costs, in steps of a search
	s := regexSearch{expression: expression, text: text.Text()}
	perMatch := len(program.Inst) * (len(s.text) + 1)
	if !ev.spend(compiling*len(program.Inst) + perMatch) {
		return regexSearch{}, false
	}
	s.matches = 1 + ev.work/perMatch
	return s, true
}

func regexMatch(ev *evaluation, args []Value) Value {
	s, ok := ev.compile(args[0], args[1])
	if !ok {
		return errorValue()
	}
	return boolValue(s.expression.MatchString(s.text))
}

// regexExtract returns the first match; without one it fails, as Airtable does.
func regexExtract(ev *evaluation, args []Value) Value {
	s, ok := ev.compile(args[0], args[1])
	if !ok {
		return errorValue()
	}
	at := s.expression.FindStringIndex(s.text)
	if at == nil {
		return errorValue()
	}
	return ev.text(s.text[at[0]:at[1]])
}

// groupReference finds $1 in a replacement; Go would read the letters after it as part of the name.
var groupReference = regexp.MustCompile(`\$(\d+)`)

// regexReplace replaces all matches; $1 in the replacement stands for the first group.
func regexReplace(ev *evaluation, args []Value) Value {
	s, ok := ev.compile(args[0], args[1])
	if !ok {
		return errorValue()
	}
	found := s.expression.FindAllStringSubmatchIndex(s.text, s.matches)
	if len(found) == s.matches {
		ev.work = 0
		return errorValue()
	}
	template := groupReference.ReplaceAllString(args[2].Text(), "$${$1}")
	var replaced strings.Builder
	end := 0
	for _, match := range found {
		// Each reference adds at most the whole match.
		if replaced.Len()+len(template)+strings.Count(template, "$")*(match[1]-match[0]) > MaxText {
			return errorValue()
		}
		replaced.WriteString(s.text[end:match[0]])
		replaced.Write(s.expression.ExpandString(nil, template, s.text, match))
		end = match[1]
	}
	return ev.text(replaced.String() + s.text[end:])
}
