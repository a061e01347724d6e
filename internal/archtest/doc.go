// Package archtest holds the project to its own rules: which package may import
// which, how long files and functions may be, what is documented, how tests are
// written, which words never appear. It consists of tests alone; each rule is
// also shown a breach that it must find.
//
// It must never run the code it judges, and imports nothing of this module.
// Nobody imports it.
package archtest
