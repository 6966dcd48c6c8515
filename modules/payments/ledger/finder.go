package ledger

import "marquee/platform/lookup"

const (
	amount  = "round(t.amount_cents / 100.0, 2)"
	ofOrder = "CASE WHEN t.purpose = 'order' THEN t.local_id END"
	// anyGateway has an index that begins with the gateway serve ids of all of them.
	anyGateway = "t.gateway IN ('gwa', 'gwb') AND "
)

// ofCharge finds payments by a charge of gateway B, which the ledger does not know: by what the gateway said of it.
const ofCharge = `(SELECT DISTINCT coalesce(l.payload #>> '{data,object,payment_intent}', l.payload #>> '{data,object,id}') AS ref
	FROM payments.webhook_logs l WHERE l.signature_valid AND payments.event_charge(l.payload) = $1) c
	JOIN payments.payments t ON t.payment_intent_id = c.ref OR (t.gateway = 'gwb' AND t.gateway_payment_id = c.ref)`

// Finders are what staff find money by: ids of ours and of the gateways.
func Finders() []lookup.Finder {
	return []lookup.Finder{
		{
			Kind: "payment", Route: "payment_list", From: "payments.payments t", Customer: "t.customer_id",
			Order: ofOrder,
			Title: "t.gateway_payment_id", Note: "concat_ws(' · ', " + amount + ", t.method, t.native_status)",
			By: []lookup.By{
				{Name: "_id", Rank: lookup.Exact, Values: lookup.IDs, Where: "t.id = $1"},
				{
					Name: "gateway_payment_id", Rank: lookup.Exact, Values: lookup.GatewayIDs,
					Where: anyGateway + "t.gateway_payment_id = $1",
				},
				{
					Name: "payment_intent_id", Rank: lookup.Exact, Values: lookup.GatewayIDs,
					Where: "t.payment_intent_id = $1",
				},
				{Name: "charge", Rank: lookup.Exact, Values: lookup.GatewayIDs, From: ofCharge, Where: "true"},
			},
		},
		{
			Kind: "refund", Route: "refund_list", From: "payments.refunds t", Customer: "t.customer_id", Order: ofOrder,
			Title: "coalesce(t.gateway_refund_id, t.payment_ref)", Note: "concat_ws(' · ', " + amount + ", t.status)",
			By: []lookup.By{
				{Name: "_id", Rank: lookup.Exact, Values: lookup.IDs, Where: "t.id = $1"},
				{
					Name: "gateway_refund_id", Rank: lookup.Exact, Values: lookup.GatewayIDs,
					Where: anyGateway + "t.gateway_refund_id = $1",
				},
				{
					Name: "payment_ref", Rank: lookup.Exact, Values: lookup.GatewayIDs,
					Where: anyGateway + "t.payment_ref = $1",
				},
			},
		},
		{
			Kind: "dispute", Route: "dispute_list", From: "payments.disputes t", Customer: "t.customer_id",
			Order: ofOrder,
			Title: "t.gateway_dispute_id", Note: "concat_ws(' · ', " + amount + ", t.state)",
			By: []lookup.By{
				{Name: "_id", Rank: lookup.Exact, Values: lookup.IDs, Where: "t.id = $1"},
				{
					Name: "gateway_dispute_id", Rank: lookup.Exact, Values: lookup.GatewayIDs,
					Where: anyGateway + "t.gateway_dispute_id = $1",
				},
				{
					Name: "payment_ref", Rank: lookup.Exact, Values: lookup.GatewayIDs,
					Where: anyGateway + "t.payment_ref = $1",
				},
			},
		},
		{
			Kind: "unapplied_payment", Route: "unapplied_payment_list", From: "payments.unapplied_payments t",
			Title: "t.subject", Note: "concat_ws(' · ', " + amount + ", t.kind, t.state)", Customer: "t.customer_id",
			Order: "t.order_id",
			By: []lookup.By{
				{Name: "_id", Rank: lookup.Exact, Values: lookup.IDs, Where: "t.id = $1"},
				{
					Name: "gateway_payment_id", Rank: lookup.Exact, Values: lookup.GatewayIDs,
					Where: anyGateway + "t.subject = $1",
				},
			},
		},
	}
}
