// Package pacing keeps every process within a base's limits: one lease holder at a time, request
// slots shared by all, pauses after a 429. What is shared stands in Postgres; what a holder must
// judge by itself, whether its lease may still live, is judged on its own monotonic clock.
//
// It must never talk to Airtable or know what is written. pass, replay (for previews), mirror and
// app may import it.
package pacing
