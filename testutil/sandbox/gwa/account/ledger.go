package account

import (
	"context"
	"time"

	"github.com/google/uuid"

	"marquee/testutil/sandbox/stage"
)

// Ledger is what the account has, and what it tells of it: events, and the webhook that they go to. All of it is
// guarded by the stage's lock, and every method is called with that held.
type Ledger struct {
	*state

	stage       *stage.Stage
	receiver    string // the account holder's name in PIX codes
	chargeDelay time.Duration
	token       tokenCell
	outbox      []stage.Event // of the running operation
}

// Payments are what happens to payments: PIX codes, cards, refunds and chargebacks too.
type Payments struct{ *Ledger }

// Subscriptions are what happens to subscriptions: they make payments.
type Subscriptions struct{ *Ledger }

// Debits are what happens to automatic PIX: authorizations, and the debits ordered under them.
type Debits struct{ *Ledger }

// Kinds of the jobs on the gateway's clock; they stand in state files.
const (
	jobCharge              = "gwa_charge"
	jobNextCharge          = "gwa_next_charge"
	jobOverdue             = "gwa_overdue"
	jobSettle              = "gwa_settle"
	jobRefuseAuthorization = "gwa_refuse_authorization"
	jobExpireAuthorization = "gwa_expire_authorization"
	jobScheduleInstruction = "gwa_schedule_instruction"
	jobDebit               = "gwa_debit"
)

// NewLedger is one without anything in it, for the account holder of that name.
func NewLedger(receiver string, chargeDelay time.Duration) *Ledger {
	return &Ledger{state: newState(), receiver: receiver, chargeDelay: chargeDelay}
}

// Open has the stage keep the ledger, restores what its state file has, and enters what the clock does by itself.
// Balance is the account's money where there is no file.
func (l *Ledger) Open(s *stage.Stage, balance Cents) error {
	l.stage = s
	if err := l.registerWith(s); err != nil {
		return err
	}
	if !s.Restored() {
		l.Settings, l.Account, l.Balance = DefaultSettings(), uuid.NewString(), max(balance, 0)
	}
	l.ApplyWebhook()
	l.handleJobs()
	return nil
}

// Send hands the collected events to the webhook queue.
func (l *Ledger) Send(ctx context.Context) {
	for _, ev := range l.outbox {
		l.stage.Emit(ctx, ev)
	}
	l.outbox = nil
}

// handleJobs says what the clock does by itself.
func (l *Ledger) handleJobs() {
	for kind, run := range map[string]func(id string, now time.Time){
		jobCharge:              Payments{l}.chargeCard,
		jobNextCharge:          Subscriptions{l}.nextCharge,
		jobOverdue:             Payments{l}.overdue,
		jobSettle:              Payments{l}.settle,
		jobScheduleInstruction: Debits{l}.scheduleInstruction,
		jobDebit:               Debits{l}.debit,
		jobRefuseAuthorization: func(id string, now time.Time) {
			_, _ = Debits{l}.EndAuthorization(id, StatusRefused, "", now, StatusCreated) // else it was paid
		},
		jobExpireAuthorization: func(id string, now time.Time) {
			_, _ = Debits{l}.EndAuthorization(id, StatusExpired, "", now, StatusActive) // else it ended before
		},
	} {
		l.stage.Clock.Handle(kind, func(id string) {
			run(id, l.stage.Clock.Now())
			l.Send(context.Background())
		})
	}
}
