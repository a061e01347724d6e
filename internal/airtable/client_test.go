package airtable_test

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"airtable-replay/internal/airtable"
)

func TestTokenIsNeverPrinted(t *testing.T) {
	t.Parallel()
	cfg := airtable.Config{BaseURL: "http://127.0.0.1:1", Token: token}
	var out bytes.Buffer
	for _, v := range []any{cfg, &cfg, airtable.New(cfg), struct{ C airtable.Config }{cfg}} {
		for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%d", "%x", "%T"} {
			fmt.Fprintf(&out, verb+"\n", v)
		}
		slog.New(slog.NewJSONHandler(&out, nil)).Info("x", "v", v)
		slog.New(slog.NewTextHandler(&out, nil)).Info("x", "v", v)
		encoded, err := json.Marshal(v)
		out.Write(encoded)
		require.NotContains(t, fmt.Sprint(err), token)
	}
	require.Contains(t, out.String(), "[redacted]")
	require.NotContains(t, out.String(), token)
	require.NotContains(t, out.String(), fmt.Sprintf("%x", token))
}

func TestEchoedTokenIsTakenOut(t *testing.T) {
	t.Parallel()
	for _, status := range []int{200, 302, 400, 401, 503} {
		for _, body := range []string{
			`{"error":{"type":"` + token + `","message":"bad token ` + token + `"}}`,
			`<html>` + token + strings.Repeat("x", 4070) + token + `</html>`,
		} {
			_, err := writeTo(t, fixed(status, body))
			e := failureOf(t, err)
			require.NotContains(t, e.Type+e.Message+e.Body+e.Reason(), token)
			require.NotContains(t, e.Body, token[:12])
			require.Contains(t, e.Body, "[redacted]")
		}
	}
}

func TestMisconfiguredClientSendsNothing(t *testing.T) {
	t.Parallel()
	w := serve(t)
	for name, cfg := range map[string]airtable.Config{
		"no scheme":    {BaseURL: "api.airtable.com", Token: token},
		"other scheme": {BaseURL: "ftp://api.airtable.com", Token: token},
		"no host":      {BaseURL: "http:///v0", Token: token},
		"not a URL":    {BaseURL: "http://[::1", Token: token},
		"password":     {BaseURL: "http://me:hush@127.0.0.1", Token: token},
		"query":        {BaseURL: w.url() + "?a=b", Token: token},
		"line break":   {BaseURL: w.url(), Token: token + "\r\nX: y"},
		"umlaut":       {BaseURL: w.url(), Token: "patÄ"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := writeTo(t, newClient(t, cfg))
			require.ErrorIs(t, err, airtable.ErrConfig)
			require.Equal(t, airtable.Halt, airtable.Classify(err))
			require.Equal(t, airtable.FateUnsent, failureOf(t, err).Fate)
			require.NotContains(t, err.Error(), "hush")
			_, err = newClient(t, cfg).WhoAmI(t.Context())
			require.ErrorIs(t, err, airtable.ErrConfig)
		})
	}
	t.Cleanup(func() { require.Empty(t, w.seen()) })
}

func TestBaseURLForms(t *testing.T) {
	t.Parallel()
	for suffix, path := range map[string]string{"": "/v0/meta/whoami", "/": "/v0/meta/whoami", "/v0": "/v0/meta/whoami", "/v0/": "/v0/meta/whoami", "/proxy/at": "/proxy/at/v0/meta/whoami"} {
		w := serve(t, answer(200, `{"id":"usrAAAAAAAAAAAAAA"}`))
		_, err := newClient(t, airtable.Config{BaseURL: w.url() + suffix, Token: token + "\n"}).WhoAmI(t.Context())
		require.NoError(t, err)
		require.Equal(t, path, w.only().URI)
		require.Equal(t, "Bearer "+token, w.only().Header.Get("Authorization"))
	}
}

func TestRedirectsAreNotFollowed(t *testing.T) {
	t.Parallel()
	for _, status := range []int{301, 302, 303, 307, 308} {
		for name, client := range map[string]*http.Client{"own pool": nil, "given pool": {Transport: &http.Transport{DisableKeepAlives: true}}} {
			t.Run(fmt.Sprint(status, " ", name), func(t *testing.T) {
				t.Parallel()
				w := serve(t, answer(status, "", "Location: /elsewhere", "Connection: close"), answer(status, "", "Location: /elsewhere", "Connection: close"))
				c := newClient(t, airtable.Config{BaseURL: w.url(), HTTP: client})
				_, err := writeTo(t, c)
				e := lost(t, err, airtable.FateUnknown)
				require.Equal(t, status, e.Status)
				require.Equal(t, fmt.Sprintf("no details given (HTTP %d)", status), e.Reason())
				require.Equal(t, status, failureOf(t, readFrom(t.Context(), c)).Status)
				require.Len(t, w.seen(), 2)
			})
		}
	}
}

