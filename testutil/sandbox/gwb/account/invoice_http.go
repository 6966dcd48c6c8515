package account

var invoiceRoutes = []route{
	{"GET /v1/invoices", "customer subscription status collection_method" + pageParams, listInvoices},
	{"GET /v1/invoices/{id}", "", func(q *Request) (Object, error) {
		inv, err := q.invoice()
		if err != nil {
			return nil, err
		}
		return q.ledger.renderInvoice(inv, Dahlia), nil
	}},
	{"POST /v1/invoices/{id}/pay", "payment_method off_session paid_out_of_band", payInvoiceNow},
	{"POST /v1/invoices/{id}/void", "", voidInvoice},
	{
		"GET /v1/invoice_payments", "invoice status payment.type payment.payment_intent" + pageParams,
		listInvoicePayments,
	},
	{"GET /v1/invoice_payments/{id}", "", retrieveInvoicePayment},
}

func (q *Request) invoice() (*invoice, error) {
	if inv := q.ledger.Invoices.Get(q.id); inv != nil {
		return inv, nil
	}
	return nil, missing("invoice", q.id, "invoice")
}

func listInvoices(q *Request) (Object, error) {
	customer, sub, status := q.str("customer"), q.str("subscription"), q.str("status")
	all := q.ledger.Invoices.Newest(func(i *invoice) bool {
		return (customer == "" || i.Customer == customer) && (sub == "" || i.Subscription == sub) &&
			(status == "" || i.Status == status)
	})
	return page(q, "/v1/invoices", all, func(i *invoice) string { return i.ID },
		func(i *invoice) int64 { return i.Created },
		func(i *invoice) Object { return q.ledger.renderInvoice(i, Dahlia) })
}

// payInvoiceNow collects an open invoice outside of dunning, with the given payment method or the subscription's.
func payInvoiceNow(q *Request) (Object, error) {
	inv, err := q.invoice()
	if err != nil {
		return nil, err
	}
	outOfBand, off := q.boolean("paid_out_of_band", false), q.boolean("off_session", true)
	if q.err != nil {
		return nil, q.err
	}
	switch inv.Status {
	case invoicePaid:
		return nil, unexpectedState("invoice_already_paid", "Invoice is already paid")
	case invoiceVoid:
		return nil, unexpectedState("invoice_not_editable", "Voided invoices can't be paid.")
	}
	if outOfBand {
		q.settle(inv)
		return q.ledger.renderInvoice(inv, Dahlia), nil
	}
	m, err := q.methodForInvoice(inv)
	if err != nil {
		return nil, err
	}
	if e := q.payInvoice(inv, m, sessionOf(off)); e != nil {
		e.Executed = true
		return nil, e
	}
	if p := q.ledger.Intents.Get(inv.Intent); p.Status == IntentRequiresAction {
		e := declineOf("authentication_required")
		e.Code, e.Decline, e.Intent = "invoice_payment_intent_requires_action", "", q.ledger.renderIntent(p, Dahlia)
		e.Message = "Payment for this invoice requires additional user action before it can be completed successfully."
		return nil, e
	}
	return q.ledger.renderInvoice(inv, Dahlia), nil
}

func (q *Request) methodForInvoice(inv *invoice) (*paymentMethod, error) {
	if id := q.str("payment_method"); id != "" {
		m, err := q.method(id)
		if err == nil && m.Customer != inv.Customer {
			err = invalid("payment_method", "", "The customer does not have a payment method with the ID %s.", m.ID)
		}
		return m, err
	}
	s := q.ledger.Subscriptions.Get(inv.Subscription)
	if m := q.ledger.methodFor(s); m != nil {
		return m, nil
	}
	return nil, invalid("", "resource_missing",
		"There is no default payment method set on this subscription or customer.")
}

func voidInvoice(q *Request) (Object, error) {
	inv, err := q.invoice()
	if err != nil {
		return nil, err
	}
	if inv.Status != InvoiceOpen {
		return nil, unexpectedState("invoice_not_editable",
			"You can only pass in open invoices. This invoice isn't open.")
	}
	q.void(inv)
	return q.ledger.renderInvoice(inv, Dahlia), nil
}

func listInvoicePayments(q *Request) (Object, error) {
	inv, status, intent := q.str("invoice"), q.str("status"), q.str("payment.payment_intent")
	all := q.ledger.Invoices.Newest(func(i *invoice) bool {
		return i.Intent != "" && (inv == "" || i.ID == inv) && (intent == "" || i.Intent == intent) &&
			(status == "" || q.ledger.renderInvoicePayment(i)["status"] == status)
	})
	return page(q, "/v1/invoice_payments", all, func(i *invoice) string { return i.PaymentID },
		func(i *invoice) int64 { return i.Created }, q.ledger.renderInvoicePayment)
}

func retrieveInvoicePayment(q *Request) (Object, error) {
	found := q.ledger.Invoices.Newest(func(i *invoice) bool { return i.PaymentID == q.id && i.Intent != "" })
	if len(found) == 0 {
		return nil, missing("invoice payment", q.id, "invoice_payment")
	}
	return q.ledger.renderInvoicePayment(found[0]), nil
}
