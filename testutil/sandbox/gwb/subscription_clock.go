package gwb

import "time"

// Kinds of clock jobs; ref is the id of the object.
const (
	jobIncompleteExpire = "subscription_incomplete_expire"
	jobPeriodEnd        = "subscription_period_end"
	jobInvoiceRetry     = "invoice_retry"
	jobPIXPay           = "pix_pay"
	jobPIXExpire        = "pix_expire"
	jobRefundFail       = "refund_fail"
	jobDispute          = "dispute"
)

// incompleteLife is how long a first invoice may stay unpaid.
const incompleteLife = 23 * time.Hour

// dunning are the waits between the attempts to collect a renewal; after the last one it is given up.
var dunning = []time.Duration{3 * 24 * time.Hour, 5 * 24 * time.Hour, 7 * 24 * time.Hour}

// expireIncomplete ends a subscription whose first invoice was not paid in time.
func (o *op) expireIncomplete(id string) {
	s := o.g.data.Subscriptions.Get(id)
	if s == nil || s.Status != subIncomplete {
		return
	}
	for _, inv := range o.g.openInvoices(id) {
		o.void(inv)
	}
	o.update(s, func() { s.Status, s.EndedAt = subIncompleteExpired, o.g.now() })
}

// endPeriod renews a subscription, or ends it when that was asked for. The trial's end is the end of the first period.
func (o *op) endPeriod(id string) {
	s := o.g.data.Subscriptions.Get(id)
	if s == nil || s.over() || s.Status == subIncomplete {
		return
	}
	if s.CancelAtPeriodEnd {
		o.cancelNow(s, "cancellation_requested")
		return
	}
	var inv *invoice
	o.update(s, func() {
		s.PeriodStart = s.PeriodEnd
		s.PeriodEnd = o.g.periodAfter(s, s.PeriodStart)
		if s.Status == subTrialing {
			s.Status = subActive
		}
		inv = o.newInvoice(s, "subscription_cycle")
	})
	o.schedulePeriodEnd(s)
	o.announce(inv)
	switch m := o.g.methodFor(s); {
	case s.Paused == pauseVoid:
		o.void(inv)
	case inv.AmountDue == 0:
		o.settle(inv)
	case s.Status == subUnpaid: // invoices are made and left open
	default:
		_ = o.payInvoice(inv, m, offSession) // events tell how it ended
	}
}

// retryInvoice is one step of dunning.
func (o *op) retryInvoice(id string) {
	inv := o.g.data.Invoices.Get(id)
	if inv == nil || inv.Status != invoiceOpen {
		return
	}
	if s := o.g.data.Subscriptions.Get(inv.Subscription); s != nil && !s.over() {
		_ = o.payInvoice(inv, o.g.methodFor(s), offSession) // events tell how it ended
	}
}

// planRetry sets the time of the next attempt to collect a renewal, none after the last.
func (o *op) planRetry(inv *invoice) {
	inv.NextAttempt = 0
	if attempt := inv.AttemptCount; attempt >= 1 && attempt <= int64(len(dunning)) {
		next := o.g.stage.Clock.Now().Add(dunning[attempt-1])
		inv.NextAttempt = next.Unix()
		o.g.stage.Clock.Cancel(jobInvoiceRetry, inv.ID)
		o.g.stage.Clock.At(time.Unix(inv.NextAttempt, 0), jobInvoiceRetry, inv.ID)
	}
}

// afterFailedRenewal sets what the failed attempt means for the subscription: past due, or after the last what
// Options.AfterDunning says.
func (o *op) afterFailedRenewal(s *subscription, inv *invoice) {
	if s.over() {
		return
	}
	if inv.NextAttempt == 0 {
		switch o.g.opts.AfterDunning {
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
