package state

import (
	"maps"
	"slices"
)

// Status is a subscription's state (docs/contract/states.md, Subscriptions).
type Status string

// The states. None stands before the row is there.
const (
	None      Status = ""
	Pending   Status = "pending"
	Active    Status = "active"
	Suspended Status = "suspended"
	Cancelled Status = "cancelled"
	Expired   Status = "expired"
)

// Statuses are all states of a subscription.
var Statuses = []Status{Pending, Active, Suspended, Cancelled, Expired}

// StatusOf is the state of that name, None when there is none.
func StatusOf(name string) Status {
	if s := Status(name); slices.Contains(Statuses, s) {
		return s
	}
	return None
}

// Ended reports whether the subscription is over; such a state is left only by
// money that arrives late or by an admin.
func (s Status) Ended() bool { return s == Cancelled || s == Expired }

// Source says what brought a move about, in the history.
type Source string

// The sources.
const (
	BySubscribe Source = "subscribe"
	ByWebhook   Source = "webhook"
	ByRecovery  Source = "recovery"
	ByLiveRead  Source = "live_read"
	ByJob       Source = "job"
	ByCustomer  Source = "customer"
	ByAdmin     Source = "admin"
	ByReconcile Source = "reconciliation"
)

// SettlesOutcome reports whether the gateway is behind a move. Where a person or the
// clock ends a subscription whose call has not been answered, somebody still has
// to find out what is to be ended at the gateway.
func (s Source) SettlesOutcome() bool {
	return s != ByAdmin && s != ByCustomer && s != ByJob
}

// Action is what may move a subscription: a trigger of the contract's table (docs/contract/states.md, Subscriptions),
// with its condition where that decides the target.
type Action string

// The actions, in the order of the contract's table.
const (
	Subscribe                Action = "subscribe"               // any subscribe route: the intent's row
	Renew                    Action = "renew"                   // the new row of a renewal
	PaymentSettles           Action = "payment_settles"         // approved at once, PAYMENT_CONFIRMED, PAYMENT_RECEIVED, invoice.paid, payment_intent.succeeded
	RenewalTaken             Action = "renewal_taken"           // the gateway took the card of a renewal whose first charge lies ahead
	TrialStarts              Action = "trial_starts"            // the gateway took the card, the first charge lies ahead
	PaymentDeclined          Action = "payment_declined"        // of the first payment, told by the synchronous answer
	AbsentAtGateway          Action = "nothing_at_gateway"      // the gateway certainly made nothing of the intent
	LiveReadEnded            Action = "live_read_dead"          // GET status: incomplete without a way on, incomplete_expired, canceled
	Replaced                 Action = "replaced"                // pending PIX over 24 h, pending gateway B card, old row of a renewal
	PixRunsOut               Action = "pix_runs_out"            // nobody paid the code in its time, payment_intent.payment_failed
	GatewaySaysActive        Action = "gateway_active"          // updated, created: active, trialing
	GatewaySaysOpenSuspended Action = "gateway_open_held"       // updated, created: active, trialing, incomplete, while a dispute or an admin keeps it suspended
	GatewaySaysSuspended     Action = "gateway_suspended"       // updated, created: past_due, unpaid, paused
	GatewaySaysIncomplete    Action = "gateway_incomplete"      // updated, created: incomplete
	GatewaySaysCancelled     Action = "gateway_cancelled"       // updated, created: canceled; deleted; gateway A deleted or inactivated without time left
	GatewaySaysExpired       Action = "gateway_expired"         // updated, created: incomplete_expired
	GoneAtGateway            Action = "gone_at_gateway"         // known there once, missing at two checks an hour apart
	GatewayDeletedPaid       Action = "gateway_deleted_paid"    // gateway A deleted or inactivated, expires_at ahead
	PaymentFails             Action = "payment_fails"           // a renewal's attempt, below the limit
	PaymentFailsTooOften     Action = "payment_fails_too_often" // the attempt that reaches the limit
	DisputeOpens             Action = "dispute_opens"           // charge.dispute.created, PAYMENT_CHARGEBACK_REQUESTED
	DisputeWon               Action = "dispute_won"
	ChargebackWithdrawn      Action = "chargeback_withdrawn"    // an admin entered it by mistake
	UnpaidWithdrawn          Action = "unpaid_withdrawn"        // the same, of a subscription that had not begun
	DisputeLost              Action = "dispute_lost"            // charge.dispute.closed (lost), PAYMENT_REFUNDED while it is open, a PIX that the payer's bank took back
	AuthorizationActivated   Action = "authorization_activated" // automatic PIX
	AuthorizationCancelled   Action = "authorization_cancelled" // automatic PIX cancelled or refused
	AuthorizationExpired     Action = "authorization_expired"   // automatic PIX
	LateMoney                Action = "late_money"              // a payment for a subscription that had ended
	PeriodEnds               Action = "period_ends"             // expires_at reached
	CustomerCancels          Action = "customer_cancels"
	CustomerWithdraws        Action = "customer_withdraws" // within the days of regret, with all money back; what has ended stays so
	AdminCancels             Action = "admin_cancels"
	AdminActivates           Action = "admin_activates"
	AdminSuspends            Action = "admin_suspends" // PUT status, POST …/chargeback opens a dispute instead
	AdminExpires             Action = "admin_expires"
)

