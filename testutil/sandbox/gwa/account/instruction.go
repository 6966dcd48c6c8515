package account

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
	ReasonFunds    = "INSUFFICIENT_FUNDS"
	reasonMismatch = "AMOUNT_MISMATCH"
)

// permanentReasons are refusals that no repetition changes.
var permanentReasons = []string{"ACCOUNT_CLOSED", reasonMismatch, "PAYER_CPF_CNPJ_MISMATCH"}

// Reasons of cancellations. That instructions use the words of authorizations is unverified; so are the last two.
const (
	ReasonByPayer    = "REQUESTED_BY_PAYER_USER"
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
	Due           Day    `json:"due"`
	Status        string `json:"status"`
	RefusalReason string `json:"refusalReason,omitempty"`
	CancelReason  string `json:"cancelReason,omitempty"`
	Retry         int    `json:"retry"`
	// Tried are the days on which it was refused.
	Tried []Day `json:"tried,omitempty"`
}

func (i *Instruction) open() bool {
	return i.Status == instructionAwaiting || i.Status == instructionScheduled
}

// checkDebit holds the rules of a charge under an authorization: active, by PIX, for its customer, due in 2 to 10
// business days. Another value than the fixed one is taken, and refused by the payer's bank.
func (l Debits) checkDebit(in PaymentInput, now time.Time, due Day) *APIError {
	a, ok := l.Authorizations.Find(in.PixAutomaticAuthorizationID)
	if !ok || a.Status != StatusActive {
		return ErrObject("A autorização deve estar ativa para criar uma instrução de pagamento automático.")
	}
	today := DayOf(now)
	switch {
	case a.Customer != in.Customer:
		return errCustomer()
	case in.BillingType != billingPIX:
		return BadRequest("invalid_billingType", "Cobranças de Pix Automático devem ter a forma de pagamento PIX.")
	case due < today.addBankDays(minDebitBusinessDays) || due > today.addBankDays(maxDebitBusinessDays):
		return BadRequest("invalid_dueDate", "O vencimento deve estar entre 2 e 10 dias úteis a partir de hoje.")
	}
	return nil
}

// createInstruction orders the debit of a payment.
func (l Debits) createInstruction(p *Payment, now time.Time) {
	i := &Instruction{
		ID: uuid.NewString(), Order: l.order(), Authorization: p.Authorization, Payment: p.ID,
		EndToEnd: authorizationEndToEnd(now), Due: p.Due, Status: instructionAwaiting,
	}
	l.Instructions.Put(i.ID, i)
	l.emitInstruction(now, "CREATED", i)
	l.stage.Clock.At(now.Add(l.chargeDelay), jobScheduleInstruction, i.ID)
}

// scheduleInstruction is the payer's bank accepting the order, or refusing what can never be taken.
func (l Debits) scheduleInstruction(id string, now time.Time) {
	i, ok := l.Instructions.Find(id)
	if !ok || i.Status != instructionAwaiting {
		return
	}
	p, a := l.Payments.Get(i.Payment), l.Authorizations.Get(i.Authorization)
	if a.Value != nil && *a.Value != p.Value {
		l.refuseInstruction(i, reasonMismatch, now)
		return
	}
	i.Status = instructionScheduled
	l.emitInstruction(now, instructionScheduled, i)
	l.stage.Clock.At(later(i.Due.at(debitHour, 14), now), jobDebit, i.ID)
}

// debit is the morning of the due date: confirmed, and received a moment later (the latter unverified). What the bank
// can't take then it tries until the evening, and refuses for good.
func (l Debits) debit(id string, now time.Time) {
	i, ok := l.Instructions.Find(id)
	if !ok || i.Status != instructionScheduled {
		return
	}
	p, a := l.Payments.Get(i.Payment), l.Authorizations.Get(i.Authorization)
	if !p.open() {
		l.cancelInstruction(i, reasonByReceiver, now)
		return
	}
	if p.FailNext || a.Status != StatusActive {
		evening := i.Due.at(refusalHour, 0)
		if now.Before(evening) {
			l.stage.Clock.At(evening, jobDebit, i.ID)
			return
		}
		reason := p.FailReason
		if reason == "" {
			reason = ReasonFunds
		}
		p.FailTimes = max(p.FailTimes-1, 0)
		if p.FailNext = p.FailTimes > 0; !p.FailNext {
			p.FailReason = ""
		}
		l.refuseInstruction(i, reason, now)
		return
	}
	i.Status = instructionDone
	today := DayOf(now)
	p.Status, p.ConfirmedDate, p.ClientPaymentDate = statusConfirmed, today, today
	l.receipt(p)
	l.emitPayment(now, "PAYMENT_CONFIRMED", p)
	l.stage.Clock.At(now.Add(time.Minute), jobSettle, p.ID)
}

