// Package storetest gives tests a database of their own: a clone of a template that was migrated
// once per process, on a PostgreSQL that the tests start themselves. It also moves the shared clock.
//
// It must never touch a database that it did not make. Only tests may import it.
package storetest
