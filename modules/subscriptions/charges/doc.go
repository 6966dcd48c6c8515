// Package charges makes PIX codes that pay a further period.
//
// Owns: renewal_charges, POST /customers/me/subscription/renew/pix. A code is asked for once a
// period, shown while it can be paid, and made unpayable when it runs out.
//
// Does not own: codes of a first period (room checkout), codes of failed debits (room debits).
package charges