func (l Debits) refuseInstruction(i *Instruction, reason string, now time.Time) {
	i.Status, i.RefusalReason, i.Tried = instructionRefused, reason, append(i.Tried, i.Due)
	l.emitInstruction(now, instructionRefused, i)
}

func (l Debits) cancelInstruction(i *Instruction, reason string, now time.Time) {
	i.Status, i.CancelReason = instructionCancelled, reason
	l.emitInstruction(now, instructionCancelled, i)
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
func (l Debits) cancelOrder(p *Payment, reason string, now time.Time) {
	if p.Authorization == "" {
		return
	}
	if i := l.openInstruction(p.ID); i != nil {
		l.cancelInstruction(i, reason, now)
	}
}

// receiverMayCancel tells whether the receiver can still take back what is ordered for a payment.
func (s *state) receiverMayCancel(p *Payment, now time.Time) bool {
	i := s.openInstruction(p.ID)
	return i == nil || now.Before(i.Due.add(-1).at(receiverHour, 0))
}

// CancelByPayer is the payer taking one debit back in the bank's app, until the end of the day before it. The
// authorization stays as it is.
func (l Debits) CancelByPayer(payment, reason string, now time.Time) (*Instruction, *APIError) {
	i := l.openInstruction(payment)
	switch {
	case i == nil:
		return nil, NotFound()
	case !now.Before(i.Due.at(0, 0)):
		return nil, errAction("a debit can be cancelled until 23:59 of the day before")
	}
	l.cancelInstruction(i, reason, now)
	return i, nil
}

// RefuseNow is the bank refusing an order before its day, as it may when it is scheduled.
func (l Debits) RefuseNow(payment, reason string, now time.Time) (*Instruction, *APIError) {
	i := l.openInstruction(payment)
	if i == nil {
		return nil, NotFound()
	}
	l.refuseInstruction(i, reason, now)
	return i, nil
}

// FailDebit has the bank refuse a debit on the next days on which it is tried.
func (l Debits) FailDebit(payment, reason string, times int) (*Payment, *APIError) {
	p, err := l.livePayment(payment)
	if err != nil {
		return nil, err
	}
	p.FailNext, p.FailReason, p.FailTimes = times > 0, reason, times
	return p, nil
}

// RetryInstruction orders a refused debit again, where the authorization's policy allows it: three times, each on
// another day, within seven days of the due date and before the next cycle. The order has to be there the day before.
func (l Debits) RetryInstruction(id, dueDate string, now time.Time) (*Instruction, *APIError) {
	i, ok := l.Instructions.Find(id)
	if !ok {
		return nil, NotFound()
	}
	a, p := l.Authorizations.Get(i.Authorization), l.Payments.Get(i.Payment)
	due, errDue := parseDay(dueDate)
	switch {
	case i.Status != instructionRefused || !p.open():
		return nil, errAction("Somente instruções recusadas podem ser reenviadas.")
	case a.Status != StatusActive:
		return nil, ErrObject("A autorização deve estar ativa para criar uma instrução de pagamento automático.")
	case a.RetryPolicy != retryThree || i.Retry >= maxRetries:
		return nil, errAction("A política de retentativas da autorização não permite nova tentativa.")
	case slices.Contains(permanentReasons, i.RefusalReason):
		return nil, errAction("O motivo da recusa não permite nova tentativa.")
	case errDue != nil || due <= DayOf(now):
		return nil, BadRequest("invalid_dueDate",
			"O agendamento deve ser enviado até as 23h59 do dia anterior à data desejada.")
	case slices.Contains(i.Tried, due):
		return nil, BadRequest("invalid_dueDate", "As retentativas de uma cobrança devem ter datas diferentes.")
	case due > p.OriginalDue.add(retryDays):
		return nil, BadRequest("invalid_dueDate", "A nova data deve estar dentro de 7 dias do vencimento original.")
	case due >= p.OriginalDue.next(frequencyCycle[a.Frequency], p.OriginalDue.dayOfMonth()):
		return nil, BadRequest("invalid_dueDate",
			"A nova data não pode coincidir ou ultrapassar o início do próximo ciclo.")
	}
	i.Status, i.RefusalReason, i.Due = instructionAwaiting, "", due
	i.Retry++
	l.stage.Clock.At(now.Add(l.chargeDelay), jobScheduleInstruction, i.ID)
	return i, nil
}

// InstructionView is an instruction as it is printed.
type InstructionView struct {
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

// View prints the instruction with this form of dates.
func (i *Instruction) View(date func(Day) string) InstructionView {
	v := InstructionView{
		ID: i.ID, EndToEndIdentifier: i.EndToEnd, Authorization: idView{i.Authorization}, PaymentID: i.Payment,
		DueDate: date(i.Due), Status: i.Status, Purpose: "SCHEDULING", RetryAttempt: orNull(i.Retry),
		RefusalReason: orNull(i.RefusalReason), CancellationReason: orNull(i.CancelReason),
	}
	if i.Retry > 0 {
		v.Purpose = "RETRY"
	}
	return v
}
