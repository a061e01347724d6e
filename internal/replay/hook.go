package replay

import (
	"context"
	"crypto/sha256"
	"errors"
	"net/http"

	"airtable-replay/internal/deadletter"
	"airtable-replay/internal/store"
)

// hookCaller owns the idempotency keys of presses that Airtable's webhook told of; no token has this ID.
const hookCaller = "00000000-0000-0000-0000-000000000000"

// PressOnce presses Replay on the entry of a row, once for each key (R10). A refusal is noted on the entry,
// where the box is; it is no error.
func (s *Service) PressOnce(ctx context.Context, recordID, by, key string) error {
	_, _, err := s.Store.Idempotent(ctx, hookCaller, sha256.Sum256([]byte(key)), sha256.Sum256([]byte(recordID)), func(ctx context.Context) (store.Answer, error) {
		_, _, err := s.PressReplay(ctx, Press{EntryID: recordID, RequestedBy: by, Mode: deadletter.Checked})
		if d, ok := errors.AsType[*deadletter.Error](err); ok && d.Code != deadletter.CodeInternal && d.Code != deadletter.CodeUnavailable {
			return store.Answer{Status: http.StatusConflict}, nil
		}
		return store.Answer{Status: http.StatusAccepted}, err
	})
	return err
}
