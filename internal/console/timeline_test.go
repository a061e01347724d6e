package console_test

import (
	"net/http"
	"regexp"
	"strconv"
	"testing"
	"time"

	"airtable-replay/internal/app/apptest"

	"github.com/stretchr/testify/require"
)

func TestTimelineTellsEveryEntryOnce(t *testing.T) {
	t.Parallel()
	w := apptest.New(t, apptest.Options{NoStart: true})
	p := loggedIn(t, w.URLs[0], w.Token)
	require.Contains(t, p.visit("/").words(), "Nothing waits")
	require.NotContains(t, p.visit("/").body, `id="timeline"`)
	for i, at := range []time.Time{day.Add(30 * time.Minute), day.Add(59 * time.Minute), day.Add(61 * time.Minute), day.AddDate(0, 0, 40), day.AddDate(0, 0, -400)} {
		w.File(t, order("X-"+strconv.Itoa(i), "Shipped", "2026-10-05"), apptest.Doc{"first_attempt_at": at.Format(time.RFC3339)})
	}
	bars := func(path string) (counts []int) {
		t.Helper()
		page := p.visit(path)
		require.Equal(t, http.StatusOK, page.status)
		for _, m := range regexp.MustCompile(`UTC: ([0-9,]+)</title>`).FindAllStringSubmatch(page.body, -1) {
			n, err := strconv.Atoi(m[1])
			require.NoError(t, err)
			counts = append(counts, n)
		}
		return counts
	}
	require.Equal(t, []int{1, 3, 1}, bars("/"), "days together, where the span is more than a year")
	require.Contains(t, p.visit("/").words(), "by 2 days of their first attempt")
	require.Equal(t, []int{2, 1}, bars("/?zoom=1&first_attempt_from=2026-10-02T00:00&first_attempt_to=2026-10-02T02:00"), "hours, where it is a night")
	page := p.visit("/?first_attempt_from=2026-10-02T00:00&first_attempt_to=2026-10-02T01:00")
	require.Contains(t, page.words(), "in the selected window: 2 of 5")
	require.Equal(t, "/entries?first_attempt_from=2026-10-02T00%3A00%3A00Z&first_attempt_to=2026-10-02T01%3A00%3A00Z&reason=transient_exhausted&status=pending_review", link(t, page, "Look"))
	require.Len(t, rows(p.visit(link(t, page, "Look"))), 2)
	require.Contains(t, p.visit("/?first_attempt_from=2030-01-01T00:00").words(), "No waiting dead letter failed in this window.")
	require.Equal(t, http.StatusUnprocessableEntity, p.visit("/?first_attempt_from=soon").status)
}
