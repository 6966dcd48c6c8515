// Package totp owns the second factor of users who set one up: the secret that their authenticator
// counts with (accounts.totp, RFC 6238: SHA-1, six digits, steps of 30 seconds) and the codes that stand
// in for it (accounts.recovery_codes).
//
// Each code is taken once, by compare-and-set. Secrets are sealed under a key derived from FILE_KEY,
// recovery codes are kept as HMACs; neither is told a second time.
//
// It does not know passwords, throttles or tokens: package sessions asks it at a sign-in, package factors
// lets users set it up.
package totp
