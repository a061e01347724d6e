package config_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"

	"airtable-replay/internal/config"
	"airtable-replay/internal/deadletter"
)

// env is an environment in which the secrets of the test files are set.
func env(name string) (string, bool) {
	value, ok := map[string]string{
		"AIRTABLE_TOKEN": "patSecretOne", "ORDERS_TOKEN": "patSecretTwo", "OPS_WEBHOOK_SECRET": "whsec_three",
		"BASE_ID": "appFromEnvironment", "EMPTY": "", "BLANKS": "pat with blanks",
	}[name]
	return value, ok
}

func read(t *testing.T, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", name))
	require.NoError(t, err)
	return data
}

func path(t *testing.T, text string) *config.Path {
	t.Helper()
	p, err := config.ParsePath(text)
	require.NoError(t, err)
	return &p
}

func TestContractFile(t *testing.T) {
	t.Parallel()
	got, err := config.Load(read(t, "contract.yaml"), env)
	require.NoError(t, err)
	want := &config.File{
		DeadLetters: &config.DeadLetters{Base: "orders", Table: "Dead Letter Queue"},
		Bases: map[string]*config.Base{"orders": {
			Name: "orders", ID: "appOrdersSandbox01", APIURL: "https://api.airtable.com",
			Token: config.NewSecret("patSecretOne"), TokenOwner: "integrations", RequestsPerSecond: 4,
			Alert: []string{"ops-webhook"},
			Retry: config.Retry{Attempts: 5, BaseDelay: 2 * time.Second, RateLimitWait: 30 * time.Second, RequestTimeout: 20 * time.Second, LandingBound: time.Minute},
		}},
		Targets: map[string]*config.Target{
			"Accounts": {Name: "Accounts", Base: "orders", Table: "Accounts", Key: "Account ID", OnSharedChange: deadletter.Review, Margin: 10 * time.Second},
			"Orders": {
				Name: "Orders", Base: "orders", Table: "Orders", Key: "Order ID", Stamp: "Replay Stamp",
				Version:      &config.Version{Field: "Source Updated At", Kind: deadletter.VersionTimestamp, Precision: time.Millisecond},
				BusinessDate: "Delivery Date", DependsOn: []string{"Accounts"}, OnSharedChange: deadletter.Review, Margin: 10 * time.Second,
				Fields: map[string]*config.Field{
					"Status":        {Rules: "required,oneof=Pending Shipped Delivered", MaxLength: 100_000},
					"Delivery Date": {Rules: "omitempty,datetime=2006-01-02", Shared: "Delivery Date Changed At", MaxLength: 100_000},
					"Account":       {Link: "Accounts", MaxLength: 100_000},
				},
			},
		},
		Sources: map[string]*config.Source{"order-system": {
			Name: "order-system", Target: "Orders", Sends: deadletter.SendsFull,
			ID: config.KeyPath{Path: *path(t, "order.id")}, Version: path(t, "updated_at"),
			Fields: map[string]*config.Path{
				"Status": path(t, "order.status"), "Delivery Date": path(t, "order.delivery_date"), "Account": path(t, "order.account"),
			},
			Reextract: &config.Reextract{URL: "https://orders.internal/api/orders/{id}", Token: config.NewSecret("patSecretTwo")},
		}},
		Notify: map[string]*config.Endpoint{"ops-webhook": {
			Name: "ops-webhook", URL: "https://ops.example.com/hook", Secret: config.NewSecret("whsec_three"), On: config.Events(),
		}},
		Replay: config.Replay{StuckAfter: 5 * time.Minute, SweepEvery: time.Minute, AttemptCap: 5, RecoveryTick: time.Second},
	}
	require.Empty(t, cmp.Diff(want, got, cmp.Comparer(func(a, b config.Secret) bool { return a.Reveal() == b.Reveal() })))
	require.Equal(t, 0, got.Rank("Accounts"))
	require.Equal(t, 1, got.Rank("Orders"))
	require.Equal(t, 35*time.Second, got.Lease(got.Bases["orders"]))
}

// Two sources may feed one target when they keep one clock, or have a version field each (mission C1).
func TestSourcesOfOneTarget(t *testing.T) {
	t.Parallel()
	const text = `bases:
  orders: {id: appOrdersSandbox01, token: "${AIRTABLE_TOKEN}"}
targets:
  Orders: {base: orders, key: Order ID, version: {field: V, precision: 1s, tie_break: {field: T}%s}, fields: {A: }}
sources:
  one: {target: Orders, sends: full, id: id, version: at, tie_break: seq, fields: {A: a}}
  two: {target: Orders, sends: full, id: id, version: at, %s fields: {A: a}}
  none: {target: Orders, sends: full, id: id, fields: {A: a}}
`
	for _, c := range []struct {
		shared, own string
		want        *config.Version
		fault       string
	}{
		{shared: ", shared: true", own: "tie_break: seq,", want: &config.Version{Field: "V", Kind: deadletter.VersionTimestamp, Precision: time.Second, TieBreak: &config.TieBreak{Field: "T"}, Shared: true}},
		{own: "version_field: W,", want: &config.Version{Field: "W", Kind: deadletter.VersionTimestamp, Precision: time.Second}},
		{own: "version_field: {field: W, kind: number, text: true},", want: &config.Version{Field: "W", Kind: deadletter.VersionNumber, Text: true}},
		{own: "tie_break: seq, version_field: {field: W, tie_break: {field: U}},", want: &config.Version{Field: "W", Kind: deadletter.VersionTimestamp, Precision: time.Millisecond, TieBreak: &config.TieBreak{Field: "U"}}},
		{own: "tie_break: seq,", fault: "writes its version to V, as one does"},
		{own: "tie_break: seq, version_field: V,", fault: "writes its version to V, as one does"},
		{shared: ", shared: true", own: "tie_break: seq, version_field: V,", fault: "writes its version to V, as one does"},
	} {
		file, err := config.Load(fmt.Appendf(nil, text, c.shared, c.own), env)
		if c.fault != "" {
			require.ErrorContains(t, err, c.fault)
			continue
		}
		require.NoError(t, err)
		require.Empty(t, cmp.Diff(c.want, file.VersionOf(file.Sources["two"])))
		require.Nil(t, file.VersionOf(file.Sources["none"]), "a sender without versions has no field for them")
	}
}
