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
	return reflect.DeepEqual(x, y) || pairedOnce(x, y) && pairedOnce(y, x)
}

func pairedOnce(x, y []any) bool {
	for _, a := range x {
		n := 0
		for _, b := range y {
			if samePerson(a, b) {
				n++
			}
		}
		if n != 1 {
			return false
		}
	}
	return true
}