// Reason says in the history why a subscription moved. Moves that end access
// carry one of the first five, from which churn is told apart
// (docs/contract/figures.md, Reasons of an exit).
type Reason string

// The reasons.
const (
	ReasonPaymentFailure    Reason = "payment_failure"
	ReasonCustomerCancelled Reason = "customer_cancelled"
	ReasonAdminCancelled    Reason = "admin_cancelled"
	ReasonChargeback        Reason = "chargeback"
	ReasonExpired           Reason = "expired"

	ReasonSubscribed      Reason = "subscribed"
	ReasonRenewed         Reason = "renewed"
	ReasonPaymentSettled  Reason = "payment_settled"
	ReasonRenewalTaken    Reason = "renewal_taken"
	ReasonTrialStarted    Reason = "trial_started"
	ReasonPaymentDeclined Reason = "payment_declined"
	ReasonAbsentAtGateway Reason = "nothing_at_gateway"
	ReasonAbandoned       Reason = "abandoned"
	ReasonReplaced        Reason = "replaced"
	ReasonPixUnpaid       Reason = "pix_unpaid"
	ReasonGatewayStatus   Reason = "gateway_status"
	ReasonWithdrawn       Reason = "withdrawn" // counts under customer_cancelled in by_reason
	ReasonDisputeWon      Reason = "dispute_won"
	// ReasonChargebackWithdrawn undoes the move before it: neither counts in the figures.
	ReasonChargebackWithdrawn Reason = "chargeback_withdrawn"

	ReasonAuthorized     Reason = "authorization_activated"
	ReasonLateMoney      Reason = "late_money"
	ReasonAdminActivated Reason = "admin_activated"
	ReasonGoneAtGateway  Reason = "gone_at_gateway" // counts as admin_cancelled: somebody did it at the gateway's own console
)

// Known is what of a row decides on a reason, before the move.
type Known struct {
	Status            Status
	CancelAtPeriodEnd bool
	HasChargeback     bool
	PaymentFailures   int32
}

func periodEnded(k Known) Reason {
	if k.CancelAtPeriodEnd {
		return ReasonCustomerCancelled
	}
	return ReasonExpired
}

func authorizationCancelled(k Known) Reason {
	if k.Status == Pending {
		return ReasonPixUnpaid
	}
	return ReasonCustomerCancelled
}

// gatewayCancelled is what led to it; without a trace here, somebody did it at the gateway's
// own console.
func gatewayCancelled(k Known) Reason {
	switch {
	case k.HasChargeback:
		return ReasonChargeback
	case k.CancelAtPeriodEnd:
		return ReasonCustomerCancelled
	case k.PaymentFailures > 0:
		return ReasonPaymentFailure
	case k.Status == Pending:
		return ReasonAbandoned
	}
	return ReasonAdminCancelled
}

// row is a row of the table: what an action does to a subscription.
type row struct {
	by      Action
	reason  Reason             // in the history; "" of one that moves nothing
	because func(Known) Reason // in place of reason, where the row decides
	moves   moves
	writes  Columns // which it may write
}

// moves are the targets of an action by the state that it finds.
type moves map[Status]Status

func from(states ...Status) func(to Status) moves {
	return func(to Status) moves {
		m := moves{}
		for _, s := range states {
			m[s] = to
		}
		return m
	}
}

// stays lists states that an action leaves as they are while it changes other
// fields, such as a counter.
func (m moves) stays(states ...Status) moves {
	for _, s := range states {
		m[s] = s
	}
	return m
}

var anyLive = from(Pending, Active, Suspended)

