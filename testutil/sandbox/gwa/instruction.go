package gwa

import (
	"slices"
	"time"

	"github.com/google/uuid"
)

// Statuses of payment instructions (docs/gateway-facts.md, A8).
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

// Hours of the day: the payer's bank tries from debitHour until refusalHour, when it gives up; the receiver may take an
// order back until receiverHour of the day before, the payer until that day is over.
const (
	debitHour    = 7
	refusalHour  = 20
	receiverHour = 22
)

// Reasons of refusals; the bank's list is longer, and open.
const (
	reasonFunds    = "INSUFFICIENT_FUNDS"
	reasonMismatch = "AMOUNT_MISMATCH"
)

// permanentReasons are refusals that no repetition changes.
var permanentReasons = []string{"ACCOUNT_CLOSED", reasonMismatch, "PAYER_CPF_CNPJ_MISMATCH"}

// Reasons of cancellations. That instructions use the words of authorizations is unverified; so are the last two.
const (
	reasonByPayer    = "REQUESTED_BY_PAYER_USER"
	reasonByReceiver = "REQUESTED_BY_RECEIVER_USER"
	reasonPaidBefore = "PAYMENT_RECEIVED"
	reasonNoConsent  = "AUTHORIZATION_ENDED"
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
	CancelReason  string `json:"cancelReason,omitempty"`
	Retry         int    `json:"retry"`
	// Tried are the days on which it was refused.
	Tried []day `json:"tried,omitempty"`
}

func (i *Instruction) open() bool {
	return i.Status == instructionAwaiting || i.Status == instructionScheduled
}

