package account

import (
	"fmt"
	"net/http"
	"reflect"
	"time"
)

// Statuses of a subscription.
const (
	SubIncomplete        = "incomplete"
	subIncompleteExpired = "incomplete_expired"
	SubTrialing          = "trialing"
	subActive            = "active"
	subPastDue           = "past_due"
	subCanceled          = "canceled"
	subUnpaid            = "unpaid"
)

// Values of payment_behavior at creation.
const (
	allowIncomplete   = "allow_incomplete"
	defaultIncomplete = "default_incomplete"
	errorIfIncomplete = "error_if_incomplete"
)

// pauseVoid is the one behavior of pause_collection that the sandbox knows: invoices that are made while it is paused
// are voided.
const pauseVoid = "void"

type subscription struct {
	ID                string            `json:"id"`
	Created           int64             `json:"created"`
	Customer          string            `json:"customer"`
	Items             []subItem         `json:"items"`
	Currency          string            `json:"currency"`
	Status            string            `json:"status"`
	DefaultMethod     string            `json:"default_method"`
	Description       string            `json:"description"`
	Metadata          map[string]string `json:"metadata"`
	Anchor            int64             `json:"anchor"` // its day of month is kept at every renewal
	PeriodStart       int64             `json:"period_start"`
	PeriodEnd         int64             `json:"period_end"`
	TrialStart        int64             `json:"trial_start"`
	TrialEnd          int64             `json:"trial_end"`
	CancelAtPeriodEnd bool              `json:"cancel_at_period_end"`
	CanceledAt        int64             `json:"canceled_at"`
	CancelReason      string            `json:"cancel_reason"`
	CancelComment     string            `json:"cancel_comment"`
	EndedAt           int64             `json:"ended_at"`
	LatestInvoice     string            `json:"latest_invoice"`
	MethodTypes       []string          `json:"method_types"`
	SaveDefault       string            `json:"save_default"`
	// Paused is the behavior of pause_collection, "" while the subscription is collected.
	Paused   string    `json:"paused,omitempty"`
	Discount *discount `json:"discount,omitempty"`
}

type subItem struct {
	ID       string            `json:"id"`
	Price    string            `json:"price"`
	Quantity int64             `json:"quantity"`
	Created  int64             `json:"created"`
	Metadata map[string]string `json:"metadata"`
}

func (s *subscription) pauseCollection() any {
	if s.Paused == "" {
		return nil
	}
	return Object{"behavior": s.Paused, "resumes_at": nil}
}

// Over reports a status from which nothing leads on.
func (s *subscription) Over() bool {
	return s.Status == subCanceled || s.Status == subIncompleteExpired
}

const subscriptionParams = ` default_payment_method description metadata metadata.* cancel_at_period_end off_session payment_behavior
 payment_settings.payment_method_types payment_settings.save_default_payment_method
 payment_settings.payment_method_options.*
 proration_behavior collection_method `

func (l *Ledger) renderSubscription(s *subscription, shape Shape) Object {
	rows := make([]any, 0, len(s.Items))
	for _, item := range s.Items {
		row := Object{
			"id": item.ID, "object": "subscription_item", "billing_thresholds": nil, "created": item.Created,
			"discounts": []any{},
			"metadata":  metadataOf(item.Metadata), "price": l.Prices.Get(item.Price).render(),
			"quantity":     item.Quantity,
			"subscription": s.ID, "tax_rates": []any{},
		}
		if shape == Dahlia {
			row["current_period_start"], row["current_period_end"] = s.PeriodStart, s.PeriodEnd
		}
		rows = append(rows, row)
	}
	var cancelAt any
	if s.CancelAtPeriodEnd {
		cancelAt = s.PeriodEnd
	}
	o := Object{
		"id": s.ID, "object": "subscription", "application": nil, "application_fee_percent": nil,
		"automatic_tax":        Object{"enabled": false, "liability": nil},
		"billing_cycle_anchor": s.Anchor, "billing_cycle_anchor_config": nil, "billing_thresholds": nil,
		"cancel_at":            cancelAt,
		"cancel_at_period_end": s.CancelAtPeriodEnd, "canceled_at": timeOrNull(s.CanceledAt),
		"cancellation_details": Object{
			"comment": orNull(s.CancelComment), "feedback": nil, "reason": orNull(s.CancelReason),
		},
		"collection_method": "charge_automatically", "created": s.Created, "currency": s.Currency,
		"customer":       s.Customer,
		"days_until_due": nil, "default_payment_method": orNull(s.DefaultMethod), "default_source": nil,
		"default_tax_rates": []any{},
		"description":       orNull(s.Description), "discounts": s.discounts(), "ended_at": timeOrNull(s.EndedAt),
		"invoice_settings": Object{"account_tax_ids": nil, "issuer": Object{"type": "self"}},
		"items":            wholeList("/v1/subscription_items?subscription="+s.ID, rows),
		"latest_invoice":   orNull(s.LatestInvoice), "livemode": false, "metadata": metadataOf(s.Metadata),
		"next_pending_invoice_item_invoice": nil, "on_behalf_of": nil, "pause_collection": s.pauseCollection(),
		"payment_settings": Object{
			"payment_method_options": nil, "payment_method_types": s.MethodTypes,
			"save_default_payment_method": s.SaveDefault,
		},
		"pending_invoice_item_interval": nil, "pending_setup_intent": nil, "pending_update": nil, "schedule": nil,
		"start_date": s.Created, "status": s.Status, "test_clock": nil, "transfer_data": nil,
		"trial_end":      timeOrNull(s.TrialEnd),
		"trial_settings": Object{"end_behavior": Object{"missing_payment_method": "create_invoice"}},
		"trial_start":    timeOrNull(s.TrialStart),
	}
	if shape == PreBasil {
		o["current_period_start"], o["current_period_end"], o["discount"] = s.PeriodStart, s.PeriodEnd, nil
		return o
	}
	o["automatic_tax"] = Object{"disabled_reason": nil, "enabled": false, "liability": nil}
	o["billing_mode"] = Object{"flexible": nil, "type": "classic"}
	o["customer_account"] = nil
	return o
}

