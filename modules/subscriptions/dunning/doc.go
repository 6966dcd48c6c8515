// Package dunning writes to customers whose payment failed.
//
// Owns: dunning_mails. A mail is planned with the failure, and dropped when nothing is owed on
// its day.
//
// Does not own: what counts as a failure (room webhooks).
package dunning
