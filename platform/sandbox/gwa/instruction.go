package gwa

import (
	"time"

	"github.com/google/uuid"
)

// Statuses of payment instructions (section 8).
const (
	instructionAwaiting  = "AWAITING_REQUEST"
	instructionScheduled = "SCHEDULED"
	instructionDone      = "DONE"
	instructionCancelled = "CANCELLED"
	instructionRefused   = "REFUSED"
)

// Bounds of debits and their repetition, in days.
const (
	minDebitBusinessDays = 2
	maxDebitBusinessDays = 10
	maxRetries           = 3
	retryDays            = 7
)

// Instruction is one debit ordered under an authorization.
type Instruction struct {
	ID            string `json:"id"`
	Order         int64  `json:"order"`
	Authorization string `json:"authorization"`
	Payment       string `json:"payment"`
	EndToEnd      string `json:"endToEnd"`
	Due           day    `json:"due"`
	Status        string `json:"status"`
	RefusalReason string `json:"refusalReason,omitempty"`
	Retry         int    `json:"retry"`
}

func (i *Instruction) created() (int64, bool) { return i.Order, false }

func (i *Instruction) open() bool {
	return i.Status == instructionAwaiting || i.Status == instructionScheduled
}

// checkDebit holds the rules of a charge under an authorization: active, by PIX, for its customer and fixed value, due
// in 2 to 10 business days.
func (g *Gateway) checkDebit(in paymentInput, now time.Time, due day) *apiError {
	a, ok := g.Authorizations[in.PixAutomaticAuthorizationID]
	if !ok || a.Status != statusActive {
		return errObject("A autorização deve estar ativa para criar uma instrução de pagamento automático.")
	}
	today := dayOf(now)
	switch {
	case a.Customer != in.Customer:
		return errCustomer()
	case in.BillingType != billingPIX:
		return badRequest("invalid_billingType", "Cobranças de Pix Automático devem ter a forma de pagamento PIX.")
	case a.Value != nil && *a.Value != *in.Value:
		return badRequest("invalid_value", "O valor da cobrança deve ser igual ao valor da autorização.")
	case due < today.addBusiness(minDebitBusinessDays) || due > today.addBusiness(maxDebitBusinessDays):
		return badRequest("invalid_dueDate", "O vencimento deve estar entre 2 e 10 dias úteis a partir de hoje.")
	}
	return nil
}

// createInstruction orders the debit of a payment.
func (g *Gateway) createInstruction(p *Payment, now time.Time) {
	i := &Instruction{
		ID: uuid.NewString(), Order: g.order(), Authorization: p.Authorization, Payment: p.ID,
		EndToEnd: authorizationEndToEnd(now), Due: p.Due, Status: instructionAwaiting,
	}
	g.Instructions[i.ID] = i
	g.emitInstruction(now, "CREATED", i)
	g.stage.Clock.At(now.Add(g.chargeDelay), jobScheduleInstruction, i.ID)
}

// scheduleInstruction is the payer's bank accepting the order.
func (g *Gateway) scheduleInstruction(id string, now time.Time) {
	i, ok := g.Instructions[id]
	if !ok || i.Status != instructionAwaiting {
		return
	}
	i.Status = instructionScheduled
	g.emitInstruction(now, instructionScheduled, i)
	g.stage.Clock.At(later(i.Due.at(7, 14), now), jobDebit, i.ID)
}

// debit is the morning of the due date: confirmed, and received a moment later (the latter unverified).
func (g *Gateway) debit(id string, now time.Time) {
	i, ok := g.Instructions[id]
	if !ok || i.Status != instructionScheduled {
		return
	}
	p, a := g.Payments[i.Payment], g.Authorizations[i.Authorization]
	if !p.open() {
		g.endInstruction(i, instructionCancelled, now)
		return
	}
	if p.FailNext || a.Status != statusActive {
		p.FailNext, i.RefusalReason = false, "INSUFFICIENT_FUNDS"
		g.endInstruction(i, instructionRefused, now)
		return
	}
	i.Status = instructionDone
	today := dayOf(now)
	p.Status, p.ConfirmedDate, p.ClientPaymentDate = statusConfirmed, today, today
	g.receipt(p)
	g.emitPayment(now, "PAYMENT_CONFIRMED", p)
	g.stage.Clock.At(now.Add(time.Minute), jobSettle, p.ID)
}

func (g *Gateway) endInstruction(i *Instruction, status string, now time.Time) {
	i.Status = status
	g.emitInstruction(now, status, i)
}

// cancelInstructions ends the open orders of a payment that was removed.
func (g *Gateway) cancelInstructions(p *Payment, now time.Time) {
	for _, i := range newest(g.Instructions, func(i *Instruction) bool { return i.Payment == p.ID && i.open() }) {
		g.endInstruction(i, instructionCancelled, now)
	}
}

// retryInstruction orders a refused debit again, where the authorization's policy allows it: three times within seven
// days of the due date.
func (g *Gateway) retryInstruction(id, dueDate string, now time.Time) (*Instruction, *apiError) {
	i, ok := g.Instructions[id]
	if !ok {
		return nil, notFound()
	}
	a, p := g.Authorizations[i.Authorization], g.Payments[i.Payment]
	due, errDue := parseDay(dueDate)
	switch {
	case i.Status != instructionRefused || !p.open():
		return nil, errAction("Somente instruções recusadas podem ser reenviadas.")
	case a.RetryPolicy != retryThree || i.Retry >= maxRetries:
		return nil, errAction("A política de retentativas da autorização não permite nova tentativa.")
	case errDue != nil || due < dayOf(now) || due > p.OriginalDue.add(retryDays):
		return nil, badRequest("invalid_dueDate", "A nova data deve estar dentro de 7 dias do vencimento original.")
	}
	i.Status, i.RefusalReason, i.Due = instructionAwaiting, "", due
	i.Retry++
	g.stage.Clock.At(now.Add(g.chargeDelay), jobScheduleInstruction, i.ID)
	return i, nil
}

type instructionView struct {
	ID                 string  `json:"id"`
	EndToEndIdentifier string  `json:"endToEndIdentifier"`
	Authorization      idView  `json:"authorization"`
	PaymentID          string  `json:"paymentId"`
	DueDate            string  `json:"dueDate"`
	Status             string  `json:"status"`
	Purpose            string  `json:"purpose"`
	RetryAttempt       *int    `json:"retryAttempt"`
	RefusalReason      *string `json:"refusalReason"`
}

type idView struct {
	ID string `json:"id"`
}

func (i *Instruction) view(date func(day) string) instructionView {
	v := instructionView{
		ID: i.ID, EndToEndIdentifier: i.EndToEnd, Authorization: idView{i.Authorization}, PaymentID: i.Payment,
		DueDate: date(i.Due), Status: i.Status, Purpose: "SCHEDULING", RetryAttempt: orNull(i.Retry),
		RefusalReason: orNull(i.RefusalReason),
	}
	if i.Retry > 0 {
		v.Purpose = "RETRY"
	}
	return v
}