// changed is the old value of each top-level key that differs: previous_attributes.
func changed(before, after Object) Object {
	diff := Object{}
	for k, v := range before {
		if !reflect.DeepEqual(v, after[k]) {
			diff[k] = v
		}
	}
	return diff
}

// update changes a subscription and tells it, when anything changed.
func (o *Op) update(s *subscription, change func()) {
	before := o.ledger.renderSubscription(s, o.ledger.Shape)
	change()
	after := o.ledger.renderSubscription(s, o.ledger.Shape)
	if diff := changed(before, after); len(diff) > 0 {
		o.emit("customer.subscription.updated", after, diff)
	}
}

// amount is what one period costs, in cents.
func (l *Ledger) amount(s *subscription) int64 {
	total := int64(0)
	for _, item := range s.Items {
		total += l.Prices.Get(item.Price).Amount * item.Quantity
	}
	return total
}

// periodAfter is the end of the period that starts at the given time. Month ends don't drift: the 31st stays the last
// of the month.
func (l *Ledger) periodAfter(s *subscription, start int64) int64 {
	p := l.Prices.Get(s.Items[0].Price)
	from, count := time.Unix(start, 0).UTC(), int(p.Count)
	switch p.Interval {
	case "day":
		return from.AddDate(0, 0, count).Unix()
	case "week":
		return from.AddDate(0, 0, 7*count).Unix()
	case "year":
		count *= 12
	}
	first := time.Date(from.Year(), from.Month()+time.Month(count), 1, from.Hour(), from.Minute(), from.Second(), 0,
		time.UTC)
	last := first.AddDate(0, 1, -1).Day()
	return first.AddDate(0, 0, min(time.Unix(s.Anchor, 0).UTC().Day(), last)-1).Unix()
}

// methodFor is the payment method that pays a subscription: its own, else the customer's default.
func (l *Ledger) methodFor(s *subscription) *paymentMethod {
	if m := l.PaymentMethods.Get(s.DefaultMethod); m != nil {
		return m
	}
	if c := l.Customers.Get(s.Customer); c != nil {
		return l.PaymentMethods.Get(c.DefaultMethod)
	}
	return nil
}

// cancelNow ends a subscription: no refund, no more retries; the open invoice of one that never started is voided, so
// that nobody can pay it any more.
func (o *Op) cancelNow(s *subscription, reason string) {
	l, now := o.ledger, o.ledger.Now()
	neverStarted := s.Status == SubIncomplete
	s.Status, s.EndedAt, s.CancelReason = subCanceled, now, reason
	if s.CanceledAt == 0 {
		s.CanceledAt = now
	}
	l.stage.Clock.Cancel(jobIncompleteExpire, s.ID)
	l.stage.Clock.Cancel(JobPeriodEnd, s.ID)
	for _, inv := range l.openInvoices(s.ID) {
		l.stage.Clock.Cancel(JobInvoiceRetry, inv.ID)
		inv.NextAttempt = 0
		if neverStarted {
			o.void(inv)
		}
	}
	o.EmitAbout("customer.subscription.deleted", s.ID)
}

// start is what the first paid invoice does: an incomplete subscription becomes active and its periods begin to run.
func (o *Op) start(s *subscription) {
	o.ledger.stage.Clock.Cancel(jobIncompleteExpire, s.ID)
	o.update(s, func() { s.Status = subActive })
	o.schedulePeriodEnd(s)
}

func (o *Op) schedulePeriodEnd(s *subscription) {
	o.ledger.stage.Clock.At(time.Unix(s.PeriodEnd, 0), JobPeriodEnd, s.ID)
}

func noSubscription(id string) error { return missing("subscription", id, "id") }

// priceFor checks a price that a subscription item names.
func (q *Request) priceFor(id, param string) *price {
	p := q.ledger.Prices.Get(id)
	switch {
	case p == nil:
		q.fail(unknownReference("price", id, param))
	case !p.Active:
		q.fail(invalid(param, "price_inactive",
			"The price specified is inactive. This field only accepts active prices."))
	case p.Interval == "":
		q.fail(invalid(param, "",
			"The price specified is set to `type=one_time` but this field only accepts prices with `type=recurring`."))
	}
	return p
}

// declinedBeforehand is the 402 of error_if_incomplete.
func declinedBeforehand(decline string) error {
	e := declineOf(decline)
	e.Status = http.StatusPaymentRequired
	return e
}

func lineText(s *subscription, p *price, name string) string {
	if s.Status == SubTrialing {
		return "Trial period for " + name
	}
	every := p.Interval
	if p.Count > 1 {
		every = fmt.Sprintf("%d %ss", p.Count, p.Interval)
	}
	return fmt.Sprintf("1 × %s (at R$ %d.%02d / %s)", name, p.Amount/100, p.Amount%100, every)
}
