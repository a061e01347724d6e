package console_test

import (
	"fmt"
	"os"
	"testing"

	"airtable-replay/internal/store/storetest"
)

func TestMain(m *testing.M) {
	code := storetest.Main(m)
	if err := stopBrowser(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}
