package payments

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/prometheus/client_golang/prometheus"

	"marquee/modules/payments/gateway"
	"marquee/modules/payments/ledger"
	"marquee/modules/payments/refund"
	"marquee/modules/payments/webhook"
	"marquee/platform/home"
	"marquee/platform/lookup"
	"marquee/platform/objectid"
	"marquee/platform/postgres"
	"marquee/platform/telemetry"
)

// What the rooms do for the modules above, one line each.

// KeepRefused writes what the calls themselves could not write, until ctx ends, and what
// waits then, tried again for as long as grace. A process that serves calls runs it, and
// ends it once none is under way.
func (s *Service) KeepRefused(ctx context.Context, grace time.Duration) {
	s.refusals.KeepRefused(ctx, grace)
}

// ConfirmEvent asks the gateway for what an event is about, and applies the event with its
// answer. What four checks do not show changes nothing, and the webhook's log says so; an
// answer that is not known is asked for again.
func (s *Service) ConfirmEvent(ctx context.Context, a webhook.ConfirmEventArgs) error {
	return s.webhooks.ConfirmEvent(ctx, a)
}

// Confirm asks the gateway once for what an event tells and does not prove, and applies what it
// shows.
func (s *Service) Confirm(ctx context.Context, c webhook.Confirmation) error {
	return s.webhooks.Confirm(ctx, c)
}

// FinishConfirmationTx gives an event the result of asking its gateway, by a job of its applier
// (Asked). An event that was not asked about, or has its result, keeps it.
func (s *Service) FinishConfirmationTx(ctx context.Context, tx pgx.Tx, gateway gateway.Name, eventID string,
	r gateway.Result,
) error {
	return s.webhooks.FinishConfirmationTx(ctx, tx, gateway, eventID, r)
}

// RefundByID is a refund with what its gateway answered, null while it has not, or
// once the log of it has been forgotten.
func (s *Service) RefundByID(ctx context.Context, id objectid.ID) (refund.Outcome, error) {
	return s.refunds.RefundByID(ctx, id)
}

// RefundFault words why a refund that an admin or customer asked for was not made, or
// may not have been (RefundPayment): 409 while another one of the payment is not
// answered, and once when the gateway turns out to have made it before; 422 REFUND_NOT_ALLOWED under a dispute, and
// when nothing is left; 500 REFUND_FAILED when the gateway refuses; 503 while it does not answer.
func (s *Service) RefundFault(ctx context.Context, err error) error {
	return s.refunds.RefundFault(ctx, err)
}

// Refused logs why a gateway did not do what was asked, and words it for people
// as FaultOf does. The gateway's text names internals, so it stays in the log.
func (s *Service) Refused(ctx context.Context, what string, err error) error {
	return s.refunds.Refused(ctx, what, err)
}

// RefundOpen says that the refund, which is not answered, keeps another one waiting:
// *refund.OpenError with the time of the next check.
func (s *Service) RefundOpen(ctx context.Context, db postgres.DB, r ledger.Refund) error {
	return s.refunds.RefundOpen(ctx, db, r)
}

// RefundPayment gives money back: what the gateway knows of the payment's refunds
// is taken into the ledger, the request is committed (with the Idempotency-Key of
// the context), the gateway asked, and the answer settled in the ledger, which the
// webhook's report of the same refund then leaves as it is. Applied, when not nil,
// runs in the transaction that settles the answer. Errors: *refund.OpenError while
// another refund of the payment is not answered; *RefundDisputedError, before anybody
// is asked; ErrRefundTooMuch; *Rejected or
// *Declined when the gateway refused (nothing was made); ErrUnavailable (nothing
// was made); ErrOutcomeUnknown, also of every error that nobody foresaw, when the
// gateway may have acted: it is asked about by job until it is known.
func (s *Service) RefundPayment(ctx context.Context, q refund.Request,
	applied func(ctx context.Context, tx pgx.Tx, r ledger.Refund) error,
) (refund.Outcome, error) {
	return s.refunds.RefundPayment(ctx, q, applied)
}

// ErasePersonalDataTx takes the person out of what the gateways reported of their
// payments. The ledger stays: it names nobody but the deleted customer's id.
func (s *Service) ErasePersonalDataTx(ctx context.Context, tx pgx.Tx, customerID objectid.ID) error {
	return s.log.ErasePersonalDataTx(ctx, tx, customerID)
}

// ForgetPersonTx has names, addresses and the like taken out of the logged
// webhooks that speak of one of the subjects: ids of subscriptions, orders,
// payments and customers, ours or a gateway's. What moved money, and can be
// applied again, stays. Two jobs do it: one now, one for what gateways still
// report of the end.
func (s *Service) ForgetPersonTx(ctx context.Context, tx pgx.Tx, subjects []string) error {
	return s.log.ForgetPersonTx(ctx, tx, subjects)
}

// LastCalls tells when each gateway last called with an event; one that is missing has not called for long.
func (s *Service) LastCalls(ctx context.Context, db postgres.DB) (map[gateway.Name]time.Time, error) {
	return s.log.LastCalls(ctx, db)
}

// Metrics are to be registered once a process; db is what the queries of the new ones among them use.
func (s *Service) Metrics(db postgres.DB) []prometheus.Collector {
	return append(s.webhooks.Metrics(db), s.log.Figures(db), s.reader.Figures(db),
		telemetry.Cached(s.intents.Health()), telemetry.Cached(s.unapplied.UnappliedMetrics()))
}

// Cases is the door to the list of money that gave nobody anything.
func (s *Service) Cases() Cases { return Cases{s.reader, s} }

// Comparison is the door to the comparison with the gateways.
func (s *Service) Comparison() Comparison { return Comparison{s.reader, s} }

// HomeSources are the figures that staff look at first.
func (s *Service) HomeSources() []home.Source {
	return []home.Source{
		ledger.HomeSource(ledger.Deps{Pool: s.deps.Pool, Clock: s.deps.Clock}), webhook.HomeSource(s.deps.Pool),
	}
}

// Finders are what staff find money and webhook calls by.
func (*Service) Finders() []lookup.Finder { return append(ledger.Finders(), webhook.Finder()) }
