package sandbox

import (
	"fmt"
	"net/url"
	"path"
	"strings"
	"time"
)

// attachment is a file in a cell. Its ID is what it is; its URL is another one
// at every reading.
type attachment struct {
	ID, Filename, Source string
	Fetched              time.Time // when Airtable will have read, or failed to read, its source
}

// writeAttachments replaces the cell: an ID that is left out is deleted.
func writeAttachments(w *writer, f *field, v any) (any, error) {
	items, ok := v.([]any)
	if !ok {
		return nil, invalidAttachment(f)
	}
	var files []attachment
	for _, item := range items {
		m, ok := item.(map[string]any)
		if !ok {
			return nil, invalidAttachment(f)
		}
		file, err := w.attachment(f, m)
		if err != nil {
			return nil, err
		}
		files = append(files, file)
	}
	if len(files) == 0 {
		return nil, nil
	}
	return files, nil
}

func (w *writer) attachment(f *field, m map[string]any) (attachment, error) {
	if id, ok := m["id"].(string); ok {
		held, _ := w.current.([]attachment)
		for _, file := range held {
			if file.ID == id {
				return file, nil
			}
		}
		return attachment{}, invalidAttachment(f)
	}
	text, _ := m["url"].(string)
	source, err := url.Parse(text)
	if err != nil || source.Host == "" || (source.Scheme != "http" && source.Scheme != "https") {
		return attachment{}, invalidAttachment(f)
	}
	if w.base.keepsFailing(text, w.plan.now) {
		return attachment{}, failedUploading(f)
	}
	name, ok := m["filename"].(string)
	if !ok || name == "" {
		if name = path.Base(source.Path); name == "." || name == "/" {
			name = source.Hostname()
		}
	}
	return attachment{ID: newID("att"), Filename: name, Source: text,
		Fetched: w.plan.now.Add(time.Duration(w.options.AttachmentFetch))}, nil
}

func invalidAttachment(f *field) *apiError {
	return unprocessable("INVALID_ATTACHMENT_OBJECT", "Invalid attachment object for field %s", f.name)
}

// attachmentLife is how long Airtable's file URLs live.
const attachmentLife = 2 * time.Hour

// wireAttachments gives URLs that change with the clock and expire. What only
// the fetched file tells is absent until then.
func wireAttachments(rd *reader, _ *field, v any) any {
	held, _ := v.([]attachment)
	var files []any
	for _, file := range held {
		shown := map[string]any{"id": file.ID, "filename": file.Filename, "url": rd.fileURL(file)}
		if !rd.now.Before(file.Fetched) {
			file.describe(rd, shown)
		}
		files = append(files, shown)
	}
	return files
}

func (rd *reader) fileURL(file attachment) string {
	return fmt.Sprintf("https://files.sandbox.invalid/%s/%s?expires=%d",
		file.ID, url.PathEscape(file.Filename), rd.now.Add(attachmentLife).UnixMilli())
}

func mediaType(name string) string {
	switch strings.ToLower(path.Ext(name)) {
	case ".pdf":
		return "application/pdf"
	case ".png":
		return "image/png"
	case ".jpg", ".jpeg":
		return "image/jpeg"
	case ".txt":
		return "text/plain"
	}
	return "application/octet-stream"
}

func nativeAttachments(rd *reader, _ *field, v any) any {
	held, _ := v.([]attachment)
	var files []any
	for _, file := range held {
		files = append(files, fmt.Sprintf("%s (%s)", file.Filename, rd.fileURL(file)))
	}
	return files
}
