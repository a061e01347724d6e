package telemetry

import (
	"errors"
	"net/url"
)

// WithoutURL takes the address out of an HTTP client's error: it may hold a secret.
func WithoutURL(err error) error {
	if e, ok := errors.AsType[*url.Error](err); ok {
		return e.Err
	}
	return err
}
