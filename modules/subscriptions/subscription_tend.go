package subscriptions

import (
	"context"
	"errors"
	"log/slog"

	"github.com/jackc/pgx/v5"

	"marquee/modules/payments"
	"marquee/modules/payments/intent"
	"marquee/platform/postgres"
)

// repeatedly carries out an order whose repetition is harmless. When it fails an intent
// stands for it from then on: the looks repeat it, within their share of the quota, and
// tell people of it after a day. While that is open nobody else does.
func (s *Service) repeatedly(ctx context.Context, o intent.Opening, do func(context.Context) error) error {
	if open, err := s.intents.IsOpen(ctx, s.pool, o.Ref); err != nil || open {
		return err
	}
	cause := do(ctx)
	if cause == nil || !isGatewaysFault(cause) {
		return cause
	}
	ctx = context.WithoutCancel(ctx)
	s.log.WarnContext(ctx, "not carried out at the gateway yet", slog.String("kind", string(o.Kind)), slog.String("subject_id", o.Subject.String()),
		slog.String("gateway", o.Gateway), slog.Any("error", cause))
	o.CallTime = s.intents.CallTime()
	err := postgres.InTx(ctx, s.pool, func(tx pgx.Tx) error { return s.intents.OpenTx(ctx, tx, o) })
	var open *intent.ErrOpen
	if err != nil && !errors.As(err, &open) {
		return errors.Join(cause, err)
	}
	return s.intents.NotKnown(ctx, o.Ref, cause)
}

// isGatewaysFault leaves the errors of our own, such as the database's, to the job.
func isGatewaysFault(err error) bool {
	var rejected *payments.Rejected
	return errors.As(err, &rejected) || errors.Is(err, payments.ErrUnavailable) || errors.Is(err, payments.ErrOutcomeUnknown) ||
		errors.Is(err, payments.ErrGatewayMissing) || errors.Is(err, errRetryNotShown)
}

// underWay is what a look answers while another worker has the order.
func underWay(err error) (intent.Answer, error) {
	if errors.Is(err, errPauseUnderWay) || errors.Is(err, errDebitUnderWay) {
		return intent.Waiting, nil
	}
	return intent.Settled, err
}
