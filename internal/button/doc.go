// Package button makes the script of the Replay button, which people paste into an Airtable automation
// (mission T3), for one service and one dead letter table.
//
// It must never put a token into the script: that is a secret of the automation. console and the
// command line may import it.
package button
