package state

// transition is one row of the table: what an action does to a subscription.
type transition struct {
	by      Action
	reason  Reason             // in the history; "" of one that moves nothing
	because func(Known) Reason // in place of reason, where the row decides
	moves   moves
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
	{by: PaymentSettles, reason: ReasonPaymentSettled, moves: anyLive(Active)},
	{by: RenewalTaken, reason: ReasonRenewalTaken, moves: from(Pending)(Active)},
	{by: TrialStarts, reason: ReasonTrialStarted, moves: from(Pending)(Active)},
	{by: PaymentDeclined, reason: ReasonPaymentDeclined, moves: from(Pending)(Cancelled)},
	{by: NothingAtGateway, reason: ReasonNothingMade, moves: from(Pending, Suspended)(Cancelled)},
	{by: LiveReadDead, reason: ReasonAbandoned, moves: from(Pending)(Cancelled)},
	{by: Replaced, reason: ReasonReplaced, moves: anyLive(Cancelled)},
	{by: PixRunsOut, reason: ReasonPixUnpaid, moves: from(Pending)(Cancelled)},

	{by: GatewaySaysActive, reason: ReasonGatewayStatus, moves: anyLive(Active)},
	{by: GatewaySaysOpenHeld, moves: moves{}.stays(Suspended)},
	{by: GatewaySaysSuspended, reason: ReasonPaymentFailure, moves: anyLive(Suspended)},
	{by: GatewaySaysIncomplete, reason: ReasonGatewayStatus, moves: anyLive(Pending)},
	{by: GatewaySaysCancelled, because: gatewayCancelled, moves: anyLive(Cancelled)},
	{by: GatewaySaysExpired, reason: ReasonExpired, moves: anyLive(Expired)},
	{by: GoneAtGateway, reason: ReasonGoneAtGateway, moves: anyLive(Cancelled)},
	{by: GatewayDeletedPaid, moves: moves{}.stays(Pending, Active, Suspended)},

	{by: PaymentFails, reason: ReasonPaymentFailure, moves: moves{}.stays(Active, Suspended)},
	{by: PaymentFailsTooOften, reason: ReasonPaymentFailure, moves: from(Active)(Suspended).stays(Suspended)},
	{by: DisputeOpens, reason: ReasonChargeback, moves: from(Pending, Active)(Suspended).stays(Suspended, Cancelled, Expired)},
	{by: DisputeWon, reason: ReasonDisputeWon, moves: from(Suspended)(Active).stays(Active, Cancelled, Expired)},
	{by: ChargebackWithdrawn, reason: ReasonChargebackWithdrawn, moves: from(Suspended)(Active).stays(Pending, Active, Cancelled, Expired)},
	{by: UnpaidWithdrawn, reason: ReasonChargebackWithdrawn, moves: from(Suspended)(Pending)},
	{by: DisputeLost, reason: ReasonChargeback, moves: anyLive(Cancelled).stays(Cancelled, Expired)},

	{by: AuthorizationActivated, reason: ReasonAuthorized, moves: anyLive(Active)},
	{by: AuthorizationCancelled, because: authorizationCancelled, moves: anyLive(Cancelled)},
	{by: AuthorizationExpired, reason: ReasonExpired, moves: anyLive(Expired)},

	{by: LateMoney, reason: ReasonLateMoney, moves: from(Cancelled, Expired)(Active)},
	{by: PeriodEnds, because: periodEnded, moves: from(Active, Suspended)(Expired)},
	{by: CustomerCancels, reason: ReasonCustomerCancelled, moves: anyLive(Cancelled)},
	{by: CustomerWithdraws, reason: ReasonWithdrawn, moves: from(Active, Suspended)(Cancelled).stays(Cancelled, Expired)},
	{by: AdminCancels, reason: ReasonAdminCancelled, moves: anyLive(Cancelled)},
	{by: AdminActivates, reason: ReasonAdminActivated, moves: from(Pending, Suspended, Cancelled, Expired)(Active).stays(Active)},
	{by: AdminSuspends, reason: ReasonAdminCancelled, moves: from(Pending, Active)(Suspended).stays(Suspended)},
	{by: AdminExpires, reason: ReasonAdminCancelled, moves: anyLive(Expired)},
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
