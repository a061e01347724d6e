package sandbox_test

import (
	"encoding/json"
	"fmt"
	"net/url"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"airtable-replay/internal/sandbox"
)

// largeSeed has a table of 20,000 records.
func largeSeed() sandbox.Seed {
	records := make([]sandbox.SeedRecord, 20_000)
	for i := range records {
		records[i].Fields = map[string]any{"Order ID": fmt.Sprintf("O-%05d", i), "Qty": i, "Status": "Pending"}
	}
	return sandbox.Seed{Bases: []sandbox.SeedBase{{ID: baseID, Tokens: []sandbox.SeedToken{{Token: token}},
		Tables: []sandbox.SeedTable{{Name: "Orders", Records: records, Fields: []sandbox.SeedField{
			{Name: "Order ID", Type: "singleLineText"}, {Name: "Qty", Type: "number"},
			{Name: "Status", Type: "singleSelect", Choices: []string{"Pending"}},
			{Name: "Label", Type: "formula", Formula: "{Order ID} & '!'"},
		}}}}}}
}

// budget prints a figure, and beside it the target that it should stay below.
func budget(b *testing.B, unit string, figure, target float64) {
	b.ReportMetric(0, "ns/op") // says less than the figure
	b.ReportMetric(figure, unit)
	b.ReportMetric(target, "target-"+unit)
	b.ReportMetric(figure/target, "of-target")
}

// BenchmarkMemory is what a sandbox of 20,000 records keeps, after its indexes
// were built and every record was read once.
func BenchmarkMemory(b *testing.B) {
	for b.Loop() {
		before := heap()
		box, err := sandbox.New(largeSeed(), sandbox.Config{})
		require.NoError(b, err)
		for offset := ""; ; {
			rec := serve(box, "GET", "/v0/"+baseID+"/Orders?offset="+url.QueryEscape(offset), "")
			require.Equal(b, 200, rec.Code)
			var page struct{ Offset string }
			require.NoError(b, json.Unmarshal(rec.Body.Bytes(), &page))
			if offset = page.Offset; offset == "" {
				break
			}
		}
		serve(box, "GET", "/v0/"+baseID+"/Orders?filterByFormula="+url.QueryEscape("{Order ID}='O-00001'"), "")
		budget(b, "MB", float64(heap()-before)/1e6, 200)
		box.Close()
	}
}

// heap is what is in use after a collection, in bytes.
func heap() uint64 {
	runtime.GC()
	runtime.GC() // what a finalizer let go of in the first
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return stats.HeapAlloc
}

// lookups are the forms in which clients ask for ten keys at once.
var lookups = []struct{ name, pattern string }{
	{"text", "{Order ID}='O-%05d'"},
	{"number", "{Qty}=%d"},
	{"formula field", "{Label}='O-%05d!'"},
	{"case folded", "LOWER({Order ID})='o-%05d'"},
}

func lookupQuery(pattern string) string {
	terms := make([]string, 10)
	for i := range terms {
		terms[i] = fmt.Sprintf(pattern, i*1999)
	}
	return "/v0/" + baseID + "/Orders?filterByFormula=" + url.QueryEscape("OR("+strings.Join(terms, ",")+")")
}

// BenchmarkLookupOfTenKeys reads ten of 20,000 records between writes of ten,
// as a client does; only the reads count.
func BenchmarkLookupOfTenKeys(b *testing.B) {
	box, err := sandbox.New(largeSeed(), sandbox.Config{})
	require.NoError(b, err)
	b.Cleanup(box.Close)
	for _, form := range lookups {
		query := lookupQuery(form.pattern)
		b.Run(form.name, func(b *testing.B) {
			for n := 0; b.Loop(); n++ {
				b.StopTimer()
				items := make([]string, 10)
				for i := range items {
					items[i] = fmt.Sprintf(`{"fields":{"Order ID":"O-%05d","Status":%s}}`, i*1999, []string{`"Pending"`, "null"}[n%2])
				}
				rec := serve(box, "PATCH", "/v0/"+baseID+"/Orders", upsertBody(strings.Join(items, ","), `"Order ID"`))
				require.Equal(b, 200, rec.Code, rec.Body.String())
				b.StartTimer()
				rec = serve(box, "GET", query, "")
				require.Equal(b, 10, strings.Count(rec.Body.String(), `"createdTime"`), rec.Body.String())
			}
			budget(b, "ms/lookup", b.Elapsed().Seconds()*1000/float64(b.N), 20)
		})
	}
}

// BenchmarkFirstLookup is the one that tries the formula on all 20,000 records.
func BenchmarkFirstLookup(b *testing.B) {
	for _, form := range lookups {
		query := lookupQuery(form.pattern)
		b.Run(form.name, func(b *testing.B) {
			for b.Loop() {
				b.StopTimer()
				box, err := sandbox.New(largeSeed(), sandbox.Config{})
				require.NoError(b, err)
				b.StartTimer()
				rec := serve(box, "GET", query, "")
				require.Equal(b, 10, strings.Count(rec.Body.String(), `"createdTime"`), rec.Body.String())
				b.StopTimer()
				box.Close()
				b.StartTimer()
			}
			budget(b, "ms/lookup", b.Elapsed().Seconds()*1000/float64(b.N), 150)
		})
	}
}

func BenchmarkUpsertOfTen(b *testing.B) {
	box, err := sandbox.New(largeSeed(), sandbox.Config{})
	require.NoError(b, err)
	b.Cleanup(box.Close)
	for n := 0; b.Loop(); n++ {
		items := make([]string, 10)
		for i := range items {
			items[i] = fmt.Sprintf(`{"fields":{"Order ID":"O-%05d","Qty":%d}}`, i*1999, n)
		}
		body := `{"performUpsert":{"fieldsToMergeOn":["Order ID"]},"records":[` + strings.Join(items, ",") + `]}`
		rec := serve(box, "PATCH", "/v0/"+baseID+"/Orders", body)
		require.Equal(b, 200, rec.Code, rec.Body.String())
	}
}
