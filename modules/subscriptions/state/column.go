package state

import "slices"

// Column is a column of subscriptions.subscriptions that a change may write, beside
// register_update_date, which each does.
type Column string

// Columns are some of them.
type Columns []Column

// What changes write, by what it is about.
var (
	status    = Columns{"status"}
	call      = Columns{"intent_open", "recovery_tries", "recovery_at"} // what of the first call is open
	price     = Columns{"plan_id", "price_cents"}
	priceID   = Columns{"gwb_price_id"}
	next      = Columns{"anchor_day", "next_billing_date"}
	expires   = Columns{"expires_at"}
	dates     = of(next, expires)
	failures  = Columns{"payment_failures"}
	refunds   = Columns{"total_refunded_cents"}
	disputed  = Columns{"has_chargeback"}
	event     = Columns{"last_event_at", "last_event_id"}
	periodEnd = Columns{"cancel_at_period_end"}
	look      = Columns{"period_end_look_at"}
	told      = Columns{"period_end_told_at", "period_end_tells"}

	payment       = Columns{"pix_payment_id"}
	code          = Columns{"pix_payload", "pix_image", "pix_expires_at"}
	authorization = of(Columns{"gwa_pix_auth_id", "gwa_customer_id", "pix_conciliation_id"}, code)
	recurrence    = Columns{"gwa_subscription_id", "gwb_subscription_id"}
	remote        = of(recurrence, Columns{"gwa_customer_id", "gwb_customer_id"}, priceID, next) // what a gateway says of a recurrence
	follows       = of(event, remote, expires, periodEnd, look)                                  // the same, by an event

	deleted   = Columns{"gateway_deleted_at", "gateway_end_open_since"} // the recurrence has ended, or is to
	confirmed = Columns{"gateway_ended_at"}                             // nothing runs there

	opens   = of(status, Columns{"started_at"})
	ends    = of(status, Columns{"ended_at", "gateway_end_open_since"}, call)
	reopens = of(opens, Columns{"ended_at"}, confirmed, deleted, periodEnd)
	paid    = of(call, payment, dates, failures, periodEnd, Columns{"last_payment_at", "last_paid_invoice_id"})
)

// AllColumns are the columns that changes write.
var AllColumns = func() Columns {
	all := of(call, price, refunds, disputed, told, authorization, follows, ends, reopens, paid)
	slices.Sort(all)
	return slices.Compact(all)
}()

func of(groups ...Columns) Columns { return slices.Concat(groups...) }

// WrittenBy are the columns that an action may write: none of what begins a subscription,
// which is an insert.
func WrittenBy(by Action) Columns { return byAction[by].writes }
