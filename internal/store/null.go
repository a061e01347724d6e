package store

import (
	"time"

	"github.com/jackc/pgx/v5/pgtype"
)

// instant scans a timestamp; null and the infinities become the zero time.
type instant struct{ time.Time }

// ScanTimestamptz implements pgtype.TimestamptzScanner.
func (i *instant) ScanTimestamptz(v pgtype.Timestamptz) error {
	i.Time = time.Time{}
	if v.Valid && v.InfinityModifier == pgtype.Finite {
		i.Time = v.Time.UTC()
	}
	return nil
}

// orNull passes a zero time as null.
func orNull(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	return &t
}

// orNullText passes an empty string as null.
func orNullText(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

// orNullInt passes zero as null.
func orNullInt(n int) *int {
	if n == 0 {
		return nil
	}
	return &n
}

// orEmpty passes nil as no bytes, which are something to keep.
func orEmpty(b []byte) []byte {
	if b == nil {
		return []byte{}
	}
	return b
}
