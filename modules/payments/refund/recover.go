package refund

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/riverqueue/river"

	"marquee/modules/payments/gateway"
	"marquee/modules/payments/intent"
	"marquee/modules/payments/internal/paymentsdb"
	"marquee/modules/payments/ledger"
	"marquee/platform/jobs"
	"marquee/platform/objectid"
	"marquee/platform/postgres"
)

// openRefundTx opens the intent of a request. Of one payment one is open at a time:
// *intent.ErrOpen. callTime is 0 for a request whose call was made long ago.
func (s *Refunds) openRefundTx(ctx context.Context, tx pgx.Tx, r ledger.Refund, callTime time.Duration) error {
	return s.deps.Intents.OpenTx(ctx, tx, intent.Opening{
		Ref: ledger.IntentOf(r.ID), Customer: r.CustomerID, Gateway: string(r.Gateway), Excludes: "refund:" + r.PaymentID, CallTime: callTime,
	})
}

// Look asks the gateway what became of a request whose answer was lost. Only
// when it is proved that nothing was made the call is made again; its refusal counts
// when the list of refunds shows nothing even then.
func (s *Refunds) Look(ctx context.Context, l *intent.Look) (intent.Answer, error) {
	row, err := s.db.RefundFind(ctx, s.deps.Pool, l.Subject)
	if err != nil {
		return 0, fmt.Errorf("read refund: %w", err)
	}
	refund := ledger.RefundOf(row)
	if refund.Status != gateway.RefundRequested {
		return intent.Settled, s.Follow(ctx, refund)
	}
	payment, err := s.reader.FindPayment(ctx, s.deps.Pool, refund.Gateway, refund.PaymentID)
	if err != nil {
		return 0, err
	}
	if payment == nil {
		return 0, fmt.Errorf("payments: refund %s is of a payment that the ledger does not have", refund.ID)
	}
	gateway, err := s.deps.Gateways.Find(refund.Gateway)
	if err != nil {
		return 0, err
	}
	remote, ok, err := gateway.FindRefund(ctx, refundTerms(*payment, refund))
	switch {
	case err != nil:
		return 0, err
	case ok:
		return s.settleLook(ctx, refund, remote)
	case !l.Proved:
		return intent.NotThere, nil
	}
	return s.refundAgain(ctx, gateway, l, *payment, refund)
}

// refundAgain makes the call once more, unless others have given back so much
// meanwhile that too little is left.
func (s *Refunds) refundAgain(ctx context.Context, gw gateway.Gateway, l *intent.Look, p gateway.LedgerPayment, refund ledger.Refund) (intent.Answer, error) {
	all, err := gw.ListRefunds(ctx, gateway.PaymentRef{PaymentID: p.Payment.ID, PaymentIntentID: refund.PaymentID})
	if err != nil {
		return 0, err
	}
	if err := s.recordList(ctx, refund.PaymentID, p, all); err != nil {
		return 0, err
	}
	rows, err := s.db.RefundListOfPayment(ctx, s.deps.Pool, paymentsdb.RefundListOfPaymentParams{Gateway: string(p.Gateway), PaymentRef: refund.PaymentID})
	if err != nil {
		return 0, err
	}
	left := p.Payment.Amount
	for _, row := range rows {
		if r := ledger.RefundOf(row); r.Status != gateway.RefundFailed {
			left -= r.Amount
		}
	}
	if left < 0 {
		return s.failLook(ctx, refund, ErrTooMuch)
	}
	terms := refundTerms(p, refund)
	if err := l.CallAgain(ctx, s.deps.Intents.CallTime()); err != nil {
		return 0, err
	}
	call, cancel := context.WithTimeout(ctx, s.deps.Intents.CallTime())
	defer cancel()
	remote, err := gw.Refund(call, terms)
	if err == nil {
		return s.settleLook(ctx, refund, remote)
	}
	var rejected *gateway.Rejected
	var declined *gateway.Declined
	if errors.Is(err, gateway.ErrOutcomeUnknown) || !errors.As(err, &rejected) && !errors.As(err, &declined) {
		return 0, err
	}
	// What was asked for first may be what the gateway refuses to make twice.
	remote, ok, again := gw.FindRefund(ctx, terms)
	switch {
	case again != nil:
		return 0, errors.Join(err, again)
	case ok:
		return s.settleLook(ctx, refund, remote)
	}
	return s.failLook(ctx, refund, err)
}

