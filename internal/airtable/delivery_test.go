package airtable_test

import (
	"bufio"
	"context"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"airtable-replay/internal/airtable"
)

// lost checks an error without a usable answer.
func lost(t *testing.T, err error, fate airtable.Fate) *airtable.Error {
	t.Helper()
	e := failureOf(t, err)
	require.Equal(t, fate, e.Fate, e.Error())
	require.Equal(t, airtable.Retry, airtable.Classify(err))
	return e
}

func TestAnswerThatDoesNotArriveIsUnknown(t *testing.T) {
	t.Parallel()
	whole := response(200, recordsJSON(recA))
	for name, s := range map[string]step{
		"connection closed":     hangUp,
		"connection reset":      reset,
		"cut in the status":     cut("HTTP/1.1 20"),
		"cut in the header":     cut("HTTP/1.1 200 OK\r\nContent-Len"),
		"cut in the body":       cut(whole[:len(whole)-5]),
		"cut chunked":           cut("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n{\"rec\r\n"),
		"cut, length not given": cut("HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n{\"records\":["),
		"not HTTP":              cut("SSH-2.0-OpenSSH_9.6\r\n"),
		"cut gzip":              cut("HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 10\r\n\r\n\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\xff"),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := serve(t, s)
			_, err := writeTo(t, w.client())
			lost(t, err, airtable.FateUnknown)
			w.only()
		})
	}
}

func TestUnreadableSuccessIsUnknown(t *testing.T) {
	t.Parallel()
	for name, body := range map[string]string{
		"empty":              ``,
		"HTML":               `<html><body>Welcome to the hotel network</body></html>`,
		"empty object":       `{}`,
		"null records":       `{"records":null}`,
		"too few":            `{"records":[]}`,
		"too many":           recordsJSON(recA, recB),
		"another record":     recordsJSON(recB),
		"record without ID":  `{"records":[{"fields":{}}]}`,
		"two values":         recordsJSON(recA) + recordsJSON(recA),
		"records of no kind": `{"records":[7]}`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := serve(t, answer(200, body))
			_, err := writeTo(t, w.client())
			e := lost(t, err, airtable.FateUnknown)
			require.Equal(t, 200, e.Status)
			require.Equal(t, body, e.Body)
			require.Contains(t, e.Reason(), "unreadable answer")
		})
	}
}

func TestUpsertAnswerThatHidesTheCreatedIsUnknown(t *testing.T) {
	t.Parallel()
	_, err := fixed(200, recordsJSON(recB)).WriteRecords(t.Context(), airtable.WriteRequest{
		Base: "appA", Table: "Orders", MergeOn: []string{"No"},
		Records: []airtable.WriteRecord{{Fields: airtable.Fields{"No": "1"}}},
	})
	e := lost(t, err, airtable.FateUnknown)
	require.Contains(t, e.Reason(), "neither among the created nor the updated")
}

func TestRequestThatNeverLeavesIsUnsent(t *testing.T) {
	t.Parallel()
	t.Run("nobody listens", func(t *testing.T) {
		t.Parallel()
		l, err := net.Listen("tcp", "127.0.0.1:0")
		require.NoError(t, err)
		require.NoError(t, l.Close())
		_, err = writeTo(t, newClient(t, airtable.Config{BaseURL: "http://" + l.Addr().String()}))
		require.Contains(t, lost(t, err, airtable.FateUnsent).Reason(), "not sent: ")
	})
	t.Run("name not found", func(t *testing.T) {
		t.Parallel()
		missing := &net.DNSError{Err: "no such host", Name: "airtable.test", IsNotFound: true}
		pool := &http.Transport{DialContext: func(context.Context, string, string) (net.Conn, error) { return nil, missing }}
		_, err := writeTo(t, newClient(t, airtable.Config{BaseURL: "http://airtable.test", HTTP: &http.Client{Transport: pool}}))
		lost(t, err, airtable.FateUnsent)
		require.ErrorIs(t, err, missing)
	})
	t.Run("certificate of a stranger", func(t *testing.T) {
		t.Parallel()
		s := httptest.NewUnstartedServer(http.NotFoundHandler())
		s.Config.ErrorLog = log.New(io.Discard, "", 0)
		s.StartTLS()
		t.Cleanup(s.Close)
		_, err := writeTo(t, newClient(t, airtable.Config{BaseURL: s.URL}))
		lost(t, err, airtable.FateUnsent)
	})
	t.Run("cancelled before", func(t *testing.T) {
		t.Parallel()
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		w := serve(t)
		_, err := w.client().WriteRecords(ctx, writeOne())
		lost(t, err, airtable.FateUnsent)
		require.ErrorIs(t, err, context.Canceled)
		require.Empty(t, w.seen())
	})
}

