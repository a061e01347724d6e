package button

import (
	"bytes"
	"encoding/json"
	"strings"

	"airtable-replay/web"
)

// The lines of the script that are filled in.
const (
	serviceLine = `const SERVICE_URL = "";`
	tableLine   = `const TABLE = "Dead Letter Queue";`
)

// Script is the automation's script, filled in with the URL at which Airtable reaches the service and
// the name of the dead letter table. Either may be empty: then the script asks for the URL as an input
// variable, and the table is "Dead Letter Queue".
func Script(serviceURL, table string) string {
	script := web.ReplayScript
	if serviceURL != "" {
		script = fill(script, serviceLine, serviceURL)
	}
	if table != "" {
		script = fill(script, tableLine, table)
	}
	return script
}

// fill puts a text into the string of a line.
func fill(script, line, value string) string {
	name, _, _ := strings.Cut(line, " = ")
	return strings.Replace(script, line, name+" = "+literal(value)+";", 1)
}

// literal is a text as a string of JavaScript. JSON is one; < > & and the two line separators are
// escaped besides, so that the script can stand in a page.
func literal(text string) string {
	var b bytes.Buffer
	if err := json.NewEncoder(&b).Encode(text); err != nil {
		panic(err) // a string always encodes
	}
	return strings.TrimSuffix(b.String(), "\n")
}
