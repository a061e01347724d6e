package jobs

import (
	"time"

	"airtable-replay/internal/deadletter"

	"github.com/riverqueue/river"
)

// unavailableWait is how long a job waits for a database or an upstream that does not answer.
const unavailableWait = 2 * time.Second

// verdict says what an error of a pass means to River. The work itself is not lost either way: it
// stands in our tables, and the tick asks for it again.
func verdict(err error) error {
	if err == nil {
		return nil
	}
	switch deadletter.CodeOf(err) {
	case deadletter.CodeUnavailable, deadletter.CodeRateLimited, deadletter.CodeUpstream:
		return river.JobSnooze(unavailableWait)
	case deadletter.CodeInvalid, deadletter.CodeUnauthenticated, deadletter.CodeForbidden, deadletter.CodeNotFound, deadletter.CodeConflict:
		return river.JobCancel(err)
	case deadletter.CodeInternal:
		return err
	}
	return err
}
