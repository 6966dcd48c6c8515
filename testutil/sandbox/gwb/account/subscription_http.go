package account

import (
	"slices"
	"strconv"
	"time"
)

var subscriptionRoutes = []route{
	{
		"POST /v1/subscriptions",
		"customer items.price items.quantity items.metadata.* trial_period_days trial_end trial_settings.end_behavior.missing_payment_method billing_cycle_anchor currency discounts.coupon" + subscriptionParams, createSubscription,
	},
	{"GET /v1/subscriptions", "customer status price" + pageParams, listSubscriptions},
	{"GET /v1/subscriptions/{id}", "", retrieveSubscription},
	{
		"POST /v1/subscriptions/{id}",
		"items.id items.price items.quantity cancellation_details.comment cancellation_details.feedback pause_collection pause_collection.behavior trial_end" + subscriptionParams, updateSubscription,
	},
	{
		"DELETE /v1/subscriptions/{id}",
		"invoice_now prorate cancellation_details.comment cancellation_details.feedback", cancelSubscription,
	},
}

func createSubscription(q *Request) (Object, error) {
	l := q.ledger
	behavior := q.oneOf("payment_behavior", allowIncomplete, allowIncomplete, defaultIncomplete, errorIfIncomplete)
	s, err := q.newSubscription()
	if err != nil {
		return nil, err
	}
	m := l.methodFor(s)
	if s.Status != SubTrialing && l.amount(s) > l.off(s, l.amount(s)) {
		if m == nil && behavior != defaultIncomplete {
			e := invalid("", "resource_missing",
				"This customer has no attached payment source or default payment method. Please consider adding a default payment method.")
			return nil, e
		}
		if decline := l.foresee(m); behavior == errorIfIncomplete && decline != "" {
			return nil, declinedBeforehand(decline)
		}
	}
	l.Subscriptions.Put(s.ID, s)
	q.redeem(s)
	inv := q.newInvoice(s, "subscription_create")
	q.EmitAbout("customer.subscription.created", s.ID)
	q.announce(inv)
	switch {
	case s.Status == SubTrialing:
		q.settle(inv)
		q.schedulePeriodEnd(s)
	case inv.AmountDue == 0:
		q.settle(inv)
	default:
		l.stage.Clock.At(l.stage.Clock.Now().Add(incompleteLife), jobIncompleteExpire, s.ID)
		if behavior == defaultIncomplete {
			q.prepareIntent(inv, m)
		} else {
			_ = q.payInvoice(inv, m, onSession) // the subscription tells how it ended
		}
	}
	return l.renderSubscription(s, Dahlia), nil
}

// newSubscription reads and checks the parameters; nothing is stored yet.
func (q *Request) newSubscription() (*subscription, error) {
	now := q.ledger.Now()
	s := &subscription{
		ID: NewID("sub"), Created: now, Customer: q.need("customer"), Status: SubIncomplete, Anchor: now,
		PeriodStart:   now,
		DefaultMethod: q.str("default_payment_method"), Description: q.str("description"), Metadata: q.metadata(nil),
		CancelAtPeriodEnd: q.boolean("cancel_at_period_end", false),
		MethodTypes:       q.params.list("payment_settings.payment_method_types"),
		SaveDefault:       q.oneOf("payment_settings.save_default_payment_method", "off", "off", "on_subscription"),
	}
	if len(s.MethodTypes) == 0 {
		s.MethodTypes = []string{"card"}
	}
	if q.err == nil {
		if _, err := q.customer(s.Customer, "customer"); err != nil {
			return nil, err
		}
	}
	q.checkDefaultMethod(s)
	q.readItems(s)
	trialEnd := q.trialEnd(now)
	if q.err != nil {
		return nil, q.err
	}
	s.Currency = q.ledger.Prices.Get(s.Items[0].Price).Currency
	if q.readDiscount(s); q.err != nil {
		return nil, q.err
	}
	if trialEnd > now {
		s.Status, s.TrialStart, s.TrialEnd, s.PeriodEnd, s.Anchor = SubTrialing, now, trialEnd, trialEnd, trialEnd
	} else {
		s.PeriodEnd = q.ledger.periodAfter(s, now)
	}
	if s.CancelAtPeriodEnd {
		s.CanceledAt, s.CancelReason = now, "cancellation_requested"
	}
	return s, nil
}