// checkDebit holds the rules of a charge under an authorization: active, by PIX, for its customer, due in 2 to 10
// business days. Another value than the fixed one is taken, and refused by the payer's bank.
func (g *Gateway) checkDebit(in paymentInput, now time.Time, due day) *apiError {
	a, ok := g.Authorizations.Find(in.PixAutomaticAuthorizationID)
	if !ok || a.Status != statusActive {
		return errObject("A autorização deve estar ativa para criar uma instrução de pagamento automático.")
	}
	today := dayOf(now)
	switch {
	case a.Customer != in.Customer:
		return errCustomer()
	case in.BillingType != billingPIX:
		return badRequest("invalid_billingType", "Cobranças de Pix Automático devem ter a forma de pagamento PIX.")
	case due < today.addBankDays(minDebitBusinessDays) || due > today.addBankDays(maxDebitBusinessDays):
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
	g.Instructions.Put(i.ID, i)
	g.emitInstruction(now, "CREATED", i)
	g.stage.Clock.At(now.Add(g.chargeDelay), jobScheduleInstruction, i.ID)
}

// scheduleInstruction is the payer's bank accepting the order, or refusing what can never be taken.
func (g *Gateway) scheduleInstruction(id string, now time.Time) {
	i, ok := g.Instructions.Find(id)
	if !ok || i.Status != instructionAwaiting {
		return
	}
	p, a := g.Payments.Get(i.Payment), g.Authorizations.Get(i.Authorization)
	if a.Value != nil && *a.Value != p.Value {
		g.refuseInstruction(i, reasonMismatch, now)
		return
	}
	i.Status = instructionScheduled
	g.emitInstruction(now, instructionScheduled, i)
	g.stage.Clock.At(later(i.Due.at(debitHour, 14), now), jobDebit, i.ID)
}

// debit is the morning of the due date: confirmed, and received a moment later (the latter unverified). What the bank
// can't take then it tries until the evening, and refuses for good.
func (g *Gateway) debit(id string, now time.Time) {
	i, ok := g.Instructions.Find(id)
	if !ok || i.Status != instructionScheduled {
		return
	}
	p, a := g.Payments.Get(i.Payment), g.Authorizations.Get(i.Authorization)
	if !p.open() {
		g.cancelInstruction(i, reasonByReceiver, now)
		return
	}
	if p.FailNext || a.Status != statusActive {
		evening := i.Due.at(refusalHour, 0)
		if now.Before(evening) {
			g.stage.Clock.At(evening, jobDebit, i.ID)
			return
		}
		reason := p.FailReason
		if reason == "" {
			reason = reasonFunds
		}
		p.FailTimes = max(p.FailTimes-1, 0)
		if p.FailNext = p.FailTimes > 0; !p.FailNext {
			p.FailReason = ""
		}
		g.refuseInstruction(i, reason, now)
		return
	}
	i.Status = instructionDone
	today := dayOf(now)
	p.Status, p.ConfirmedDate, p.ClientPaymentDate = statusConfirmed, today, today
	g.receipt(p)
	g.emitPayment(now, "PAYMENT_CONFIRMED", p)
	g.stage.Clock.At(now.Add(time.Minute), jobSettle, p.ID)
}

func (g *Gateway) refuseInstruction(i *Instruction, reason string, now time.Time) {
	i.Status, i.RefusalReason, i.Tried = instructionRefused, reason, append(i.Tried, i.Due)
	g.emitInstruction(now, instructionRefused, i)
}

func (g *Gateway) cancelInstruction(i *Instruction, reason string, now time.Time) {
	i.Status, i.CancelReason = instructionCancelled, reason
	g.emitInstruction(now, instructionCancelled, i)
}

// openInstruction is the order that waits for the day of a payment; nil when there is none.
func (s *state) openInstruction(payment string) *Instruction {
	for id, i := range s.Instructions.All() {
		if i.Payment == payment && i.open() {
			return s.Instructions.Get(id)
		}
	}
	return nil
}

// cancelOrder ends the open order of a payment that was removed, or paid in another way.
func (g *Gateway) cancelOrder(p *Payment, reason string, now time.Time) {
	if p.Authorization == "" {
		return
	}
	if i := g.openInstruction(p.ID); i != nil {
		g.cancelInstruction(i, reason, now)
	}
}

// receiverMayCancel tells whether the receiver can still take back what is ordered for a payment.
func (s *state) receiverMayCancel(p *Payment, now time.Time) bool {
	i := s.openInstruction(p.ID)
	return i == nil || now.Before(i.Due.add(-1).at(receiverHour, 0))
}

// cancelByPayer is the payer taking one debit back in the bank's app, until the end of the day before it. The
// authorization stays as it is.
func (g *Gateway) cancelByPayer(payment, reason string, now time.Time) (*Instruction, *apiError) {
	i := g.openInstruction(payment)
	switch {
	case i == nil:
		return nil, notFound()
	case !now.Before(i.Due.at(0, 0)):
		return nil, errAction("a debit can be cancelled until 23:59 of the day before")
	}
	g.cancelInstruction(i, reason, now)
	return i, nil
}

// refuseNow is the bank refusing an order before its day, as it may when it is scheduled.
func (g *Gateway) refuseNow(payment, reason string, now time.Time) (*Instruction, *apiError) {
	i := g.openInstruction(payment)
	if i == nil {
		return nil, notFound()
	}
	g.refuseInstruction(i, reason, now)
	return i, nil
}

// failDebit has the bank refuse a debit on the next days on which it is tried.
func (g *Gateway) failDebit(payment, reason string, times int) (*Payment, *apiError) {
	p, err := g.livePayment(payment)
	if err != nil {
		return nil, err
	}
	p.FailNext, p.FailReason, p.FailTimes = times > 0, reason, times
	return p, nil
}

// retryInstruction orders a refused debit again, where the authorization's policy allows it: three times, each on
// another day, within seven days of the due date and before the next cycle. The order has to be there the day before.
func (g *Gateway) retryInstruction(id, dueDate string, now time.Time) (*Instruction, *apiError) {
	i, ok := g.Instructions.Find(id)
	if !ok {
		return nil, notFound()
	}
	a, p := g.Authorizations.Get(i.Authorization), g.Payments.Get(i.Payment)
	due, errDue := parseDay(dueDate)
	switch {
	case i.Status != instructionRefused || !p.open():
		return nil, errAction("Somente instruções recusadas podem ser reenviadas.")
	case a.Status != statusActive:
		return nil, errObject("A autorização deve estar ativa para criar uma instrução de pagamento automático.")
	case a.RetryPolicy != retryThree || i.Retry >= maxRetries:
		return nil, errAction("A política de retentativas da autorização não permite nova tentativa.")
	case slices.Contains(permanentReasons, i.RefusalReason):
		return nil, errAction("O motivo da recusa não permite nova tentativa.")
	case errDue != nil || due <= dayOf(now):
		return nil, badRequest("invalid_dueDate",
			"O agendamento deve ser enviado até as 23h59 do dia anterior à data desejada.")
	case slices.Contains(i.Tried, due):
		return nil, badRequest("invalid_dueDate", "As retentativas de uma cobrança devem ter datas diferentes.")
	case due > p.OriginalDue.add(retryDays):
		return nil, badRequest("invalid_dueDate", "A nova data deve estar dentro de 7 dias do vencimento original.")
	case due >= p.OriginalDue.next(frequencyCycle[a.Frequency], p.OriginalDue.dayOfMonth()):
		return nil, badRequest("invalid_dueDate",
			"A nova data não pode coincidir ou ultrapassar o início do próximo ciclo.")
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
	CancellationReason *string `json:"cancellationReason"`
}

type idView struct {
	ID string `json:"id"`
}

func (i *Instruction) view(date func(day) string) instructionView {
	v := instructionView{
		ID: i.ID, EndToEndIdentifier: i.EndToEnd, Authorization: idView{i.Authorization}, PaymentID: i.Payment,
		DueDate: date(i.Due), Status: i.Status, Purpose: "SCHEDULING", RetryAttempt: orNull(i.Retry),
		RefusalReason: orNull(i.RefusalReason), CancellationReason: orNull(i.CancelReason),
	}
	if i.Retry > 0 {
		v.Purpose = "RETRY"
	}
	return v
}
