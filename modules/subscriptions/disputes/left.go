package disputes

import (
	"marquee/modules/payments"
	"marquee/modules/payments/gateway"
	"marquee/platform/money"
)

// IsOne reports whether one of the names is the payment's.
func IsOne(p gateway.Payment, names []string) bool {
	for _, name := range names {
		if name != "" && (name == p.ID || name == p.InvoiceID || name == p.PaymentIntentID) {
			return true
		}
	}
	return false
}

// LeftOf is what has not been given back or asked for yet.
func LeftOf(p gateway.LedgerPayment, refunds []payments.Refund) money.Cents {
	left := p.Payment.Amount
	for _, r := range refunds {
		if r.Status != gateway.RefundFailed && IsOne(p.Payment, []string{r.PaymentID}) {
			left -= r.Amount
		}
	}
	return left
}
