package gwa

import "time"

// subscriptionUpdate is the body of PUT /v3/subscriptions/{id}; absent fields stay as they are.
type subscriptionUpdate struct {
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

// updateSubscription changes future charges, and those already made only with updatePendingPayments. To resume an
// inactive subscription nextDueDate is needed (docs/gateway-facts.md, A4).
func (g *Gateway) updateSubscription(id string, in subscriptionUpdate, now time.Time) (*Subscription, *apiError) {
	sub, err := g.liveSubscription(id)
	if err != nil {
		return nil, err
	}
	changed := *sub
	if err := in.apply(&changed, g.Settings, now); err != nil {
		return nil, err
	}
	event := "SUBSCRIPTION_UPDATED"
	if sub.Status != statusInactive && changed.Status == statusInactive {
		event = "SUBSCRIPTION_INACTIVATED"
	}
	*sub = changed
	g.planCharge(sub)
	g.emitSubscription(now, event, sub)
	if in.UpdatePendingPayments {
		g.updateCharges(sub, now)
	}
	return sub, nil
}

func (in subscriptionUpdate) apply(sub *Subscription, settings Settings, now time.Time) *apiError {
	resumed := in.Status != nil && *in.Status == statusActive && sub.Status != statusActive
	if resumed && in.NextDueDate == nil {
		return badRequest("invalid_nextDueDate", "Para reativar a assinatura o campo nextDueDate deve ser informado.")
	}
	if in.Status != nil {
		if *in.Status != statusActive && *in.Status != statusInactive {
			return badRequest("invalid_status", "O status informado é inválido.")
		}
		sub.Status = *in.Status
	}
	if in.Cycle != nil {
		if !knownCycle(*in.Cycle) {
			return badRequest("invalid_cycle", "O ciclo informado é inválido.")
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

func (in subscriptionUpdate) applyMoney(sub *Subscription, settings Settings) *apiError {
	set(&sub.BillingType, in.BillingType)
	if err := checkBilling(sub.BillingType, settings); err != nil {
		return err
	}
	if in.Value != nil {
		sub.Value = *in.Value
	}
	if sub.Value <= 0 {
		return badRequest("invalid_value", "O campo value deve ser maior que zero.")
	}
	return checkMinimum(sub.BillingType, sub.Value, 0)
}

func (in subscriptionUpdate) applyDates(sub *Subscription, now time.Time) *apiError {
	if in.NextDueDate != nil {
		due, err := parseDay(*in.NextDueDate)
		if err != nil || due < dayOf(now) {
			return badRequest("invalid_dueDate", "Não é permitido data de vencimento inferior a hoje.")
		}
		sub.NextDue, sub.Anchor = due, due.dayOfMonth()
	}
	if in.EndDate != nil {
		end, err := parseDay(*in.EndDate)
		if err != nil {
			return badRequest("invalid_endDate", "A data de término da assinatura é inválida.")
		}
		sub.EndDate = end
	}
	return nil
}

func (g *Gateway) updateCharges(sub *Subscription, now time.Time) {
	for _, p := range g.openCharges(sub.ID) {
		p.Value, p.Description, p.BillingType = sub.Value, sub.Description, sub.BillingType
		g.emitPayment(now, "PAYMENT_UPDATED", p)
	}
}
