package console

import (
	"net/http"
	"time"

	"airtable-replay/internal/deadletter"
	"airtable-replay/internal/replay"
)

// restoreView is what a restore of an entry would put back.
type restoreView struct {
	Entry   deadletter.Entry
	Preview replay.RestorePreview
	Asked   bool
	At      time.Time
	Reason  string
	Alert   *alert
}

// showRestore asks what a restore would do; it writes nothing.
func (k *console) showRestore(v *visit) error { return k.restore(v, http.StatusOK, "", nil) }

func (k *console) restore(v *visit, status int, reason string, wrong *alert) error {
	e, err := k.Entries.ShowEntry(v.r.Context(), v.param("id"))
	if err != nil {
		return err
	}
	data := restoreView{Entry: e, At: k.Now(), Reason: reason, Alert: wrong}
	data.Preview, err = k.Restores.PreviewRestore(v.r.Context(), e.ID)
	switch {
	case err == nil:
		data.Asked = true
	case statusOf(err) == http.StatusInternalServerError:
		return err
	case wrong == nil:
		refusal := alertOf(v.r.Context(), err)
		data.Alert = &refusal
		status = statusOf(err)
	}
	return k.render(v, status, "restore", data)
}

// restoreEntry writes Values Before back, as a run of its own (mission A2).
func (k *console) restoreEntry(v *visit) error {
	var f faults
	reason := f.text("reason", v.field("reason"), maxReason)
	err := f.err()
	if err == nil {
		var run deadletter.Run
		run, err = k.Restores.RestoreEntry(v.r.Context(), replay.RestoreRequest{EntryID: v.param("id"), RequestedBy: v.who(), Reason: reason})
		if err == nil {
			return v.follow("/runs/" + run.ID)
		}
	}
	if status := statusOf(err); status != http.StatusNotFound && status < http.StatusInternalServerError {
		wrong := alertOf(v.r.Context(), err)
		return k.restore(v, status, reason, &wrong)
	}
	return err
}
