// Package api holds the description of the REST API, from which the server's routes and the client
// are generated.
//
// It must never hold code beside the embedded document. Packages httpapi and app import it.
package api