func TestCancelledAfterArrivalIsUnknown(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	w := serve(t, func(net.Conn, arrival) { cancel() })
	_, err := w.client().WriteRecords(ctx, writeOne())
	lost(t, err, airtable.FateUnknown)
	require.ErrorIs(t, err, context.Canceled)
	w.only()
}

// hugeWrite does not fit into the socket buffers of both ends.
func hugeWrite() airtable.WriteRequest {
	req := writeOne()
	req.Records[0].Fields["Note"] = strings.Repeat("x", 24<<20)
	return req
}

// headOnly serves connections on which it reads no more than the header.
func headOnly(t *testing.T, then func(net.Conn)) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	done := make(chan struct{})
	go func() {
		defer close(done)
		conn, err := l.Accept()
		if err != nil {
			return
		}
		if _, err := http.ReadRequest(bufio.NewReader(conn)); err == nil {
			then(conn)
		}
	}()
	t.Cleanup(func() { _ = l.Close(); <-done })
	return "http://" + l.Addr().String()
}

func TestConnectionBrokenWithinTheBodyIsUnsent(t *testing.T) {
	t.Parallel()
	base := headOnly(t, func(conn net.Conn) { reset(conn, arrival{}) })
	_, err := newClient(t, airtable.Config{BaseURL: base}).WriteRecords(t.Context(), hugeWrite())
	lost(t, err, airtable.FateUnsent)
}

func TestEarlyRefusalIsNeverUnknown(t *testing.T) {
	t.Parallel()
	base := headOnly(t, func(conn net.Conn) {
		cut(response(413, `{"error":"REQUEST_TOO_LARGE"}`, "Connection: close"))(conn, arrival{})
	})
	_, err := newClient(t, airtable.Config{BaseURL: base}).WriteRecords(t.Context(), hugeWrite())
	e := failureOf(t, err)
	if e.Status == 0 { // the broken connection outran the answer
		lost(t, err, airtable.FateUnsent)
		return
	}
	require.Equal(t, airtable.FateRefused, e.Fate)
	require.Equal(t, airtable.Permanent, airtable.Classify(err))
}

// A pooled connection that turns out dead is where net/http resends by itself.
func TestNothingIsResentOnADeadConnection(t *testing.T) {
	t.Parallel()
	send := map[string]func(*airtable.Client, context.Context) error{
		http.MethodPatch: func(c *airtable.Client, ctx context.Context) error {
			_, err := c.WriteRecords(ctx, writeOne())
			return err
		},
		http.MethodGet: func(c *airtable.Client, ctx context.Context) error { return readFrom(ctx, c) },
		http.MethodPost: func(c *airtable.Client, ctx context.Context) error {
			_, _, err := c.ListPage(ctx, airtable.ListRequest{Base: "appA", Table: "Orders", Formula: strings.Repeat("x", 16_000)}, "")
			return err
		},
	}
	for method, request := range send {
		for name, broken := range map[string]step{"closed": hangUp, "reset": reset} {
			t.Run(method+" "+name, func(t *testing.T) {
				t.Parallel()
				w := serve(t, answer(200, recordsJSON(recA)), broken)
				c := w.client()
				require.NoError(t, request(c, t.Context()))
				lost(t, request(c, t.Context()), airtable.FateUnknown)
				all := w.seen()
				require.Len(t, all, 2)
				require.Equal(t, method, all[1].Method)
				require.Equal(t, 1, all[1].Conn, "the second request met the pooled connection")
			})
		}
	}
}

// Whether the client notices in time that an idle connection was closed is a
// race; what it then says of the write must be true either way.
func TestIdleConnectionClosedByTheServer(t *testing.T) {
	t.Parallel()
	for range 50 {
		w := serve(t, cut(response(200, recordsJSON(recA))), answer(200, recordsJSON(recA)))
		c := w.client()
		_, err := writeTo(t, c)
		require.NoError(t, err)
		_, err = writeTo(t, c)
		arrived := len(w.seen()) - 1
		switch {
		case err == nil:
			require.Equal(t, 1, arrived)
		case failureOf(t, err).Fate == airtable.FateUnsent:
			require.Zero(t, arrived)
		default:
			lost(t, err, airtable.FateUnknown)
		}
	}
}

