package gwa

func (g *Gateway) postPayment(r request) (v paymentView, err *apiError) {
	var in paymentInput
	if err := r.decode(&in); err != nil {
		return v, err
	}
	return g.writePayment(g.createPayment(in, r.now))
}

// writePayment prints a payment unless there was an error.
func (g *Gateway) writePayment(p *Payment, err *apiError) (v paymentView, _ *apiError) {
	if err != nil {
		return v, err
	}
	return g.paymentView(p), nil
}

// anyPayment finds a payment, removed ones too: they are answered with deleted true.
func (s *state) anyPayment(id string) (*Payment, *apiError) {
	p, ok := s.Payments.Find(id)
	if !ok {
		return nil, notFound()
	}
	return p, nil
}

func (g *Gateway) getPayment(r request) (paymentView, *apiError) {
	return g.writePayment(g.anyPayment(r.id()))
}

type statusView struct {
	Status string `json:"status"`
}

func (g *Gateway) getPaymentStatus(r request) (v statusView, err *apiError) {
	p, err := g.anyPayment(r.id())
	if err != nil {
		return v, err
	}
	return statusView{p.Status}, nil
}

func (g *Gateway) getPixQRCode(r request) (*qrView, *apiError) { return g.pixQRCode(r.id()) }

func (g *Gateway) deletePaymentCall(r request) (deletedView, *apiError) {
	return deletedView{true, r.id()}, g.deletePayment(r.id(), r.now)
}

func (g *Gateway) listPayments(r request) (listView[paymentView], *apiError) {
	q := r.URL.Query()
	all := g.Payments.Newest(func(p *Payment) bool {
		return included(q, p.Deleted) && match(q, "customer", p.Customer) && match(q, "subscription", p.Subscription) &&
			match(q, "status", p.Status) && match(q, "externalReference", p.ExternalReference) &&
			match(q, "billingType", p.BillingType) && within(q, "dateCreated", p.Created) &&
			within(q, "dueDate", p.Due) && within(q, "paymentDate", p.PaymentDate)
	})
	return page(q, all, g.paymentView)
}

func (g *Gateway) postRefund(r request) (v paymentView, err *apiError) {
	var in refundInput
	if err := r.decode(&in); err != nil {
		return v, err
	}
	return g.writePayment(g.refund(r.id(), in, r.now))
}

// listRefunds lists oldest first, as the payment does.
func (g *Gateway) listRefunds(r request) (v listView[Refund], err *apiError) {
	p, err := g.anyPayment(r.id())
	if err != nil {
		return v, err
	}
	return page(r.URL.Query(), p.Refunds, func(refund Refund) Refund { return refund })
}

func (g *Gateway) postSandboxConfirm(r request) (paymentView, *apiError) {
	return g.writePayment(g.pay(r.id(), r.now))
}

func (g *Gateway) postSandboxOverdue(r request) (paymentView, *apiError) {
	return g.writePayment(g.forceOverdue(r.id(), r.now))
}

// postSandboxApprove is the vendor's helper that approves the account, for cards too.
func (g *Gateway) postSandboxApprove(request) (statusView, *apiError) {
	g.Settings.CardsApproved = true
	return statusView{"APPROVED"}, nil
}
