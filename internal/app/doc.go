// Package app is the composition root: it builds every part from the configuration, starts them in
// order and stops them in reverse. Nothing else knows how the parts fit together.
//
// It must hold no rules of its own. Only the command line and end-to-end tests may import it.
package app
