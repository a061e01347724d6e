package store

import (
	"errors"

	"github.com/google/uuid"
)

// newID makes an ID that sorts by age and never begins with "rec".
func newID() string { return uuid.Must(uuid.NewV7()).String() }

// idLength is that of an ID as Postgres and we write it; uuid itself takes other spellings too.
const idLength = 36

var errNoID = errors.New("not an ID of ours")

// checkID tells whether an ID could be one of ours.
func checkID(id string) error {
	if len(id) != idLength || uuid.Validate(id) != nil {
		return errNoID
	}
	return nil
}
