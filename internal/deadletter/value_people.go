package deadletter

import (
	"reflect"
	"strings"
)

// samePerson compares collaborators; a name may be missing and says nothing.
func samePerson(a, b any) bool {
	id, email := person(a)
	otherID, otherEmail := person(b)
	if id != "" && otherID != "" {
		return id == otherID
	}
	return email != "" && email == otherEmail
}

func person(v any) (id, email string) {
	if text, ok := v.(string); ok {
		if strings.Contains(text, "@") {
			return "", text
		}
		return text, ""
	}
	id, _ = member(v, "id")
	email, _ = member(v, "email")
	return id, email
}

// samePeople compares collaborators as sets: each has exactly one counterpart on the other side.
func samePeople(a, b any) bool {
	x, ok := list(a)
	y, alsoOK := list(b)
	if !ok || !alsoOK || len(x) != len(y) {
		return false
	}
	return reflect.DeepEqual(x, y) || pairedOnce(x, census(y)) && pairedOnce(y, census(x))
}

// headcount says how often somebody stands in a list, by what they are known by.
type headcount struct {
	ids, emails map[string]int
	nameless    map[string]int // by e-mail address, those without an ID
}

func census(people []any) headcount {
	c := headcount{map[string]int{}, map[string]int{}, map[string]int{}}
	for _, v := range people {
		id, email := person(v)
		c.ids[id]++
		c.emails[email]++
		if id == "" {
			c.nameless[email]++
		}
	}
	return c
}

func pairedOnce(people []any, others headcount) bool {
	for _, v := range people {
		id, email := person(v)
		matches := 0
		if email != "" {
			matches = others.emails[email]
		}
		if id != "" {
			matches = others.ids[id]
			if email != "" {
				matches += others.nameless[email]
			}
		}
		if matches != 1 {
			return false
		}
	}
	return true
}
