// Package live accepts writes from services: durable first, then handed to the pass of their base.
//
// It must never write to Airtable; the pass decides, paces, retries and dead-letters. httpapi and app
// may import it.
package live
