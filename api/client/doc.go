// Package client is a Go client of the REST API, generated from the description in package api. Values
// of fields and payloads stay raw JSON, so that no digit is lost.
//
// Nothing in it is written by hand but this file and its test. Within the module only the commands
// import it.
package client

//go:generate go run github.com/oapi-codegen/oapi-codegen/v2/cmd/oapi-codegen@v2.8.2 -config oapi-codegen.yaml ../openapi.yaml
