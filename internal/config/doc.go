// Package config reads the YAML file that names bases, targets, sources and
// notifications, and refuses it with every fault at once, each with its line,
// its key path and how to mend it (Problems).
//
// Load is a function of the bytes, the environment and the files that secrets
// point to. The package must never talk to a network, log, or print a secret:
// secrets are Secret values, which redact themselves everywhere but in Reveal.
//
// It imports internal/deadletter for the domain's words. Every package above the
// domain may import it.
package config
