package sandbox_test

import (
	"encoding/json"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"airtable-replay/internal/sandbox"
)

// files writes the attachment cell and gives what the answer shows of it.
func (w *world) files(value string) []any {
	w.t.Helper()
	files, _ := w.api("PATCH", "/Orders/recOrder000000001", `{"fields":{"Files":`+value+`}}`).fields()["Files"].([]any)
	return files
}

func (w *world) filesNow() []any {
	w.t.Helper()
	files, _ := w.api("GET", "/Orders/recOrder000000001", "").fields()["Files"].([]any)
	return files
}

func TestAttachmentsReplaceAndKeepByID(t *testing.T) {
	t.Parallel()
	w := newWorld(t, noLimits())
	two := w.files(`[{"url":"https://files.example.test/a.pdf"},{"url":"https://files.example.test/b.png","filename":"Bee.PNG"}]`)
	a, b := two[0].(map[string]any), two[1].(map[string]any)
	require.Equal(t, "a.pdf", a["filename"])
	require.Regexp(t, `^att[0-9A-Za-z]{14}$`, a["id"])
	require.NotEqual(t, "https://files.example.test/a.pdf", a["url"], "Airtable serves its own copy")
	w.pass(time.Second)
	one := w.files(`[{"id":"` + b["id"].(string) + `"}]`)
	require.Len(t, one, 1, "an ID that is left out is deleted")
	require.Equal(t, b["id"], one[0].(map[string]any)["id"])
	require.NotEqual(t, b["url"], one[0].(map[string]any)["url"], "URLs do not last")
	require.Equal(t, "files.example.test", w.files(`[{"url":"https://files.example.test"}]`)[0].(map[string]any)["filename"])
}

// The answer knows what was sent and the file's own ID and URL; size and type
// come with the file, which is read afterwards.
func TestAttachmentsAreFetchedAfterTheAnswer(t *testing.T) {
	t.Parallel()
	w := newWorld(t, noLimits())
	sent := w.files(`[{"url":"https://files.example.test/a.png"},{"url":"https://files.example.test/b.pdf"}]`)
	for _, file := range sent {
		require.Len(t, file, 3, "id, url and filename")
	}
	w.pass(time.Second)
	require.Len(t, w.filesNow()[0], 3)
	w.pass(time.Second)
	image, text := w.filesNow()[0].(map[string]any), w.filesNow()[1].(map[string]any)
	require.Equal(t, "image/png", image["type"])
	require.Contains(t, image["thumbnails"], "small")
	require.NotEmpty(t, image["width"])
	require.Equal(t, "application/pdf", text["type"])
	require.NotEmpty(t, text["size"])
	require.NotContains(t, text, "thumbnails")

	w.set(func(o *sandbox.Options) { o.AttachmentFetch = 0 })
	require.Contains(t, w.files(`[{"url":"https://files.example.test/c.png"}]`)[0], "size")
}

// What was read may be written back as it is: the ID says which file it is,
// and nothing of the rest counts, least of all its URL.
func TestAttachmentsAreNotComparedByURL(t *testing.T) {
	t.Parallel()
	w := newWorld(t, noLimits())
	w.files(`[{"url":"https://files.example.test/a.png"},{"url":"https://files.example.test/b.pdf"}]`)
	w.pass(time.Hour)
	read := w.filesNow()
	raw, err := json.Marshal(read)
	require.NoError(t, err)
	before := w.api("GET", "/Orders/recOrder000000001", "").fields()["Changed"]
	changes := len(w.box.Changes())
	w.pass(time.Hour)
	written := w.files(string(raw))
	require.Len(t, w.box.Changes(), changes, "no change")
	require.Equal(t, before, w.api("GET", "/Orders/recOrder000000001", "").fields()["Changed"])
	require.NotEqual(t, read[0].(map[string]any)["url"], written[0].(map[string]any)["url"])

	again := w.files(`[{"url":"` + read[0].(map[string]any)["url"].(string) + `"}]`)
	require.NotEqual(t, read[0].(map[string]any)["id"], again[0].(map[string]any)["id"], "the same URL without its ID is another file")
	require.Len(t, w.box.Changes(), changes+1)
}

// A file that cannot be read vanishes later, without an error to anybody; that
// is no edit. When a source goes on failing it is refused at once, for a while.
func TestAttachmentsThatCannotBeReadVanish(t *testing.T) {
	t.Parallel()
	w := newWorld(t, noLimits())
	hook := w.makeHook(`{` + allData + `}`)["id"].(string)
	bad, good := `{"url":"https://gone.invalid/a.png"}`, `{"url":"https://files.example.test/b.pdf"}`
	require.Len(t, w.files("["+bad+","+good+"]"), 2)
	changed := w.api("GET", "/Orders/recOrder000000001", "").fields()["Changed"]
	w.pass(2 * time.Second)
	left := w.filesNow()
	require.Len(t, left, 1)
	require.Equal(t, "b.pdf", left[0].(map[string]any)["filename"])
	require.Equal(t, changed, w.api("GET", "/Orders/recOrder000000001", "").fields()["Changed"])
	last := w.box.Changes()[len(w.box.Changes())-1]
	require.Equal(t, "airtable", last.By)
	payloads := w.payloads(hook)
	require.Equal(t, map[string]any{"source": "system"}, payloads[len(payloads)-1]["actionMetadata"])

	require.Len(t, w.files("["+bad+"]"), 1)
	require.Empty(t, w.files("[]"), "deleted before it was read: nothing is left to vanish")
	w.pass(time.Minute)
	a := w.api("PATCH", "/Orders/recOrder000000001", `{"fields":{"Qty":7,"Files":[`+bad+`]}}`)
	a.is(http.StatusUnprocessableEntity, `{"details":{"reasons":["ATTACHMENTS_FAILED_UPLOADING"]},`+
		`"error":{"type":"INVALID_ATTACHMENT_OBJECT","message":"Invalid attachment object for field Files"}}`)
	require.NotContains(t, w.api("GET", "/Orders/recOrder000000001", "").fields(), "Qty", "the whole request fails")
	w.pass(11 * time.Minute)
	require.Len(t, w.files("["+bad+"]"), 1, "it may have been mended since")
	require.NoError(t, w.box.Delete(baseID, "Orders", "recOrder000000001"))
	w.pass(time.Minute)
}
