package console

// What the tests of the small parts use.
var (
	EditedBytes = editedBytes
	FormText    = formText
	Ago         = ago
	ValueText   = valueText
	LocalPath   = localPath
	ShowPayload = showPayload
	ReasonWords = reasonWords
	Share       = share
	Thousands   = thousands
)

// DiffText is a comparison as text, one line each with its sign.
func DiffText(before, after string) []string {
	var out []string
	for _, l := range diffPayloads([]byte(before), []byte(after)) {
		out = append(out, l.Sign()+l.Text)
	}
	return out
}

// Diff gives the lines of a comparison by kind, with no stretch left out.
func Diff(a, b []string) (before, after []string) {
	for _, l := range diffMiddle(a, b) {
		if l.Kind != diffAdded {
			before = append(before, l.Text)
		}
		if l.Kind != diffRemoved {
			after = append(after, l.Text)
		}
	}
	return before, after
}
