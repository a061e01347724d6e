package console_test

import (
	"os"
	"testing"

	"airtable-replay/internal/store/storetest"
)

func TestMain(m *testing.M) { os.Exit(storetest.Main(m)) }
