// Package retries has debits of automatic PIX that failed taken again, and asks what became of
// those about which nobody told.
//
// Owns: no table; debit_retries are written through room debits.
package retries
