package sandbox

import (
	"hash/fnv"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"
)

// Files are read after the answer, by nobody here: what is told of them is made
// up from their source. A source under the reserved domain .invalid, which no
// network knows, cannot be read.

// fetch has the new files of a cell read. One that cannot be read vanishes
// from the cell without a word to whoever wrote it.
func (c *commit) fetch(f *field, r *record, value any) {
	files, _ := value.([]attachment)
	for _, file := range files {
		if file.unreadable() && file.Fetched.After(c.at) {
			c.s.later(file.Fetched, func(at time.Time) { c.s.lose(f, r, file, at) })
		}
	}
}

func (a attachment) unreadable() bool {
	source, err := url.Parse(a.Source)
	return err != nil || strings.HasSuffix(source.Hostname(), ".invalid")
}

// lose takes a file out of its cell. That is no edit, so it moves no time of
// last modification.
func (s *Sandbox) lose(f *field, r *record, file attachment, at time.Time) {
	if f.gone() || f.table.byID[r.id] != r {
		return
	}
	base := f.table.base
	base.failed(file.Source, at)
	held, _ := r.cells[f.id].([]attachment)
	left := slices.DeleteFunc(slices.Clone(held), func(a attachment) bool { return a.ID == file.ID })
	if len(left) == len(held) {
		return
	}
	var value any
	if len(left) > 0 {
		value = left
	}
	tx := s.begin(base, actor{person: person{ID: fixedID("usr", "system"), Name: "Airtable"}, label: "airtable", source: "system"}, at)
	tx.set(f.table, r, f, value, false)
	tx.finish()
}

const (
	failuresForgotten = 10 * time.Minute
	maxFailures       = 2
)

func (b *base) failed(source string, at time.Time) {
	if b.badFiles == nil {
		b.badFiles = map[string][]time.Time{}
	}
	b.badFiles[source] = append(b.badFiles[source], at)
}

// keepsFailing says whether a source failed so often of late that it is
// refused at once.
func (b *base) keepsFailing(source string, now time.Time) bool {
	recent := slices.DeleteFunc(b.badFiles[source], func(at time.Time) bool { return now.Sub(at) > failuresForgotten })
	if len(recent) == 0 {
		delete(b.badFiles, source)
		return false
	}
	b.badFiles[source] = recent
	return len(recent) >= maxFailures
}

func failedUploading(f *field) *apiError {
	return &apiError{status: http.StatusUnprocessableEntity, body: map[string]any{
		"error":   problem{Type: "INVALID_ATTACHMENT_OBJECT", Message: "Invalid attachment object for field " + f.name},
		"details": map[string]any{"reasons": []string{"ATTACHMENTS_FAILED_UPLOADING"}},
	}}
}

// describe adds what a fetched file tells of itself.
func (a attachment) describe(rd *reader, shown map[string]any) {
	kind := mediaType(a.Filename)
	shown["size"], shown["type"] = len(a.Source), kind
	if !strings.HasPrefix(kind, "image/") {
		return
	}
	sum := fnv.New32a()
	_, _ = sum.Write([]byte(a.Source)) // a hash never fails
	width, height := 100+int(sum.Sum32()%900), 100+int(sum.Sum32()/1000%900)
	shown["width"], shown["height"] = width, height
	thumbnails := map[string]any{}
	for name, tall := range map[string]int{"small": 36, "large": 512, "full": height} {
		thumbnails[name] = map[string]any{"url": rd.fileURL(a) + "&size=" + name, "width": max(1, width*tall/height), "height": tall}
	}
	shown["thumbnails"] = thumbnails
}
