package deadletter

import (
	"fmt"
	"strconv"
)

// SortKey is a decimal number that orders versions of one kind as Compare does, but for their
// tie-breaks; a database sorts by it. It is empty for the zero Version.
func (v Version) SortKey() string {
	switch v.kind {
	case VersionTimestamp:
		return strconv.FormatInt(v.at.Unix(), 10) + fmt.Sprintf(".%09d", v.at.Nanosecond())
	case VersionNumber:
		return fmt.Sprint(v.Cell())
	}
	return ""
}
