// Package oapi is the server's side of the API as generated from api/openapi.yaml: models, routes and
// the strict server's interface.
//
// Nothing in it is written by hand but this file, and no other package than httpapi may import it.
package oapi

//go:generate go run github.com/oapi-codegen/oapi-codegen/v2/cmd/oapi-codegen@v2.8.2 -config oapi-codegen.yaml ../../../../api/openapi.yaml
