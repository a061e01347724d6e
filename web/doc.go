// Package web holds what browsers and Airtable get: assets as files, and nothing that runs here.
//
// It must never import anything of the module. console and button import it.
package web