func (q *Request) trialEnd(now int64) int64 {
	if end := q.str("trial_end"); end == "now" {
		return 0
	}
	if days := q.integer("trial_period_days", 0); days > 0 {
		return time.Unix(now, 0).UTC().AddDate(0, 0, int(days)).Unix()
	}
	return q.integer("trial_end", 0)
}

func (q *Request) readItems(s *subscription) {
	for i := 0; q.params.has("items." + strconv.Itoa(i)); i++ {
		path := "items." + strconv.Itoa(i)
		id := q.need(path + ".price")
		if q.err != nil {
			return
		}
		q.priceFor(id, bracketed(path+".price"))
		s.Items = append(s.Items, subItem{
			ID: NewID("si"), Price: id, Quantity: q.integer(path+".quantity", 1), Created: s.Created,
			Metadata: map[string]string{},
		})
	}
	if len(s.Items) == 0 {
		q.fail(invalid("items", "parameter_missing", "Missing required param: items."))
	}
}

func (q *Request) checkDefaultMethod(s *subscription) {
	if s.DefaultMethod == "" || q.err != nil {
		return
	}
	if m := q.ledger.PaymentMethods.Get(s.DefaultMethod); m == nil {
		q.fail(unknownReference("PaymentMethod", s.DefaultMethod, "default_payment_method"))
	} else if m.Customer != s.Customer {
		q.fail(invalid("default_payment_method", "",
			"The customer does not have a payment method with the ID %s. The payment method must be attached to the customer.", m.ID))
	}
}

func retrieveSubscription(q *Request) (Object, error) {
	if s := q.ledger.Subscriptions.Get(q.id); s != nil {
		return q.ledger.renderSubscription(s, Dahlia), nil
	}
	return nil, noSubscription(q.id)
}

func updateSubscription(q *Request) (Object, error) {
	s := q.ledger.Subscriptions.Get(q.id)
	if s == nil {
		return nil, noSubscription(q.id)
	}
	if s.Over() {
		return nil, unexpectedState("resource_missing",
			"A canceled subscription can only update its cancellation_details and metadata.")
	}
	next := *s
	next.Items = slices.Clone(s.Items)
	q.readUpdate(&next)
	if q.err != nil {
		return nil, q.err
	}
	free := next.TrialEnd != s.TrialEnd
	q.update(s, func() { *s = next })
	if free {
		q.beginFreeTime(s)
	}
	return q.ledger.renderSubscription(s, Dahlia), nil
}

// readTrialEnd gives the time until an instant ahead away: the next charge, and the periods from then on, begin there.
func (q *Request) readTrialEnd(next *subscription) {
	if !q.params.has("trial_end") {
		return
	}
	now, end := q.ledger.Now(), q.integer("trial_end", 0)
	switch {
	case q.err != nil:
	case end <= now:
		q.fail(invalid("trial_end", "", "Invalid timestamp: must be an integer Unix timestamp in the future."))
	case end > time.Unix(now, 0).AddDate(2, 0, 0).Unix():
		q.fail(invalid("trial_end", "", "Invalid timestamp: can be no more than two years in the future."))
	default:
		next.Status, next.TrialStart, next.TrialEnd = SubTrialing, now, end
		next.PeriodStart, next.PeriodEnd, next.Anchor = now, end, end
	}
}

// beginFreeTime moves the period's end, and settles the invoice of nothing that goes with it.
func (q *Request) beginFreeTime(s *subscription) {
	q.ledger.stage.Clock.Cancel(JobPeriodEnd, s.ID)
	q.schedulePeriodEnd(s)
	inv := q.newInvoice(s, "subscription_update")
	q.announce(inv)
	q.settle(inv)
}

