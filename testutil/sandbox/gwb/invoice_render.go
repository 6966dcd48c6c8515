package gwb

// renderInvoice shows an invoice; the old shape names subscription, intent and charge directly.
func (g *Gateway) renderInvoice(inv *invoice, shape Shape) object {
	lines := make([]any, 0, len(inv.Lines))
	for _, l := range inv.Lines {
		lines = append(lines, g.renderLine(inv, l, shape))
	}
	o := object{
		"id": inv.ID, "object": "invoice", "account_country": "BR", "account_name": g.opts.MerchantName,
		"account_tax_ids": nil,
		"amount_due":      inv.AmountDue, "amount_paid": inv.AmountPaid,
		"amount_remaining": inv.AmountDue - inv.AmountPaid,
		"amount_shipping":  0, "application": nil, "attempt_count": inv.AttemptCount,
		"attempted":                  inv.AttemptCount > 0 || inv.Status == invoicePaid,
		"auto_advance":               inv.NextAttempt != 0,
		"automatic_tax":              object{"enabled": false, "liability": nil, "status": nil},
		"automatically_finalizes_at": nil, "billing_reason": inv.BillingReason,
		"collection_method": "charge_automatically",
		"created":           inv.Created, "currency": inv.Currency, "custom_fields": nil, "customer": inv.Customer,
		"customer_address": nil,
		"customer_email":   orNull(inv.CustomerEmail), "customer_name": orNull(inv.CustomerName),
		"customer_phone":    orNull(inv.CustomerPhone),
		"customer_shipping": nil, "customer_tax_exempt": "none", "customer_tax_ids": []any{},
		"default_payment_method": nil,
		"default_source":         nil, "default_tax_rates": []any{}, "description": nil, "discounts": inv.discounts(),
		"due_date":     nil,
		"effective_at": inv.Created, "ending_balance": 0, "footer": nil, "from_invoice": nil,
		"hosted_invoice_url": g.baseURL + "/invoices/" + inv.ID,
		"invoice_pdf":        g.baseURL + "/invoices/" + inv.ID + ".pdf",
		"issuer":             object{"type": "self"}, "last_finalization_error": nil, "latest_revision": nil,
		"lines":    wholeList("/v1/invoices/"+inv.ID+"/lines", lines),
		"livemode": false, "metadata": object{}, "next_payment_attempt": timeOrNull(inv.NextAttempt),
		"number":       inv.Number,
		"on_behalf_of": nil,
		"payment_settings": object{
			"default_mandate": nil, "payment_method_options": nil, "payment_method_types": inv.MethodTypes,
		},
		"period_end": inv.PeriodEnd, "period_start": inv.PeriodStart, "post_payment_credit_notes_amount": 0,
		"pre_payment_credit_notes_amount": 0, "receipt_number": nil, "rendering": nil, "shipping_cost": nil,
		"shipping_details": nil,
		"starting_balance": 0, "statement_descriptor": nil, "status": inv.Status,
		"status_transitions": object{
			"finalized_at": inv.Created, "marked_uncollectible_at": nil, "paid_at": timeOrNull(inv.PaidAt),
			"voided_at": timeOrNull(inv.VoidedAt),
		},
		"subtotal": inv.AmountDue + inv.AmountOff, "subtotal_excluding_tax": inv.AmountDue + inv.AmountOff,
		"test_clock": nil, "total": inv.AmountDue,
		"total_discount_amounts": inv.discountAmounts(inv.AmountOff), "total_excluding_tax": inv.AmountDue,
		"total_pretax_credit_amounts": []any{},
		"webhooks_delivered_at":       inv.Created,
	}
	if shape == PreBasil {
		g.addOldInvoiceKeys(o, inv)
		return o
	}
	o["amount_overpaid"] = 0
	o["automatic_tax"] = object{
		"disabled_reason": nil, "enabled": false, "liability": nil, "provider": nil, "status": nil,
	}
	o["customer_account"] = nil
	o["parent"] = object{
		"quote_details":        nil,
		"subscription_details": object{"metadata": metadataOf(inv.Metadata), "subscription": inv.Subscription},
		"type":                 "subscription_details",
	}
	o["total_taxes"] = []any{}
	return o
}

func (g *Gateway) addOldInvoiceKeys(o object, inv *invoice) {
	o["charge"] = nil
	if p := g.data.Intents.Get(inv.Intent); p != nil && p.Status == intentSucceeded {
		o["charge"] = p.LatestCharge
	}
	o["discount"], o["quote"], o["tax"], o["transfer_data"], o["total_tax_amounts"] = nil, nil, nil, nil, []any{}
	o["paid"], o["paid_out_of_band"] = inv.Status == invoicePaid, false
	o["payment_intent"], o["subscription"] = orNull(inv.Intent), inv.Subscription
	o["subscription_details"] = object{"metadata": metadataOf(inv.Metadata)}
}

func (g *Gateway) renderLine(inv *invoice, l invoiceLine, shape Shape) object {
	p := g.data.Prices.Get(l.Price)
	o := object{
		"id": l.ID, "object": "line_item", "amount": l.Amount, "currency": inv.Currency, "description": l.Text,
		"discount_amounts": inv.discountAmounts(l.Off), "discountable": true, "discounts": []any{}, "invoice": inv.ID,
		"livemode": false,
		"metadata": metadataOf(inv.Metadata), "period": object{"end": l.End, "start": l.Start},
		"pretax_credit_amounts": []any{},
		"quantity":              l.Quantity,
	}
	if shape == PreBasil {
		o["amount_excluding_tax"], o["unit_amount_excluding_tax"] = l.Amount, itoa(p.Amount)
		o["plan"], o["price"], o["type"] = nil, p.render(), "subscription"
		o["proration"], o["proration_details"] = false, object{"credited_items": nil}
		o["subscription"], o["subscription_item"] = inv.Subscription, l.Item
		o["tax_amounts"], o["tax_rates"] = []any{}, []any{}
		return o
	}
	o["parent"] = object{
		"invoice_item_details": nil,
		"subscription_item_details": object{
			"invoice_item": nil, "proration": false, "proration_details": object{"credited_items": nil},
			"subscription": inv.Subscription, "subscription_item": l.Item,
		},
		"type": "subscription_item_details",
	}
	o["pricing"] = object{
		"price_details": object{"price": p.ID, "product": p.Product}, "type": "price_details",
		"unit_amount_decimal": itoa(p.Amount),
	}
	o["subtotal"], o["taxes"] = l.Amount, []any{}
	return o
}
