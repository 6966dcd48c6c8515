package account

import "time"

// Kinds of clock jobs; ref is the id of the object.
const (
	jobIncompleteExpire = "subscription_incomplete_expire"
	JobPeriodEnd        = "subscription_period_end"
	JobInvoiceRetry     = "invoice_retry"
	jobPIXPay           = "pix_pay"
	jobPIXExpire        = "pix_expire"
	JobRefundFail       = "refund_fail"
	jobDispute          = "dispute"
)

// incompleteLife is how long a first invoice may stay unpaid.
const incompleteLife = 23 * time.Hour

// dunning are the waits between the attempts to collect a renewal; after the last one it is given up.
var dunning = []time.Duration{3 * 24 * time.Hour, 5 * 24 * time.Hour, 7 * 24 * time.Hour}

// Jobs are what is done when the clock reaches a date.
type Jobs struct{ *Op }

// expireIncomplete ends a subscription whose first invoice was not paid in time.
func (o Jobs) expireIncomplete(id string) {
	s := o.ledger.Subscriptions.Get(id)
	if s == nil || s.Status != SubIncomplete {
		return
	}
	for _, inv := range o.ledger.openInvoices(id) {
		o.void(inv)
	}
	o.update(s, func() { s.Status, s.EndedAt = subIncompleteExpired, o.ledger.Now() })
}

// EndPeriod renews a subscription, or ends it when that was asked for. The trial's end is the end of the first period.
func (o Jobs) EndPeriod(id string) {
	s := o.ledger.Subscriptions.Get(id)
	if s == nil || s.Over() || s.Status == SubIncomplete {
		return
	}
	if s.CancelAtPeriodEnd {
		o.cancelNow(s, "cancellation_requested")
		return
	}
	var inv *invoice
	o.update(s, func() {
		s.PeriodStart = s.PeriodEnd
		s.PeriodEnd = o.ledger.periodAfter(s, s.PeriodStart)
		if s.Status == SubTrialing {
			s.Status = subActive
		}
		inv = o.newInvoice(s, "subscription_cycle")
	})
	o.schedulePeriodEnd(s)
	o.announce(inv)
	switch m := o.ledger.methodFor(s); {
	case s.Paused == pauseVoid:
		o.void(inv)
	case inv.AmountDue == 0:
		o.settle(inv)
	case s.Status == subUnpaid: // invoices are made and left open
	default:
		_ = o.payInvoice(inv, m, offSession) // events tell how it ended
	}
}

// RetryInvoice is one step of dunning.
func (o Jobs) RetryInvoice(id string) {
	inv := o.ledger.Invoices.Get(id)
	if inv == nil || inv.Status != InvoiceOpen {
		return
	}
	if s := o.ledger.Subscriptions.Get(inv.Subscription); s != nil && !s.Over() {
		_ = o.payInvoice(inv, o.ledger.methodFor(s), offSession) // events tell how it ended
	}
}

// planRetry sets the time of the next attempt to collect a renewal, none after the last.
func (o *Op) planRetry(inv *invoice) {
	inv.NextAttempt = 0
	if attempt := inv.AttemptCount; attempt >= 1 && attempt <= int64(len(dunning)) {
		next := o.ledger.stage.Clock.Now().Add(dunning[attempt-1])
		inv.NextAttempt = next.Unix()
		o.ledger.stage.Clock.Cancel(JobInvoiceRetry, inv.ID)
		o.ledger.stage.Clock.At(time.Unix(inv.NextAttempt, 0), JobInvoiceRetry, inv.ID)
	}
}

// afterFailedRenewal sets what the failed attempt means for the subscription: past due, or after the last what
// Options.AfterDunning says.
func (o *Op) afterFailedRenewal(s *subscription, inv *invoice) {
	if s.Over() {
		return
	}
	if inv.NextAttempt == 0 {
		switch o.ledger.AfterDunning {
		case AfterDunningCancel:
			o.cancelNow(s, "payment_failed")
			return
		case AfterDunningUnpaid:
			o.update(s, func() { s.Status = subUnpaid })
			return
		}
	}
	o.update(s, func() { s.Status = subPastDue })
}