// readUpdate applies the parameters to a copy. A new price counts from the next period on; there are no prorations.
func (q *Request) readUpdate(next *subscription) {
	next.Metadata = q.metadata(next.Metadata)
	next.SaveDefault = q.oneOf("payment_settings.save_default_payment_method", next.SaveDefault, "off",
		"on_subscription")
	if v, given := q.params["description"]; given {
		next.Description = v
	}
	if v, given := q.params["default_payment_method"]; given {
		next.DefaultMethod = v
		q.checkDefaultMethod(next)
	}
	if types := q.params.list("payment_settings.payment_method_types"); len(types) > 0 {
		next.MethodTypes = types
	}
	if ends := q.boolean("cancel_at_period_end", next.CancelAtPeriodEnd); ends != next.CancelAtPeriodEnd {
		next.CancelAtPeriodEnd, next.CanceledAt, next.CancelReason = ends, 0, ""
		if ends {
			next.CanceledAt, next.CancelReason = q.ledger.Now(), "cancellation_requested"
		}
	}
	if v := q.str("cancellation_details.comment"); v != "" {
		next.CancelComment = v
	}
	q.readPause(next)
	q.readTrialEnd(next)
	for i := 0; q.params.has("items." + strconv.Itoa(i)); i++ {
		q.updateItem(next, "items."+strconv.Itoa(i))
	}
}

// readPause pauses collection, or with an empty pause_collection takes it up again; invoices that are open already
// stay open.
func (q *Request) readPause(next *subscription) {
	if v, given := q.params["pause_collection"]; given && v == "" {
		next.Paused = ""
	}
	if q.params.has("pause_collection.behavior") {
		next.Paused = q.oneOf("pause_collection.behavior", pauseVoid, pauseVoid)
	}
}

func (q *Request) updateItem(next *subscription, path string) {
	id := q.need(path + ".id")
	for i := range next.Items {
		item := &next.Items[i]
		if item.ID != id {
			continue
		}
		item.Quantity = q.integer(path+".quantity", item.Quantity)
		if priceID := q.str(path + ".price"); priceID != "" {
			q.priceFor(priceID, bracketed(path+".price"))
			item.Price = priceID
		}
		return
	}
	q.fail(unknownReference("subscription item", id, bracketed(path+".id")))
}

func cancelSubscription(q *Request) (Object, error) {
	s := q.ledger.Subscriptions.Get(q.id)
	if s == nil || s.Over() {
		return nil, noSubscription(q.id)
	}
	q.boolean("invoice_now", false)
	q.boolean("prorate", false)
	if q.err != nil {
		return nil, q.err
	}
	s.CancelComment = q.str("cancellation_details.comment")
	q.cancelNow(s, "cancellation_requested")
	return q.ledger.renderSubscription(s, Dahlia), nil
}

func listSubscriptions(q *Request) (Object, error) {
	status := q.oneOf("status", "", "all", "ended", subActive, subCanceled, SubIncomplete, subIncompleteExpired,
		subPastDue, "paused", SubTrialing, subUnpaid)
	customer, priceID := q.str("customer"), q.str("price")
	all := q.ledger.Subscriptions.Newest(func(s *subscription) bool {
		if customer != "" && s.Customer != customer {
			return false
		}
		if priceID != "" && !slices.ContainsFunc(s.Items, func(i subItem) bool { return i.Price == priceID }) {
			return false
		}
		switch status {
		case "all":
			return true
		case "":
			return !s.Over()
		case "ended":
			return s.Over()
		}
		return s.Status == status
	})
	return page(q, "/v1/subscriptions", all, func(s *subscription) string { return s.ID },
		func(s *subscription) int64 { return s.Created },
		func(s *subscription) Object { return q.ledger.renderSubscription(s, Dahlia) })
}
