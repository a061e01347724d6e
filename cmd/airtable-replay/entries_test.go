package main_test

import (
	"encoding/json"
	"os"
	"strings"
	"testing"
	"time"
	"unicode"

	"airtable-replay/internal/app/apptest"

	"github.com/stretchr/testify/require"
)

const newer = "2026-10-02T08:00:00Z"

func shipped(order string) string {
	return apptest.Order(order, newer, apptest.Doc{"status": "Shipped", "delivery_date": "2026-10-05"})
}

func TestEntriesAreReadAndReplayed(t *testing.T) {
	t.Parallel()
	s := newSession(t, apptest.Options{})
	s.names["one"] = s.world.File(t, shipped("O-1"), apptest.Doc{"error_detail": "service unavailable"})
	s.names["two"] = s.world.File(t, shipped("O-2"), apptest.Doc{"first_attempt_at": "2026-10-02T10:00:00Z"})
	s.world.Hand(t, "Orders", "recOrd00000000002", apptest.Failed.Add(2*time.Hour), apptest.Doc{"Delivery Date": "2026-10-09"})
	s.say("entries", "list")
	s.say("entries", "list", "--limit", "1", "--target", "Orders")
	s.say("entries", "list", "--all", "--ids")
	s.say("entries", "list", "--status", "ignored")
	s.say("entries", "list", "--status", "Pending Review", "--ids")
	s.say("entries", "summary", "--status", "ignored")
	s.say("runs", "list")
	s.say("entries", "summary")
	s.say("entries", "preview", "{one}")
	s.say("entries", "preview", "{two}")
	s.say("entries", "replay", "{one}", "--by", "ann", "--wait")
	s.say("entries", "replay", "{one}")
	s.say("entries", "preview", "{one}")
	s.say("entries", "replay", "{two}", "--wait")
	s.say("entries", "show", "{two}")
	s.say("entries", "history", "{one}")
	s.say("entries", "replay", "{two}", "--mode", "overwrite", "--reason", "agreed")
	s.say("entries", "replay", "{two}", "--mode", "chosen_fields", "--field", "Status", "--expect", `Status="Pending"`, "--wait")
	s.say("entries", "list", "--outcome", "partially_replayed")
	s.golden("entries")
	one := s.names["one"]
	require.Contains(t, run(t, s.env, "runs", "list").stdout.String(), "press …"+one[len(one)-6:]+"  completed")
}

func TestEntriesAreReviewed(t *testing.T) {
	t.Parallel()
	s := newSession(t, apptest.Options{})
	s.names["one"] = s.world.File(t, shipped("O-1"), nil)
	s.names["two"] = s.world.File(t, shipped("O-2"), nil)
	s.names["none"] = "01900000-0000-7000-8000-000000000000"
	s.say("entries", "assign", "{one}", "{two}", "{one}", "--owner", "ann")
	s.say("entries", "list", "--owner", "ann")
	s.say("entries", "ignore", "{one}", "{none}", "--reason", "test order")
	s.say("entries", "reopen", "{one}", "--reason", "no test after all")
	s.say("entries", "reset", "{one}")
	s.say("entries", "stuck", "list")
	s.say("entries", "stuck", "reset")
	s.say("entries", "stuck", "reset", "--yes")
	s.say("entries", "history", "{one}")
	s.golden("review")
}

func TestPayloadsAreEditedByteForByte(t *testing.T) {
	t.Parallel()
	s := newSession(t, apptest.Options{})
	s.names["one"] = s.world.File(t, `{"order": {"id": "O-1", "status": "Packed"}, "updated_at": "2026-10-02T08:00:00Z"}`, nil)
	s.say("entries", "edit", "{one}", "--reason", "a letter is missing")
	s.env = append(s.env, `EDITOR=sed -i -e s/Packed/Shipped/ -e '$a\'`) // which also ends the last line
	s.say("entries", "edit", "{one}", "--reason", "a letter is missing")
	s.say("entries", "edit", "{one}", "--reason", "again")
	s.say("entries", "payloads", "{one}")
	s.say("entries", "payloads", "{one}", "--revision", "0")
	s.say("entries", "payloads", "{one}", "--revision", "7")
	require.Equal(t, `{"order": {"id": "O-1", "status": "Shipped"}, "updated_at": "2026-10-02T08:00:00Z"}`, run(t, s.env, "entries", "payloads", s.names["one"], "--revision", "1").stdout.String())
	s.world.Replay(t, s.names["one"], nil)
	c := run(t, append(s.env, `EDITOR=sed -i s/Shipped/Delivered/`), "entries", "edit", s.names["one"], "--reason", "too late")
	require.Equal(t, 1, c.code())
	_, kept, ok := strings.Cut(c.stderr.String(), "your edit is kept in ")
	require.True(t, ok, c.stderr.String())
	text, err := os.ReadFile(strings.TrimSpace(kept))
	require.NoError(t, err)
	require.Contains(t, string(text), "Delivered", "a refused edit is not lost")
	s.golden("edit")
}

