package telemetry

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
	"time"

	"github.com/lmittmann/tint"
)

// The formats of LOG_FORMAT.
const (
	FormatText = "text"
	FormatJSON = "json"
)

// LogOptions are the settings LOG_LEVEL and LOG_FORMAT as people write them.
type LogOptions struct {
	Level  string // debug, info, warn or error; empty: info
	Format string // text or json; empty: text
}

// NewLogger makes the logger of the process. Times are in UTC. Lines logged with a context carry the
// ID of its request. Text is coloured when w is a terminal. An unknown level or format is an error
// that names the setting and its values.
func NewLogger(w io.Writer, o LogOptions) (*slog.Logger, error) {
	level := slog.LevelInfo
	if o.Level != "" {
		if err := level.UnmarshalText([]byte(o.Level)); err != nil {
			return nil, fmt.Errorf("LOG_LEVEL is %q; it must be debug, info, warn or error", o.Level)
		}
	}
	switch o.Format {
	case FormatText, "":
		return slog.New(requestHandler{tint.NewTextHandler(w, &tint.Options{
			Level: level, TimeFormat: "2006-01-02T15:04:05.000Z07:00", NoColor: !isTerminal(w), ReplaceAttr: inUTC,
		})}), nil
	case FormatJSON:
		return slog.New(requestHandler{slog.NewJSONHandler(w, &slog.HandlerOptions{Level: level, ReplaceAttr: inUTC})}), nil
	}
	return nil, fmt.Errorf("LOG_FORMAT is %q; it must be %s or %s", o.Format, FormatText, FormatJSON)
}

// inUTC turns times to UTC: hosts differ, and lines of several are read together.
func inUTC(_ []string, a slog.Attr) slog.Attr {
	if t, ok := a.Value.Any().(time.Time); ok {
		a.Value = slog.TimeValue(t.UTC())
	}
	return a
}

func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	if !ok {
		return false
	}
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}

// requestHandler adds the request's ID to every line that is logged with the request's context.
type requestHandler struct{ slog.Handler }

// Handle implements slog.Handler.
func (h requestHandler) Handle(ctx context.Context, r slog.Record) error {
	if id := RequestID(ctx); id != "" {
		r = r.Clone()
		r.AddAttrs(slog.String(KeyRequestID, id))
	}
	return h.Handler.Handle(ctx, r)
}

// WithAttrs implements slog.Handler.
func (h requestHandler) WithAttrs(attrs []slog.Attr) slog.Handler {
	return requestHandler{h.Handler.WithAttrs(attrs)}
}

// WithGroup implements slog.Handler.
func (h requestHandler) WithGroup(name string) slog.Handler {
	return requestHandler{h.Handler.WithGroup(name)}
}
