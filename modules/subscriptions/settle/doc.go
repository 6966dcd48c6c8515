// Package settle writes what money and a gateway's answer mean to a subscription, whoever heard
// of it.
//
// Owns: no table. Every payment of a subscription ends in SettlePaymentTx, also what comes late,
// twice, beside the recurrence, with another amount, or for what is not to be charged.
//
// Does not own: the ledger (module payments), how an answer is got.
package settle
