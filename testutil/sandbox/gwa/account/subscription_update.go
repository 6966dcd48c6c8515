package account

import "time"

// SubscriptionUpdate is the body of PUT /v3/subscriptions/{id}; absent fields stay as they are.
type SubscriptionUpdate struct {
	Value                 *Cents  `json:"value"`
	Cycle                 *string `json:"cycle"`
	NextDueDate           *string `json:"nextDueDate"`
	EndDate               *string `json:"endDate"`
	Description           *string `json:"description"`
	ExternalReference     *text   `json:"externalReference"`
	Status                *string `json:"status"`
	BillingType           *string `json:"billingType"`
	UpdatePendingPayments bool    `json:"updatePendingPayments"`
}

// Update changes future charges, and those already made only with updatePendingPayments. To resume an
// inactive subscription nextDueDate is needed (docs/gateway-facts.md, A4).
func (l Subscriptions) Update(id string, in SubscriptionUpdate, now time.Time) (*Subscription, *APIError) {
	sub, err := l.LiveSubscription(id)
	if err != nil {
		return nil, err
	}
	changed := *sub
	if err := in.apply(&changed, l.Settings, now); err != nil {
		return nil, err
	}
	event := "SUBSCRIPTION_UPDATED"
	if sub.Status != StatusInactive && changed.Status == StatusInactive {
		event = "SUBSCRIPTION_INACTIVATED"
	}
	*sub = changed
	l.planCharge(sub)
	l.emitSubscription(now, event, sub)
	if in.UpdatePendingPayments {
		l.updateCharges(sub, now)
	}
	return sub, nil
}

func (in SubscriptionUpdate) apply(sub *Subscription, settings Settings, now time.Time) *APIError {
	resumed := in.Status != nil && *in.Status == StatusActive && sub.Status != StatusActive
	if resumed && in.NextDueDate == nil {
		return BadRequest("invalid_nextDueDate", "Para reativar a assinatura o campo nextDueDate deve ser informado.")
	}
	if in.Status != nil {
		if *in.Status != StatusActive && *in.Status != StatusInactive {
			return BadRequest("invalid_status", "O status informado é inválido.")
		}
		sub.Status = *in.Status
	}
	if in.Cycle != nil {
		if !knownCycle(*in.Cycle) {
			return BadRequest("invalid_cycle", "O ciclo informado é inválido.")
		}
		sub.Cycle = *in.Cycle
	}
	if err := in.applyMoney(sub, settings); err != nil {
		return err
	}
	set(&sub.Description, in.Description)
	set(&sub.ExternalReference, in.ExternalReference)
	return in.applyDates(sub, now)
}

func (in SubscriptionUpdate) applyMoney(sub *Subscription, settings Settings) *APIError {
	set(&sub.BillingType, in.BillingType)
	if err := checkBilling(sub.BillingType, settings); err != nil {
		return err
	}
	if in.Value != nil {
		sub.Value = *in.Value
	}
	if sub.Value <= 0 {
		return BadRequest("invalid_value", "O campo value deve ser maior que zero.")
	}
	return checkMinimum(sub.BillingType, sub.Value, 0)
}

func (in SubscriptionUpdate) applyDates(sub *Subscription, now time.Time) *APIError {
	if in.NextDueDate != nil {
		due, err := parseDay(*in.NextDueDate)
		if err != nil || due < DayOf(now) {
			return BadRequest("invalid_dueDate", "Não é permitido data de vencimento inferior a hoje.")
		}
		sub.NextDue, sub.Anchor = due, due.dayOfMonth()
	}
	if in.EndDate != nil {
		end, err := parseDay(*in.EndDate)
		if err != nil {
			return BadRequest("invalid_endDate", "A data de término da assinatura é inválida.")
		}
		sub.EndDate = end
	}
	return nil
}

func (l Subscriptions) updateCharges(sub *Subscription, now time.Time) {
	for _, p := range l.openCharges(sub.ID) {
		p.Value, p.Description, p.BillingType = sub.Value, sub.Description, sub.BillingType
		l.emitPayment(now, "PAYMENT_UPDATED", p)
	}
}
