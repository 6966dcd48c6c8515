// Package withdrawal ends a subscription within the days of regret and gives all of its money
// back.
//
// Owns: no table; POST /customers/me/subscription/withdraw.
//
// Does not own: the refunds (module payments).
package withdrawal