// transitions is the one table of what moves a subscription, in the order of the contract's (docs/contract/states.md,
// Subscriptions). Where that says "any", it means any live state: terminal states hold. A state that is missing in an
// action's row is not moved by it.
var transitions = []row{
	{by: Subscribe, reason: ReasonSubscribed, moves: from(None)(Pending)},
	{by: Renew, reason: ReasonRenewed, moves: from(None)(Pending)},
	{by: PaymentSettles, reason: ReasonPaymentSettled, moves: anyLive(Active), writes: of(opens, paid)},
	{by: RenewalTaken, reason: ReasonRenewalTaken, moves: from(Pending)(Active), writes: of(opens, call, next)},
	{by: TrialStarts, reason: ReasonTrialStarted, moves: from(Pending)(Active), writes: of(opens, call, next)},
	{by: PaymentDeclined, reason: ReasonPaymentDeclined, moves: from(Pending)(Cancelled), writes: of(ends, echoes)},
	{by: AbsentAtGateway, reason: ReasonAbsentAtGateway, moves: from(Pending, Suspended)(Cancelled), writes: ends},
	{by: LiveReadEnded, reason: ReasonAbandoned, moves: from(Pending)(Cancelled), writes: ends},
	{by: Replaced, reason: ReasonReplaced, moves: anyLive(Cancelled), writes: ends},
	{by: PixRunsOut, reason: ReasonPixUnpaid, moves: from(Pending)(Cancelled), writes: of(ends, payment)},

	{by: GatewaySaysActive, reason: ReasonGatewayStatus, moves: anyLive(Active), writes: of(opens, call, failures, echoes)},
	{by: GatewaySaysOpenSuspended, moves: moves{}.stays(Suspended), writes: echoes},
	{by: GatewaySaysSuspended, reason: ReasonPaymentFailure, moves: anyLive(Suspended), writes: of(status, call, failures, echoes)},
	{by: GatewaySaysIncomplete, reason: ReasonGatewayStatus, moves: anyLive(Pending), writes: of(status, echoes)},
	{by: GatewaySaysCancelled, because: gatewayCancelled, moves: anyLive(Cancelled), writes: of(ends, confirmed, echoes)},
	{by: GatewaySaysExpired, reason: ReasonExpired, moves: anyLive(Expired), writes: of(ends, echoes)},
	{by: GoneAtGateway, reason: ReasonGoneAtGateway, moves: anyLive(Cancelled), writes: ends},
	{by: GatewayDeletedPaid, moves: moves{}.stays(Pending, Active, Suspended), writes: deleted},

	{by: PaymentFails, reason: ReasonPaymentFailure, moves: moves{}.stays(Active, Suspended), writes: of(failures, next)},
	{by: PaymentFailsTooOften, reason: ReasonPaymentFailure, moves: from(Active)(Suspended).stays(Suspended), writes: of(status, failures, next)},
	{by: DisputeOpens, reason: ReasonChargeback, moves: from(Pending, Active)(Suspended).stays(Suspended, Cancelled, Expired), writes: of(status, disputed)},
	{by: DisputeWon, reason: ReasonDisputeWon, moves: from(Suspended)(Active).stays(Active, Cancelled, Expired), writes: of(opens, disputed)},
	{by: ChargebackWithdrawn, reason: ReasonChargebackWithdrawn, moves: from(Suspended)(Active).stays(Pending, Active, Cancelled, Expired), writes: of(opens, disputed)},
	{by: UnpaidWithdrawn, reason: ReasonChargebackWithdrawn, moves: from(Suspended)(Pending), writes: of(status, disputed)},
	{by: DisputeLost, reason: ReasonChargeback, moves: anyLive(Cancelled).stays(Cancelled, Expired), writes: of(ends, disputed)},

	{by: AuthorizationActivated, reason: ReasonAuthorized, moves: anyLive(Active), writes: of(opens, call, authorization, next, event)},
	{by: AuthorizationCancelled, because: authorizationCancelled, moves: anyLive(Cancelled), writes: of(ends, confirmed)},
	{by: AuthorizationExpired, reason: ReasonExpired, moves: anyLive(Expired), writes: of(ends, confirmed)},

	{by: LateMoney, reason: ReasonLateMoney, moves: from(Cancelled, Expired)(Active), writes: of(reopens, paid)},
	{by: PeriodEnds, because: periodEnded, moves: from(Active, Suspended)(Expired), writes: ends},
	{by: CustomerCancels, reason: ReasonCustomerCancelled, moves: anyLive(Cancelled), writes: ends},
	{by: CustomerWithdraws, reason: ReasonWithdrawn, moves: from(Active, Suspended)(Cancelled).stays(Cancelled, Expired), writes: ends},
	{by: AdminCancels, reason: ReasonAdminCancelled, moves: anyLive(Cancelled), writes: of(ends, price, dates)},
	{by: AdminActivates, reason: ReasonAdminActivated, moves: from(Pending, Suspended, Cancelled, Expired)(Active).stays(Active), writes: of(reopens, failures, disputed, price, dates)},
	{by: AdminSuspends, reason: ReasonAdminCancelled, moves: from(Pending, Active)(Suspended).stays(Suspended), writes: of(status, price, dates)},
	{by: AdminExpires, reason: ReasonAdminCancelled, moves: anyLive(Expired), writes: of(ends, price, dates)},
}