func TestDeadLettersAreFiled(t *testing.T) {
	t.Parallel()
	s := newSession(t, apptest.Options{})
	file := write(t, "order.json", "\xff"+shipped("O-1"))
	filing := []string{"entries", "file", "--source", "order-system", "--reason", "transient_exhausted", "--first-attempt", "2026-10-02T09:00:00Z", "--status-code", "503", "--attempts", "5"}
	c := run(t, s.env, append(filing, "--payload", file, "--target", "Orders", "--target-id", "O-1", "--json")...)
	require.Equal(t, 0, c.code(), "%s", c.stderr)
	var e struct {
		ID         string
		RawPayload []byte `json:"raw_payload_base64"`
	}
	require.NoError(t, json.Unmarshal([]byte(c.stdout.String()), &e))
	require.Equal(t, "\xff"+shipped("O-1"), string(e.RawPayload))
	c = run(t, s.env, append(filing, "--payload", file, "--target", "Orders", "--target-id", "O-1")...)
	require.Equal(t, "Was filed before as "+e.ID+", Orders O-1.\n", c.stdout.String())
	c = run(t, s.env, append(filing, "--payload", "nowhere.json")...)
	c.refused(t, 2, "airtable-replay: --payload: open nowhere.json: no such file or directory\n")
	c = run(t, s.env, "entries", "file", "--source", "order-system", "--reason", "bad", "--first-attempt", "now", "--payload", file)
	require.Equal(t, 2, c.code())
	require.Contains(t, c.stderr.String(), "--first-attempt: ")
	c = run(t, s.env, "entries", "file", "--source", "nosys", "--reason", "other", "--first-attempt", "2026-10-02T09:00:00Z", "--payload", file)
	require.Equal(t, 0, c.code(), "%s", c.stderr)
	require.Equal(t, "The source nosys is not configured: the entry cannot be replayed until it is.\n", c.stderr.String())
}

// Nothing of a payload, or of what others say about it, reaches the terminal as a command to it.
func TestHostileTextCannotCommandTheTerminal(t *testing.T) {
	t.Parallel()
	const hostile = "\x1b]0;owned\x07\x1b[2J\u009b31m\u202egnp\u2066\r\x08\x7f\nfaked line"
	s := newSession(t, apptest.Options{})
	payload := apptest.Order("O-1", newer, apptest.Doc{"status": "Shipped", "note": hostile})
	id := s.world.File(t, payload, apptest.Doc{"error_detail": hostile, "assigned_owner": "ann\u202e"})
	other := s.world.File(t, hostile, nil)
	s.world.Replay(t, id, apptest.Doc{"requested_by": "\u202eann"})
	for _, words := range [][]string{
		{"list"}, {"list", "--json"}, {"list", "--all", "--json"}, {"show", id}, {"show", id, "--json"}, {"show", other}, {"history", id},
		{"history", id, "--json"}, {"preview", other}, {"preview", other, "--json"}, {"payloads", id}, {"payloads", id, "--json"}, {"summary"}, {"show", hostile},
	} {
		c := run(t, s.env, append([]string{"entries"}, words...)...)
		require.Empty(t, commands(c.stdout.String()+c.stderr.String()), "%q", words)
		if words[len(words)-1] == "--json" && c.code() == 0 {
			require.True(t, json.Valid([]byte(c.stdout.String())), "%q", words)
		}
	}
	c := run(t, s.env, "entries", "show", id, "--json")
	var e struct {
		Replay struct {
			FieldsReplayed map[string]any `json:"fields_replayed"`
		}
	}
	require.NoError(t, json.Unmarshal([]byte(c.stdout.String()), &e))
	require.Equal(t, hostile, e.Replay.FieldsReplayed["Note"], "escaping changes nothing of what JSON says")
}

// commands lists the characters of a text that a terminal would act on, or that hide what it shows.
func commands(text string) (found []rune) {
	for _, r := range text {
		joiner := r == '\u200c' || r == '\u200d'
		if r != '\n' && !joiner && (unicode.IsControl(r) || unicode.Is(unicode.Cf, r)) {
			found = append(found, r)
		}
	}
	return found
}

func TestListsPageToTheirEnd(t *testing.T) {
	t.Parallel()
	s := newSession(t, apptest.Options{NoStart: true})
	for i := range 205 {
		s.world.File(t, shipped("O-1"), apptest.Doc{"first_attempt_at": apptest.Failed.Add(time.Duration(-i) * time.Second).Format(time.RFC3339)})
	}
	require.Equal(t, 205+1, strings.Count(run(t, s.env, "entries", "list", "--all").stdout.String(), "\n"))
	require.Equal(t, 205, strings.Count(run(t, s.env, "entries", "list", "--all", "--ids").stdout.String(), "\n"))
	var all struct {
		Entries    []struct{ ID string }
		NextCursor *string `json:"next_cursor"`
	}
	require.NoError(t, json.Unmarshal([]byte(run(t, s.env, "entries", "list", "--all", "--json").stdout.String()), &all))
	require.Len(t, all.Entries, 205)
	require.Nil(t, all.NextCursor)
	ids := map[string]bool{}
	for _, e := range all.Entries {
		ids[e.ID] = true
	}
	require.Len(t, ids, 205)

	ignore := `airtable-replay entries list --all --ids | airtable-replay entries ignore - --reason test`
	said := shell(t, s.env, ignore+" || echo refused; "+ignore+" --yes")
	require.Contains(t, said, "This will ignore 205 entries. Add --yes if you mean it.\n")
	require.Contains(t, said, "refused\n205 entries ignored.\n")
}

func TestValuesBeforeAreRestored(t *testing.T) {
	t.Parallel()
	s := newSession(t, apptest.Options{})
	s.names["one"] = s.world.File(t, shipped("O-1"), nil)
	s.say("entries", "restore", "{one}", "--yes")
	s.world.Replay(t, s.names["one"], nil)
	s.say("entries", "restore", "{one}", "--dry-run")
	s.say("entries", "restore", "{one}")
	s.say("entries", "restore", "{one}", "--reason", "wrong order", "--yes", "--watch")
	require.Equal(t, "Pending", s.world.OrderCells(t, "O-1")["Status"])
	s.say("entries", "restore", "{one}", "--yes")
	s.golden("restore")
}
