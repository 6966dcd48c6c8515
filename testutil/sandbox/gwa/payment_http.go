package gwa

import "marquee/testutil/sandbox/gwa/account"

func postPayment(r request) (v account.PaymentView, err *account.APIError) {
	var in account.PaymentInput
	if err := r.decode(&in); err != nil {
		return v, err
	}
	return r.g.ledger.WritePayment(r.g.payments.Create(in, r.now))
}

func getPayment(r request) (account.PaymentView, *account.APIError) {
	return r.g.ledger.WritePayment(r.g.ledger.AnyPayment(r.id()))
}

type statusView struct {
	Status string `json:"status"`
}

func getPaymentStatus(r request) (v statusView, err *account.APIError) {
	p, err := r.g.ledger.AnyPayment(r.id())
	if err != nil {
		return v, err
	}
	return statusView{p.Status}, nil
}

func getPixQRCode(r request) (*account.QRView, *account.APIError) { return r.g.payments.QRCode(r.id()) }

func deletePaymentCall(r request) (deletedView, *account.APIError) {
	return deletedView{true, r.id()}, r.g.payments.Delete(r.id(), r.now)
}

func listPayments(r request) (listView[account.PaymentView], *account.APIError) {
	q := r.URL.Query()
	all := r.g.ledger.Payments.Newest(func(p *account.Payment) bool {
		return included(q, p.Deleted) && match(q, "customer", p.Customer) && match(q, "subscription", p.Subscription) &&
			match(q, "status", p.Status) && match(q, "externalReference", p.ExternalReference) &&
			match(q, "billingType", p.BillingType) && within(q, "dateCreated", p.Created) &&
			within(q, "dueDate", p.Due) && within(q, "paymentDate", p.PaymentDate)
	})
	return page(q, all, r.g.ledger.PaymentView)
}

func postRefund(r request) (v account.PaymentView, err *account.APIError) {
	var in account.RefundInput
	if err := r.decode(&in); err != nil {
		return v, err
	}
	return r.g.ledger.WritePayment(r.g.payments.Refund(r.id(), in, r.now))
}

// listRefunds lists oldest first, as the payment does.
func listRefunds(r request) (v listView[account.Refund], err *account.APIError) {
	p, err := r.g.ledger.AnyPayment(r.id())
	if err != nil {
		return v, err
	}
	return page(r.URL.Query(), p.Refunds, func(refund account.Refund) account.Refund { return refund })
}

func postSandboxConfirm(r request) (account.PaymentView, *account.APIError) {
	return r.g.ledger.WritePayment(r.g.payments.Pay(r.id(), r.now))
}

func postSandboxOverdue(r request) (account.PaymentView, *account.APIError) {
	return r.g.ledger.WritePayment(r.g.payments.ForceOverdue(r.id(), r.now))
}

// postSandboxApprove is the vendor's helper that approves the account, for cards too.
func postSandboxApprove(r request) (statusView, *account.APIError) {
	r.g.ledger.Settings.CardsApproved = true
	return statusView{"APPROVED"}, nil
}
