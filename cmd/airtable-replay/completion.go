package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/alecthomas/kong"
)

// completionCommand prints what makes a shell complete the command line.
type completionCommand struct {
	Shell string `arg:"" enum:"bash,zsh,fish" help:"bash, zsh or fish."`
}

// Help shows how the command is used.
func (completionCommand) Help() string {
	return `Examples:

	source <(airtable-replay completion bash)
	source <(airtable-replay completion zsh)
	airtable-replay completion fish > ~/.config/fish/completions/airtable-replay.fish`
}

// completions are the scripts: each asks the program itself what could come next. Where it has nothing
// to offer, files are.
var completions = map[string]string{
	"bash": `_airtable_replay() {
  local IFS=$'\n'
  COMPREPLY=($(airtable-replay __complete -- "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null))
}
complete -o bashdefault -o default -F _airtable_replay airtable-replay
`,
	"zsh": `#compdef airtable-replay
_airtable_replay() {
  local -a words_offered
  words_offered=("${(@f)$(airtable-replay __complete -- "${(@)words[2,CURRENT]}" 2>/dev/null)}")
  if [[ -n "${words_offered[1]}" ]]; then compadd -a words_offered; else _files; fi
}
compdef _airtable_replay airtable-replay
`,
	"fish": `function __airtable_replay_complete
  set -l tokens (commandline -opc) (commandline -ct)
  airtable-replay __complete -- $tokens[2..-1] 2>/dev/null
end
complete -c airtable-replay -a '(__airtable_replay_complete)'
`,
}

// Run implements the command.
func (c *completionCommand) Run(p *process) error { return p.print(completions[c.Shell]) }

// completeCommand offers the words that could come next; shells call it.
type completeCommand struct {
	Words []string `arg:"" optional:"" passthrough:""`
}

// Run implements the command.
func (c *completeCommand) Run(p *process) error {
	words := c.Words
	if len(words) > 0 && words[0] == "--" {
		words = words[1:]
	}
	if len(words) == 0 {
		words = []string{""}
	}
	var b strings.Builder
	for _, word := range offers(p.model.Node, words) {
		fmt.Fprintln(&b, word)
	}
	return p.print(b.String())
}

// offers lists what the last word could become: a command, a flag, or a flag's value.
func offers(node *kong.Node, words []string) []string {
	typed, last := words[:len(words)-1], words[len(words)-1]
	var awaiting *kong.Flag // a flag whose value comes next
	for _, word := range typed {
		switch {
		case awaiting != nil:
			awaiting = nil
		case strings.HasPrefix(word, "-"):
			if f := flagNamed(node, word); f != nil && !f.IsBool() {
				awaiting = f
			}
		default:
			if child := childNamed(node, word); child != nil {
				node = child
			}
		}
	}
	var found []string
	switch {
	case awaiting != nil:
		found = valuesOf(awaiting.Value)
	case strings.HasPrefix(last, "--") && strings.Contains(last, "="):
		name, _, _ := strings.Cut(last, "=")
		if f := flagNamed(node, name); f != nil {
			for _, v := range valuesOf(f.Value) {
				found = append(found, name+"="+v)
			}
		}
	case strings.HasPrefix(last, "-"):
		found = flagNames(node)
	default:
		found = childNames(node)
	}
	return slices.DeleteFunc(found, func(word string) bool { return !strings.HasPrefix(word, last) })
}

func childNamed(node *kong.Node, name string) *kong.Node {
	at := slices.IndexFunc(node.Children, func(c *kong.Node) bool { return c.Name == name })
	if at < 0 {
		return nil
	}
	return node.Children[at]
}

// childNames lists the commands below, and the values of an argument that has only some.
func childNames(node *kong.Node) []string {
	var names []string
	for _, c := range node.Children {
		if !c.Hidden {
			names = append(names, c.Name)
		}
	}
	for _, argument := range node.Positional {
		names = append(names, valuesOf(argument)...)
	}
	return names
}

func flagNamed(node *kong.Node, word string) *kong.Flag {
	for _, group := range node.AllFlags(true) {
		for _, f := range group {
			if word == "--"+f.Name || f.Short != 0 && word == "-"+string(f.Short) {
				return f
			}
		}
	}
	return nil
}

func flagNames(node *kong.Node) []string {
	var names []string
	for _, group := range node.AllFlags(true) {
		for _, f := range group {
			names = append(names, "--"+f.Name)
		}
	}
	slices.Sort(names)
	return names
}

// valuesOf lists the values of which one has to be taken.
func valuesOf(v *kong.Value) []string {
	if v.Enum == "" {
		return nil
	}
	return slices.DeleteFunc(strings.Split(v.Enum, ","), func(value string) bool { return value == "" })
}
