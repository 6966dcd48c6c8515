package lifecycle

import (
	"fmt"
	"reflect"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"marquee/modules/subscriptions/state"
	"marquee/platform/objectid"
)

// column is a column of a row that changes write.
type column struct {
	name state.Column
	of   func(r *Row) any
}

var columns = []column{
	{"status", func(r *Row) any { return r.Status }},
	{"started_at", func(r *Row) any { return r.StartedAt }},
	{"ended_at", func(r *Row) any { return r.EndedAt }},
	{"intent_open", func(r *Row) any { return r.IntentOpen }},
	{"recovery_tries", func(r *Row) any { return r.RecoveryTries }},
	{"recovery_at", func(r *Row) any { return r.RecoveryAt }},
	{"gwa_subscription_id", func(r *Row) any { return r.GwaSubscriptionID }},
	{"gwa_customer_id", func(r *Row) any { return r.GwaCustomerID }},
	{"gwa_pix_auth_id", func(r *Row) any { return r.GwaPixAuthID }},
	{"gwb_subscription_id", func(r *Row) any { return r.GwbSubscriptionID }},
	{"gwb_customer_id", func(r *Row) any { return r.GwbCustomerID }},
	{"plan_id", func(r *Row) any { return r.PlanID }},
	{"price_cents", func(r *Row) any { return r.PriceCents }},
	{"gwb_price_id", func(r *Row) any { return r.GwbPriceID }},
	{"pix_conciliation_id", func(r *Row) any { return r.PixConciliationID }},
	{"pix_payment_id", func(r *Row) any { return r.PixPaymentID }},
	{"pix_payload", func(r *Row) any { return r.PixPayload }},
	{"pix_image", func(r *Row) any { return r.PixImage }},
	{"pix_expires_at", func(r *Row) any { return r.PixExpiresAt }},
	{"anchor_day", func(r *Row) any { return r.AnchorDay }},
	{"next_billing_date", func(r *Row) any { return r.NextBillingDate }},
	{"expires_at", func(r *Row) any { return r.ExpiresAt }},
	{"last_payment_at", func(r *Row) any { return r.LastPaymentAt }},
	{"last_paid_invoice_id", func(r *Row) any { return r.LastPaidInvoiceID }},
	{"payment_failures", func(r *Row) any { return r.PaymentFailures }},
	{"total_refunded_cents", func(r *Row) any { return r.TotalRefundedCents }},
	{"has_chargeback", func(r *Row) any { return r.HasChargeback }},
	{"cancel_at_period_end", func(r *Row) any { return r.CancelAtPeriodEnd }},
	{"period_end_told_at", func(r *Row) any { return r.PeriodEndToldAt }},
	{"period_end_tells", func(r *Row) any { return r.PeriodEndTells }},
	{"period_end_look_at", func(r *Row) any { return r.PeriodEndLookAt }},
	{"gateway_deleted_at", func(r *Row) any { return r.GatewayDeletedAt }},
	{"gateway_ended_at", func(r *Row) any { return r.GatewayEndedAt }},
	{"gateway_end_open_since", func(r *Row) any { return r.GatewayEndOpenSince }},
	{"last_event_at", func(r *Row) any { return r.LastEventAt }},
	{"last_event_id", func(r *Row) any { return r.LastEventID }},
}

// changed are the columns in which two rows differ, in the order of the table.
func changed(before, after *Row) (differ []column) {
	for _, c := range columns {
		if !same(c.of(before), c.of(after)) {
			differ = append(differ, c)
		}
	}
	return differ
}

func same(a, b any) bool {
	if at, ok := a.(*time.Time); ok {
		other, _ := b.(*time.Time)
		return at == nil && other == nil || at != nil && other != nil && at.Equal(*other)
	}
	return reflect.DeepEqual(a, b)
}

// updateOf is the statement that writes what differs, and nothing else, if the state is still
// the one that was read. No row means that somebody else moved it. The columns are many sets:
// it is not prepared, which would be a round trip more for each of them.
func updateOf(id objectid.ID, from state.Status, after *Row, differ []column) (sql string, args []any) {
	args = []any{pgx.QueryExecModeExec, id, from, after.RegisterUpdateDate}
	var set strings.Builder
	for _, c := range differ {
		args = append(args, c.of(after))
		fmt.Fprintf(&set, ", %s = $%d", c.name, len(args)-1) // the first is the mode
	}
	return "UPDATE subscriptions.subscriptions SET register_update_date = $3" + set.String() + " WHERE id = $1 AND status = $2", args
}

// outside are the columns among those that differ which a change does not name.
func outside(differ []column, named state.Columns) (more state.Columns) {
	known := map[state.Column]bool{}
	for _, name := range named {
		known[name] = true
	}
	for _, c := range differ {
		if !known[c.name] {
			more = append(more, c.name)
		}
	}
	return more
}
