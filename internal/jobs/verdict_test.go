package jobs

import (
	"errors"
	"testing"

	"airtable-replay/internal/deadletter"

	"github.com/riverqueue/river"
	"github.com/stretchr/testify/require"
)

func TestVerdictOfEveryCode(t *testing.T) {
	t.Parallel()
	require.NoError(t, verdict(nil))
	for _, code := range deadletter.Codes() {
		cause := deadletter.Errorf(code, "", "cause")
		err := verdict(cause)
		var snooze *river.JobSnoozeError
		var cancel *river.JobCancelError
		switch code {
		case deadletter.CodeUnavailable, deadletter.CodeRateLimited, deadletter.CodeUpstream:
			require.ErrorAs(t, err, &snooze, code)
		case deadletter.CodeInternal:
			require.Equal(t, error(cause), err)
		default:
			require.ErrorAs(t, err, &cancel, code)
		}
	}
	plain := errors.New("plain")
	require.Equal(t, plain, verdict(plain))
}