func (s *Refunds) settleLook(ctx context.Context, r ledger.Refund, remote gateway.RemoteRefund) (intent.Answer, error) {
	r, err := s.settleRequest(ctx, r, remote, "look", nil)
	if err != nil {
		return 0, err
	}
	return intent.Settled, s.Follow(ctx, r)
}

func (s *Refunds) failLook(ctx context.Context, r ledger.Refund, why error) (intent.Answer, error) {
	s.deps.Log.WarnContext(ctx, "refund came to nothing", slog.String("refund_id", r.ID.String()), slog.Any("error", why))
	if err := s.failRefund(ctx, r, why, "look"); err != nil {
		return 0, err
	}
	r.Status = gateway.RefundFailed
	return intent.Settled, s.Follow(ctx, r)
}

// refundGrace is how long who settled a refund may take to follow it.
const refundGrace = 2 * time.Minute

// FollowArgs has a refund followed whose process may have ended in between, and looks
// for one that is not answered.
type FollowArgs struct {
	RefundID objectid.ID `json:"refund_id"`
}

// Kind names the job.
func (FollowArgs) Kind() string { return "payments_refund_recover" }

func (s *Refunds) followLaterTx(ctx context.Context, tx pgx.Tx, id objectid.ID) error {
	_, err := s.deps.Jobs.InsertTx(ctx, tx, FollowArgs{RefundID: id}, &river.InsertOpts{
		Queue: jobs.QueueGateway, ScheduledAt: s.deps.Clock.Now().Add(refundGrace),
	})
	if err != nil {
		return fmt.Errorf("queue refund: %w", err)
	}
	return nil
}

// Recover has a refund followed that is answered, and else all that nobody asks about looked for.
func (s *Refunds) Recover(ctx context.Context, id objectid.ID) error {
	row, err := s.db.RefundFind(ctx, s.deps.Pool, id)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil
	}
	if err != nil {
		return err
	}
	if refund := ledger.RefundOf(row); refund.Status != gateway.RefundRequested {
		return s.Follow(ctx, refund)
	}
	return s.Adopt(ctx)
}

// AdoptArgs opens the intents of requests that have none: of a version before
// the intents, or taken for done by a report that its gateway took back.
type AdoptArgs struct{}

// Kind names the job.
func (AdoptArgs) Kind() string { return "payments_refunds_adopt" }

// InsertOpts: what fails comes with the next.
func (AdoptArgs) InsertOpts() river.InsertOpts { return river.InsertOpts{MaxAttempts: 1} }

// AdoptEvery is how often that is looked for.
const AdoptEvery = time.Minute

// Adopt sees to it that every request that is not answered is asked about,
// whatever became of who asked. Of two of one payment the later waits for the first.
func (s *Refunds) Adopt(ctx context.Context) error {
	found, err := s.db.RefundListForgotten(ctx, s.deps.Pool, s.deps.Clock.Now().Add(-refundGrace))
	if err != nil {
		return err
	}
	var failed error
	for _, row := range found {
		err := postgres.InTx(ctx, s.deps.Pool, func(tx pgx.Tx) error { return s.openRefundTx(ctx, tx, ledger.RefundOf(row), 0) })
		var open *intent.ErrOpen
		if !errors.As(err, &open) {
			failed = errors.Join(failed, err)
		}
	}
	return failed
}

// Follow tells the followers what became of a refund.
func (s *Refunds) Follow(ctx context.Context, r ledger.Refund) error {
	for _, f := range s.followers {
		if err := f.FollowRefund(ctx, r); err != nil {
			return fmt.Errorf("follow refund %s: %w", r.ID, err)
		}
	}
	return nil
}