func TestGivenHTTPClientIsLeftAlone(t *testing.T) {
	t.Parallel()
	given := &http.Client{}
	newClient(t, airtable.Config{HTTP: given})
	require.Nil(t, given.CheckRedirect)
}

func TestGzipIsUnpacked(t *testing.T) {
	t.Parallel()
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	_, err := z.Write([]byte(recordsJSON(recA)))
	require.NoError(t, errors.Join(err, z.Close()))
	w := serve(t, answer(200, packed.String(), "Content-Encoding: gzip"))
	result, err := writeTo(t, w.client())
	require.NoError(t, err)
	require.Equal(t, recA, result.Records[0].ID)
}

func TestAnswerBeyondTheLimit(t *testing.T) {
	t.Parallel()
	var packed bytes.Buffer // 17 MiB that take 17 KB on the wire
	z := gzip.NewWriter(&packed)
	_, err := z.Write(bytes.Repeat([]byte(" "), 17<<20))
	require.NoError(t, errors.Join(err, z.Close()))
	w := serve(t, answer(200, packed.String(), "Content-Encoding: gzip"))
	_, err = writeTo(t, w.client())
	e := lost(t, err, airtable.FateUnknown)
	require.Contains(t, e.Reason(), "answer exceeds 16777216 bytes")
}

func TestLongErrorPageIsCut(t *testing.T) { // B95
	t.Parallel()
	pageText := "<html>" + strings.Repeat("ü", 1<<20) + "</html>"
	w := serve(t, answer(503, pageText))
	_, err := writeTo(t, w.client())
	e := failureOf(t, err)
	require.Equal(t, 503, e.Status)
	require.True(t, strings.HasPrefix(e.Body, "<html>üü"))
	require.True(t, strings.HasSuffix(e.Body, "… (cut after 4096 bytes)"))
	require.Less(t, len(e.Body), 4200)
	require.Less(t, len(e.Reason()), 400)
}

func TestObserveHearsEveryRequestOnce(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	var heard []airtable.Request
	w := serve(t, answer(200, recordsJSON(recA, recB)), answer(429, `{}`), hangUp, answer(200, `{"id":"usrAAAAAAAAAAAAAA"}`))
	c := newClient(t, airtable.Config{BaseURL: w.url(), Observe: func(r airtable.Request) {
		mu.Lock()
		defer mu.Unlock()
		r.Duration = 0 // no test judges a duration
		heard = append(heard, r)
	}})
	require.NoError(t, readFrom(t.Context(), c))
	for range 2 {
		_, err := writeTo(t, c)
		require.Error(t, err)
	}
	_, err := c.WhoAmI(t.Context())
	require.NoError(t, err)
	_, err = c.WriteRecords(t.Context(), airtable.WriteRequest{}) // not a request
	require.Error(t, err)
	require.Equal(t, []airtable.Request{
		{Method: "GET", Base: "appA", Table: "Orders", Records: 2, Status: 200},
		{Method: "PATCH", Base: "appA", Table: "Orders", Records: 1, Status: 429},
		{Method: "PATCH", Base: "appA", Table: "Orders", Records: 1},
		{Method: "GET", Status: 200},
	}, heard)
}

func TestClientIsSafeForConcurrentUse(t *testing.T) {
	t.Parallel()
	const n = 32
	var script []step
	for range n {
		script = append(script, func(conn net.Conn, a arrival) {
			id := a.Body[strings.Index(a.Body, "rec0"):][:17]
			answer(200, recordsJSON(id))(conn, a)
		})
	}
	w := serve(t, script...)
	c := w.client()
	var all errgroup.Group
	for i := range n {
		all.Go(func() error {
			req := writeOne()
			req.Records[0].ID = fmt.Sprintf("rec%014d", i)
			_, err := c.WriteRecords(t.Context(), req) // checks that the answer is its own
			return err
		})
	}
	require.NoError(t, all.Wait())
	require.Len(t, w.seen(), n)
}