func TestGetLooksLikeAnyOther(t *testing.T) {
	t.Parallel()
	w := serve(t, answer(200, recordsJSON()))
	require.NoError(t, readFrom(t.Context(), w.client()))
	a := w.only()
	require.True(t, strings.HasPrefix(a.Raw, "GET /v0/appA/Orders HTTP/1.1\r\n"))
	require.NotContains(t, strings.ToLower(a.Raw), "transfer-encoding")
	require.NotContains(t, strings.ToLower(a.Raw), "content-length")
	require.NotContains(t, strings.ToLower(a.Raw), "content-type")
	require.True(t, strings.HasSuffix(a.Raw, "\r\n\r\n"))
}

// slowBody blocks until its request is given up.
type slowBody struct{ ctx context.Context }

func (b slowBody) Read([]byte) (int, error) {
	<-b.ctx.Done()
	return 0, b.ctx.Err()
}

func (slowBody) Close() error { return nil }

func TestRequestTimeout(t *testing.T) {
	t.Parallel()
	silent := func(r *http.Request) (*http.Response, error) {
		<-r.Context().Done()
		return nil, r.Context().Err()
	}
	afterBody := func(then trip) trip {
		return func(r *http.Request) (*http.Response, error) {
			if _, err := io.Copy(io.Discard, r.Body); err != nil {
				return nil, err
			}
			return then(r)
		}
	}
	headers := func(r *http.Request) (*http.Response, error) {
		return &http.Response{StatusCode: 200, Body: slowBody{r.Context()}, Request: r}, nil
	}
	for _, tc := range []struct {
		name    string
		network trip
		timeout time.Duration
		waits   time.Duration
		fate    airtable.Fate
	}{
		{"while dialling", silent, 0, 20 * time.Second, airtable.FateUnsent},
		{"waiting for the answer", afterBody(silent), 0, 20 * time.Second, airtable.FateUnknown},
		{"reading the answer", afterBody(headers), 3 * time.Second, 3 * time.Second, airtable.FateUnknown},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) { // virtual time: exact, and no waiting
				c := newClient(t, airtable.Config{RequestTimeout: tc.timeout, HTTP: &http.Client{Transport: tc.network}})
				start := time.Now()
				_, err := writeTo(t, c)
				require.Equal(t, tc.waits, time.Since(start))
				e := lost(t, err, tc.fate)
				require.Contains(t, e.Reason(), "within "+tc.waits.String())
				require.ErrorIs(t, err, context.DeadlineExceeded)
			})
		})
	}
}

func TestCallersDeadlineIsNotTheRequestTimeout(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := newClient(t, airtable.Config{HTTP: &http.Client{Transport: trip(func(r *http.Request) (*http.Response, error) {
			<-r.Context().Done()
			return nil, r.Context().Err()
		})}})
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		_, err := c.WriteRecords(ctx, writeOne())
		require.NotContains(t, lost(t, err, airtable.FateUnsent).Reason(), "within 20s")
	})
}

func TestOutageAnsweredBeforeTheWholeBodyIsUnsent(t *testing.T) {
	t.Parallel()
	for read, fate := range map[int64]airtable.Fate{10: airtable.FateUnsent, 1 << 20: airtable.FateUnknown} {
		c := newClient(t, airtable.Config{HTTP: &http.Client{Transport: trip(func(r *http.Request) (*http.Response, error) {
			_, err := io.Copy(io.Discard, io.LimitReader(r.Body, read))
			return &http.Response{StatusCode: 503, Body: http.NoBody, Request: r}, err
		})}})
		_, err := writeTo(t, c)
		require.Equal(t, 503, lost(t, err, fate).Status)
	}
}

func TestErrorsDoNotRepeatTheFormula(t *testing.T) {
	t.Parallel()
	w := serve(t, hangUp)
	_, err := w.client().ListRecords(t.Context(), airtable.ListRequest{Base: "appA", Table: "Orders", Formula: "{Email}='secret-customer'"})
	e := lost(t, err, airtable.FateUnknown)
	require.NotContains(t, e.Error()+e.Body, "secret-customer")
	require.Contains(t, e.Reason(), "no answer: ")
}

// A transport may go on writing after it reported an error; a write that was
// called unsent must then not reach its end.
func TestUnsentStaysUnsent(t *testing.T) {
	t.Parallel()
	given, rest := make(chan struct{}), make(chan int, 1)
	c := newClient(t, airtable.Config{HTTP: &http.Client{Transport: trip(func(r *http.Request) (*http.Response, error) {
		half := make([]byte, 10)
		_, err := io.ReadFull(r.Body, half)
		go func() {
			<-given
			tail, _ := io.ReadAll(r.Body)
			rest <- len(tail)
		}()
		return nil, errors.Join(err, errors.New("connection lost"))
	})}})
	_, err := writeTo(t, c)
	lost(t, err, airtable.FateUnsent)
	close(given)
	require.Zero(t, <-rest)
}
