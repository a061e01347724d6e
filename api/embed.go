package api

import _ "embed"

// Spec is the OpenAPI document as it is served at /openapi.yaml.
//
//go:embed openapi.yaml
var Spec []byte
