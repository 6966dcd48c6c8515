package calls

import (
	"context"
	"errors"
	"log/slog"

	"github.com/jackc/pgx/v5"

	"marquee/modules/payments/gateway"
	"marquee/modules/payments/intent"
	"marquee/platform/objectid"
	"marquee/platform/postgres"
)

// ErrStillOpen says that a gateway has not told yet what became of a call.
var ErrStillOpen = errors.New("subscriptions: what the gateway made of the last call is not known yet")

// ErrPauseUnderWay has the job look again when the other worker must have ended.
var ErrPauseUnderWay = errors.New("collection is being paused or resumed")

// ErrDebitUnderWay has the job look again when the order must have ended.
var ErrDebitUnderWay = errors.New("the debit is being ordered")

// ErrRetryNotShown has the job look again: the gateway shows no order of a debit that
// it has refused.
var ErrRetryNotShown = errors.New("the gateway shows no instruction of the debit")

// Repeatedly carries out an order whose repetition is harmless. When it fails an intent
// stands for it from then on: the looks repeat it, within their share of the quota, and
// tell people of it after a day. While that is open nobody else does.
func (s *Calls) Repeatedly(ctx context.Context, o intent.Opening, do func(context.Context) error) error {
	if open, err := s.intents.IsOpen(ctx, s.pool, o.Ref); err != nil || open {
		return err
	}
	cause := do(ctx)
	if cause == nil || !IsGatewaysFault(cause) && !isUnderWay(cause) {
		return cause
	}
	if err := s.HandOver(context.WithoutCancel(ctx), o, cause); err != nil {
		return errors.Join(cause, err)
	}
	return nil
}

// HandOver leaves an order that was not carried out to the looks.
func (s *Calls) HandOver(ctx context.Context, o intent.Opening, cause error) error {
	s.log.WarnContext(ctx, "not carried out at the gateway yet", slog.String("kind", string(o.Kind)), slog.String("subject_id", o.Subject.String()),
		slog.String("gateway", o.Gateway), slog.Any("error", cause))
	o.CallTime = s.intents.CallTime()
	err := postgres.InTx(ctx, s.pool, func(tx pgx.Tx) error {
		if err := s.intents.OpenTx(ctx, tx, o); err != nil || !isUnderWay(cause) {
			return err
		}
		return s.intents.WaitTx(ctx, tx, o.Ref)
	})
	var open *intent.ErrOpen
	switch {
	case errors.As(err, &open):
		return nil // another try has failed meanwhile
	case err != nil || isUnderWay(cause):
		return err
	}
	return s.intents.NotKnown(ctx, o.Ref, cause)
}

// IsGatewaysFault leaves the errors of our own, such as the database's, to the job.
func IsGatewaysFault(err error) bool {
	var rejected *gateway.Rejected
	return errors.As(err, &rejected) || errors.Is(err, gateway.ErrUnavailable) || errors.Is(err, gateway.ErrOutcomeUnknown) ||
		errors.Is(err, gateway.ErrMissing) || errors.Is(err, gateway.ErrUnsupported) || errors.Is(err, ErrRetryNotShown)
}

// isUnderWay reports whether another worker has the order, or a call of it may not show
// at the gateway yet: no fault of the gateway's.
func isUnderWay(err error) bool {
	return errors.Is(err, ErrPauseUnderWay) || errors.Is(err, ErrDebitUnderWay)
}

// UnderWay is what a look answers while the order is under way.
func UnderWay(err error) (intent.Answer, error) {
	if isUnderWay(err) {
		return intent.Waiting, nil
	}
	return intent.Settled, err
}

// SweepOrder takes up an order whose own job is silent, unless the looks have it.
func (s *Calls) SweepOrder(ctx context.Context, r intent.Ref, do func(context.Context, objectid.ID) error, later func() error) error {
	open, err := s.intents.IsOpen(ctx, s.pool, r)
	switch {
	case err != nil:
		return err
	case open:
		return later()
	}
	return do(ctx, r.Subject)
}
