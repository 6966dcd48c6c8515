package gwa

import "marquee/testutil/sandbox/gwa/account"

func postSubscription(r request) (v account.SubscriptionView, err *account.APIError) {
	var in account.SubscriptionInput
	if err := r.decode(&in); err != nil {
		return v, err
	}
	sub, err := r.g.subscriptions.Create(in, r.now)
	if err != nil {
		return v, err
	}
	return r.g.ledger.SubscriptionView(sub), nil
}

// getSubscription answers removed ones too, with deleted true.
func getSubscription(r request) (v account.SubscriptionView, err *account.APIError) {
	sub, ok := r.g.ledger.Subscriptions.Find(r.id())
	if !ok {
		return v, account.NotFound()
	}
	return r.g.ledger.SubscriptionView(sub), nil
}

func putSubscription(r request) (v account.SubscriptionView, err *account.APIError) {
	var in account.SubscriptionUpdate
	if err := r.decode(&in); err != nil {
		return v, err
	}
	sub, err := r.g.subscriptions.Update(r.id(), in, r.now)
	if err != nil {
		return v, err
	}
	return r.g.ledger.SubscriptionView(sub), nil
}

func putSubscriptionCard(r request) (v account.SubscriptionView, err *account.APIError) {
	var in account.CardFields
	if err := r.decode(&in); err != nil {
		return v, err
	}
	sub, err := r.g.subscriptions.ChangeCard(r.id(), in, r.now)
	if err != nil {
		return v, err
	}
	return r.g.ledger.SubscriptionView(sub), nil
}

func deleteSubscriptionCall(r request) (deletedView, *account.APIError) {
	return deletedView{true, r.id()}, r.g.subscriptions.Delete(r.id(), r.now)
}

func listSubscriptions(r request) (listView[account.SubscriptionView], *account.APIError) {
	q := r.URL.Query()
	all := r.g.ledger.Subscriptions.Newest(func(s *account.Subscription) bool {
		return included(q, s.Deleted) && match(q, "customer", s.Customer) && match(q, "billingType", s.BillingType) &&
			match(q, "status", s.Status) && match(q, "externalReference", s.ExternalReference) &&
			within(q, "dateCreated", s.Created)
	})
	return page(q, all, r.g.ledger.SubscriptionView)
}

func listSubscriptionPayments(r request) (v listView[account.PaymentView], err *account.APIError) {
	if _, ok := r.g.ledger.Subscriptions.Find(r.id()); !ok {
		return v, account.NotFound()
	}
	q := r.URL.Query()
	all := r.g.ledger.Payments.Newest(func(p *account.Payment) bool {
		return p.Subscription == r.id() && included(q, p.Deleted) && match(q, "status", p.Status)
	})
	return page(q, all, r.g.ledger.PaymentView)
}
