package state

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

// Statuses are all states of a row.
var Statuses = []Status{Pending, Active, Suspended, Cancelled, Expired}

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
	Subscribe              Action = "subscribe"               // any subscribe route: the intent's row
	Renew                  Action = "renew"                   // the new row of a renewal
	PaymentSettles         Action = "payment_settles"         // approved at once, PAYMENT_CONFIRMED, PAYMENT_RECEIVED, invoice.paid, payment_intent.succeeded
	RenewalTaken           Action = "renewal_taken"           // the gateway took the card of a renewal whose first charge lies ahead
	TrialStarts            Action = "trial_starts"            // the gateway took the card, the first charge lies ahead
	PaymentDeclined        Action = "payment_declined"        // of the first payment, told by the synchronous answer
	NothingAtGateway       Action = "nothing_at_gateway"      // the gateway certainly made nothing of the intent
	LiveReadDead           Action = "live_read_dead"          // GET status: incomplete without a way on, incomplete_expired, canceled
	Replaced               Action = "replaced"                // pending PIX over 24 h, pending gateway B card, old row of a renewal
	PixRunsOut             Action = "pix_runs_out"            // nobody paid the code in its time, payment_intent.payment_failed
	GatewaySaysActive      Action = "gateway_active"          // updated, created: active, trialing
	GatewaySaysOpenHeld    Action = "gateway_open_held"       // updated, created: active, trialing, incomplete, while a dispute or an admin keeps it suspended
	GatewaySaysSuspended   Action = "gateway_suspended"       // updated, created: past_due, unpaid, paused
	GatewaySaysIncomplete  Action = "gateway_incomplete"      // updated, created: incomplete
	GatewaySaysCancelled   Action = "gateway_cancelled"       // updated, created: canceled; deleted; gateway A deleted or inactivated without time left
	GatewaySaysExpired     Action = "gateway_expired"         // updated, created: incomplete_expired
	GoneAtGateway          Action = "gone_at_gateway"         // known there once, missing at two looks an hour apart
	GatewayDeletedPaid     Action = "gateway_deleted_paid"    // gateway A deleted or inactivated, expires_at ahead
	PaymentFails           Action = "payment_fails"           // a renewal's attempt, below the limit
	PaymentFailsTooOften   Action = "payment_fails_too_often" // the attempt that reaches the limit
	DisputeOpens           Action = "dispute_opens"           // charge.dispute.created, PAYMENT_CHARGEBACK_REQUESTED
	DisputeWon             Action = "dispute_won"
	ChargebackWithdrawn    Action = "chargeback_withdrawn"    // an admin entered it by mistake
	UnpaidWithdrawn        Action = "unpaid_withdrawn"        // the same, of a subscription that had not begun
	DisputeLost            Action = "dispute_lost"            // charge.dispute.closed (lost), PAYMENT_REFUNDED while it is open, a PIX that the payer's bank took back
	AuthorizationActivated Action = "authorization_activated" // automatic PIX
	AuthorizationCancelled Action = "authorization_cancelled" // automatic PIX cancelled or refused
	AuthorizationExpired   Action = "authorization_expired"   // automatic PIX
	LateMoney              Action = "late_money"              // a payment for a subscription that had ended
	PeriodEnds             Action = "period_ends"             // expires_at reached
	CustomerCancels        Action = "customer_cancels"
	CustomerWithdraws      Action = "customer_withdraws" // within the days of regret, with all money back; what has ended stays so
	AdminCancels           Action = "admin_cancels"
	AdminActivates         Action = "admin_activates"
	AdminSuspends          Action = "admin_suspends" // PUT status, POST …/chargeback opens a dispute instead
	AdminExpires           Action = "admin_expires"
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
	ReasonNothingMade     Reason = "nothing_at_gateway"
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

// transition is one row of the table: what an action does to a subscription.
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
	{by: PaymentDeclined, reason: ReasonPaymentDeclined, moves: from(Pending)(Cancelled), writes: of(ends, follows)},
	{by: NothingAtGateway, reason: ReasonNothingMade, moves: from(Pending, Suspended)(Cancelled), writes: ends},
	{by: LiveReadDead, reason: ReasonAbandoned, moves: from(Pending)(Cancelled), writes: ends},
	{by: Replaced, reason: ReasonReplaced, moves: anyLive(Cancelled), writes: ends},
	{by: PixRunsOut, reason: ReasonPixUnpaid, moves: from(Pending)(Cancelled), writes: of(ends, payment)},

	{by: GatewaySaysActive, reason: ReasonGatewayStatus, moves: anyLive(Active), writes: of(opens, call, failures, follows)},
	{by: GatewaySaysOpenHeld, moves: moves{}.stays(Suspended), writes: follows},
	{by: GatewaySaysSuspended, reason: ReasonPaymentFailure, moves: anyLive(Suspended), writes: of(status, call, failures, follows)},
	{by: GatewaySaysIncomplete, reason: ReasonGatewayStatus, moves: anyLive(Pending), writes: of(status, follows)},
	{by: GatewaySaysCancelled, because: gatewayCancelled, moves: anyLive(Cancelled), writes: of(ends, confirmed, follows)},
	{by: GatewaySaysExpired, reason: ReasonExpired, moves: anyLive(Expired), writes: of(ends, follows)},
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