var (
	// Actions are all actions, in the order of the table.
	Actions = func() (all []Action) {
		for _, t := range transitions {
			all = append(all, t.by)
		}
		return all
	}()

	byAction = func() map[Action]row {
		m := map[Action]row{}
		for _, t := range transitions {
			m[t.by] = t
		}
		return m
	}()
)

// Next answers where an action takes a subscription. Ok is false when the state
// holds against the action.
func Next(from Status, by Action) (to Status, ok bool) {
	to, ok = byAction[by].moves[from]
	return to, ok
}

// ReasonFor names the reason of a move, in the history, by what was known before it.
func ReasonFor(by Action, before Known) Reason {
	t := byAction[by]
	if t.because != nil {
		return t.because(before)
	}
	return t.reason
}

// Columns are columns that a change may write, beside register_update_date, which each does.
type Columns []string

// What changes write, by what it is about.
var (
	status           = Columns{"status"}
	call             = Columns{"intent_open"} // whether the first call is open
	price            = Columns{"plan_id", "price_cents"}
	priceID          = Columns{"gwb_price_id"}
	next             = Columns{"anchor_day", "next_billing_date"}
	expires          = Columns{"expires_at"}
	dates            = of(next, expires)
	failures         = Columns{"payment_failures"}
	refunds          = Columns{"total_refunded_cents"}
	disputed         = Columns{"has_chargeback"}
	event            = Columns{"last_event_at", "last_event_id"}
	periodEnd        = Columns{"cancel_at_period_end"}
	periodEndDue     = Columns{"period_end_look_at"}
	periodEndOrdered = Columns{"period_end_told_at", "period_end_tells"}

	payment       = Columns{"pix_payment_id"}
	code          = Columns{"pix_payload", "pix_image", "pix_expires_at"}
	authorization = of(Columns{"gwa_pix_auth_id", "gwa_customer_id", "pix_conciliation_id"}, code)
	recurrence    = Columns{"gwa_subscription_id", "gwb_subscription_id"}
	remote        = of(recurrence, Columns{"gwa_customer_id", "gwb_customer_id"}, priceID, next) // what a gateway says of a recurrence
	echoes        = of(event, remote, expires, periodEnd, periodEndDue)                          // the same, by an event

	deleted   = Columns{"gateway_deleted_at", "gateway_end_open_since"} // the recurrence has ended, or is to
	confirmed = Columns{"gateway_ended_at"}                             // nothing runs there

	opens   = of(status, Columns{"started_at"})
	ends    = of(status, Columns{"ended_at", "gateway_end_open_since"}, call)
	reopens = of(opens, Columns{"ended_at"}, confirmed, deleted, periodEnd)
	paid    = of(call, payment, dates, failures, periodEnd, Columns{"last_payment_at", "last_paid_invoice_id"})
)

// AllColumns are the columns of a subscription that changes write.
var AllColumns = func() Columns {
	all := of(call, price, refunds, disputed, periodEndOrdered, authorization, echoes, ends, reopens, paid)
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
	CallRecorded       Edit = "learned"             // what the first call has made
	CheckScheduled     Edit = "look_asked"          // the gateway is to be read
	CallVoided         Edit = "made_nothing"        // the first call made nothing, and something else has moved the row
	PaidWhileDisputed  Edit = "paid_while_disputed" // a dispute keeps it closed
	PeriodEndRead      Edit = "period_end_read"     // whether it ends with its period was read at the gateway
	PeriodEndOrdered   Edit = "period_end_told"     // the gateway was told whether it does
	PlanMoved          Edit = "plan_moved"          // the gateway has the price
	RecurrenceAdopted  Edit = "recurrence_adopted"  // an event told its id first
	RecurrenceReported Edit = "recurrence_followed" // the gateway tells of it what moves nothing
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
	CallRecorded:       of(call, remote, authorization, payment),
	CheckScheduled:     periodEndDue,
	CallVoided:         of(call, dates),
	PaidWhileDisputed:  paid,
	PeriodEndRead:      of(periodEnd, expires, periodEndDue),
	PeriodEndOrdered:   of(periodEndOrdered, periodEndDue),
	PlanMoved:          of(price, priceID),
	RecurrenceAdopted:  recurrence,
	RecurrenceReported: echoes,
	RecurrenceRead:     remote,
	RefundsTotalled:    refunds,
}

// Edits are all edits.
var Edits = slices.Sorted(maps.Keys(edits))

// EditedBy are the columns that an edit may write.
func EditedBy(as Edit) Columns { return edits[as] }
