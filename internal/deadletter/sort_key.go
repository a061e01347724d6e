package deadletter

import "fmt"

// SortKey is a decimal number that orders versions of one kind as Compare does, but for their
// tie-breaks; a database sorts by it. It is empty for the zero Version.
func (v Version) SortKey() string {
	switch v.kind {
	case VersionNumber:
		return v.number.String()
	case VersionTimestamp:
		seconds, nanos := v.at.Unix(), v.at.Nanosecond()
		if seconds < 0 && nanos > 0 { // the fraction counts forwards, a decimal's backwards
			return fmt.Sprintf("-%d.%09d", -(seconds + 1), 1_000_000_000-nanos)
		}
		return fmt.Sprintf("%d.%09d", seconds, nanos)
	}
	return ""
}
