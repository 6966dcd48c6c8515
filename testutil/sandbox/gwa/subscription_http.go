package gwa

func (g *Gateway) postSubscription(r request) (v subscriptionView, err *apiError) {
	var in subscriptionInput
	if err := r.decode(&in); err != nil {
		return v, err
	}
	sub, err := g.createSubscription(in, r.now)
	if err != nil {
		return v, err
	}
	return g.subscriptionView(sub), nil
}

// getSubscription answers removed ones too, with deleted true.
func (g *Gateway) getSubscription(r request) (v subscriptionView, err *apiError) {
	sub, ok := g.Subscriptions.Find(r.id())
	if !ok {
		return v, notFound()
	}
	return g.subscriptionView(sub), nil
}

func (g *Gateway) putSubscription(r request) (v subscriptionView, err *apiError) {
	var in subscriptionUpdate
	if err := r.decode(&in); err != nil {
		return v, err
	}
	sub, err := g.updateSubscription(r.id(), in, r.now)
	if err != nil {
		return v, err
	}
	return g.subscriptionView(sub), nil
}

func (g *Gateway) putSubscriptionCard(r request) (v subscriptionView, err *apiError) {
	var in cardFields
	if err := r.decode(&in); err != nil {
		return v, err
	}
	sub, err := g.changeCard(r.id(), in, r.now)
	if err != nil {
		return v, err
	}
	return g.subscriptionView(sub), nil
}

func (g *Gateway) deleteSubscriptionCall(r request) (deletedView, *apiError) {
	return deletedView{true, r.id()}, g.deleteSubscription(r.id(), r.now)
}

func (g *Gateway) listSubscriptions(r request) (listView[subscriptionView], *apiError) {
	q := r.URL.Query()
	all := g.Subscriptions.Newest(func(s *Subscription) bool {
		return included(q, s.Deleted) && match(q, "customer", s.Customer) && match(q, "billingType", s.BillingType) &&
			match(q, "status", s.Status) && match(q, "externalReference", s.ExternalReference) &&
			within(q, "dateCreated", s.Created)
	})
	return page(q, all, g.subscriptionView)
}

func (g *Gateway) listSubscriptionPayments(r request) (v listView[paymentView], err *apiError) {
	if _, ok := g.Subscriptions.Find(r.id()); !ok {
		return v, notFound()
	}
	q := r.URL.Query()
	all := g.Payments.Newest(func(p *Payment) bool {
		return p.Subscription == r.id() && included(q, p.Deleted) && match(q, "status", p.Status)
	})
	return page(q, all, g.paymentView)
}
