package state

// transition is one row of the table: what an action does to a subscription.
type transition struct {
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

// transitions is the one table of what moves a subscription, in the order of the
// specification's. Rows of the specification that say "any" mean any live state: terminal
// states hold (open-shapes, Terminal states hold). A state that is missing in an action's row
// is not moved by it.
var transitions = []transition{
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

	byAction = func() map[Action]transition {
		m := map[Action]transition{}
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
