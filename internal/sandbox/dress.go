package sandbox

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"net/http"
	"strconv"
	"sync"
)

// browserCookie is set by Airtable on every answer.
const browserCookie = "brw"

// smallest is the length from which a body is worth packing.
const smallest = 256

var packers = sync.Pool{New: func() any {
	packer, err := gzip.NewWriterLevel(nil, gzip.BestSpeed)
	if err != nil {
		panic(err) // the level is right
	}
	return packer
}}

// dress adds the headers seen on recorded answers, and gives the body as it
// goes out. There are none about the rate limit, and no request ID.
func dress(header http.Header, c *call, a *response) []byte {
	header.Set("Access-Control-Allow-Origin", "*")
	if !c.known {
		cookie := http.Cookie{Name: browserCookie, Value: newID("brw"), Path: "/", HttpOnly: true, SameSite: http.SameSiteLaxMode}
		header.Add("Set-Cookie", cookie.String())
	}
	if a.status >= http.StatusBadRequest {
		header.Set("ETag", weakTag(a.body))
	}
	header.Set("Vary", "Accept-Encoding")
	if !c.gzip || len(a.body) < smallest {
		return a.body
	}
	header.Set("Content-Encoding", "gzip")
	header.Set("Airtable-Uncompressed-Content-Length", strconv.Itoa(len(a.body)))
	return packed(a.body)
}

// weakTag names a body; nothing depends on its strength.
func weakTag(body []byte) string {
	sum := sha256.Sum256(body)
	return fmt.Sprintf("W/\"%x-%s\"", len(body), base64.RawStdEncoding.EncodeToString(sum[:20]))
}

func packed(body []byte) []byte {
	packer, _ := packers.Get().(*gzip.Writer)
	defer packers.Put(packer)
	var out bytes.Buffer
	packer.Reset(&out)
	_, _ = packer.Write(body) // a buffer takes everything
	_ = packer.Close()
	return out.Bytes()
}
