// Package passkeys owns signing in without a password (WebAuthn): accounts.passkeys and the challenges that
// authenticators sign, each once (accounts.passkey_challenges). Whoever signs in so has proved two factors: the
// device, and by it who they are.
//
// It does not own sessions and tokens, which package sessions makes of who was proved here.
package passkeys
