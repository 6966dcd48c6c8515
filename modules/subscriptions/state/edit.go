package state

import (
	"maps"
	"slices"
)

// Columns are columns that a change may write, beside register_update_date, which each does.
type Columns []string

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

	// Of a renewal charge, beside code.
	chargeState = Columns{"state"}
	lookAt      = Columns{"look_at"}
	codeOrder   = of(Columns{"intent_open"}, lookAt) // what of its order is open
	codePayment = Columns{"gateway_payment_id"}
)

// AllColumns are the columns of a subscription that changes write.
var AllColumns = func() Columns {
	all := of(call, price, refunds, disputed, told, authorization, follows, ends, reopens, paid)
	slices.Sort(all)
	return slices.Compact(all)
}()

func of(groups ...Columns) Columns { return slices.Concat(groups...) }

// WrittenBy are the columns that an action may write: none of what begins a subscription,
// which is an insert.
func WrittenBy(by Action) Columns { return byAction[by].writes }

// Edit is what changes a subscription and leaves its state alone.
type Edit string

// The edits.
const (
	Authorized         Edit = "authorized"          // automatic PIX, while a dispute keeps it closed
	ChargeMoved        Edit = "charge_moved"        // the gateway charges next when the extension ends, or never
	CollectionResumed  Edit = "collection_resumed"  // the gateway collects again
	Corrected          Edit = "corrected"           // an admin set what stands in our row
	CycleSkipped       Edit = "cycle_skipped"       // a debit was deleted
	DisputeLeft        Edit = "dispute_left"        // a dispute is over, and something else keeps it closed
	EndConfirmed       Edit = "end_confirmed"       // nothing of it runs at the gateway any more
	EndedThere         Edit = "ended_there"         // the gateway has ended the recurrence, and paid time is left
	EndLifted          Edit = "end_lifted"          // the recurrence goes on after an extension
	EndsWithPeriod     Edit = "ends_with_period"    // it is to end with its paid time
	Extended           Edit = "extended"            // an admin gave time
	ExtensionRefused   Edit = "extension_refused"   // the gateway does not charge later: the dates go back
	FirstMonthAlone    Edit = "first_month_alone"   // one period was charged, and no recurrence made
	GoesOn             Edit = "goes_on"             // it does not end with its paid time after all
	Learned            Edit = "learned"             // what the first call has made
	LookAsked          Edit = "look_asked"          // the gateway is to be read
	MadeNothing        Edit = "made_nothing"        // the first call made nothing, and something else has moved the row
	PaidWhileDisputed  Edit = "paid_while_disputed" // a dispute keeps it closed
	PeriodEndRead      Edit = "period_end_read"     // whether it ends with its period was read at the gateway
	PeriodEndTold      Edit = "period_end_told"     // the gateway was told whether it does
	PlanMoved          Edit = "plan_moved"          // the gateway has the price
	RecurrenceAdopted  Edit = "recurrence_adopted"  // an event told its id first
	RecurrenceFollowed Edit = "recurrence_followed" // the gateway tells of it what moves nothing
	RecurrenceRead     Edit = "recurrence_read"     // the gateway was read
	RefundsTotalled    Edit = "refunds_totalled"
)

// edits are what each edit may write.
var edits = map[Edit]Columns{
	Authorized:         of(call, authorization, next, event),
	ChargeMoved:        of(remote, deleted),
	CollectionResumed:  remote,
	Corrected:          of(price, dates),
	CycleSkipped:       next,
	DisputeLeft:        disputed,
	EndConfirmed:       confirmed,
	EndedThere:         deleted,
	EndLifted:          expires,
	EndsWithPeriod:     of(periodEnd, dates),
	Extended:           dates,
	ExtensionRefused:   dates,
	FirstMonthAlone:    dates,
	GoesOn:             of(periodEnd, expires),
	Learned:            of(call, remote, authorization, payment),
	LookAsked:          look,
	MadeNothing:        of(call, dates),
	PaidWhileDisputed:  paid,
	PeriodEndRead:      of(periodEnd, expires, look),
	PeriodEndTold:      of(told, look),
	PlanMoved:          of(price, priceID),
	RecurrenceAdopted:  recurrence,
	RecurrenceFollowed: follows,
	RecurrenceRead:     remote,
	RefundsTotalled:    refunds,
}

// Edits are all edits.
var Edits = slices.Sorted(maps.Keys(edits))

// EditedBy are the columns that an edit may write.
func EditedBy(as Edit) Columns { return edits[as] }

// ChargeEdit is what changes a renewal charge.
type ChargeEdit string

// The edits of a renewal charge.
const (
	CodeAdopted ChargeEdit = "code_adopted" // its order, which the release before made, has an intent
	CodeGone    ChargeEdit = "code_gone"    // it can no longer be paid
	CodeMade    ChargeEdit = "code_made"    // the gateway has made it
	CodePaid    ChargeEdit = "code_paid"
)

// chargeEdits are what each of them may write.
var chargeEdits = map[ChargeEdit]Columns{
	CodeAdopted: lookAt,
	CodeGone:    of(chargeState, codeOrder),
	CodeMade:    of(codeOrder, codePayment, code),
	CodePaid:    of(chargeState, codeOrder, codePayment, Columns{"moved_from", "moved_to"}),
}

// ChargeEdits are all edits of a renewal charge.
var ChargeEdits = slices.Sorted(maps.Keys(chargeEdits))

// ChargeEditedBy are the columns that an edit of a renewal charge may write.
func ChargeEditedBy(as ChargeEdit) Columns { return chargeEdits[as] }
