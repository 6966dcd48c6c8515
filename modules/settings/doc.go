// Package settings owns what administrators choose for the whole platform: the
// default payment gateway, the PIX billing period, the PIX subscription mode, the
// client version that goes with the service, and the branding: name, accents and
// logo of front ends and mails.
//
// It does not own secrets, addresses and limits: those are configuration, read
// from the environment at start.
//
// Words: a setting is one column of the only row of settings.platform; a change
// is one row of settings.changes, append-only, with who and when.
//
// A changed setting counts from the next request on, in every process.
package settings
