package payments

import (
	"context"
	"errors"
	"strings"

	"github.com/jackc/pgx/v5"

	"marquee/modules/payments/internal/paymentsdb"
	"marquee/platform/objectid"
	"marquee/platform/postgres"
)

// FindPayment finds the ledger's row of a gateway payment by any of its ids:
// payment, invoice or payment intent. Nil when the ledger has none.
func (s *Service) FindPayment(ctx context.Context, db postgres.DB, gateway GatewayName, ids ...string) (*LedgerPayment, error) {
	known := []string{}
	for _, id := range ids {
		if id != "" {
			known = append(known, id)
		}
	}
	if len(known) == 0 {
		return nil, nil //nolint:nilnil // nil is the answer: no row
	}
	row, err := s.db.PaymentByGatewayID(ctx, db, paymentsdb.PaymentByGatewayIDParams{Gateway: string(gateway), Ids: known})
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, nil //nolint:nilnil // as above
	}
	if err != nil {
		return nil, err
	}
	return new(ledgerPayment(row)), nil
}

// knownPayment is the ledger's row of the payment that the event is about. Of
// settled payments there is none yet, or the applier finds it by recording.
func (s *Service) knownPayment(ctx context.Context, db postgres.DB, e Event) (*LedgerPayment, error) {
	if e.Kind == PaymentWasSettled {
		return nil, nil //nolint:nilnil // not asked for
	}
	return s.FindPayment(ctx, db, e.Gateway, e.paymentIDs()...)
}

func (e Event) paymentIDs() []string {
	ids := []string{paymentID(e.Payment)}
	if e.Payment != nil {
		ids = append(ids, e.Payment.PaymentIntentID)
	}
	if e.Refund != nil {
		ids = append(ids, e.Refund.PaymentID)
	}
	if e.Dispute != nil {
		ids = append(ids, e.Dispute.PaymentID)
	}
	return ids
}

// linkIntent helps a waiting refund or dispute of gateway B whose payment intent
// the ledger does not know, because its row is keyed by the invoice: the gateway
// is asked for the invoice, outside of any transaction.
func (s *Service) linkIntent(ctx context.Context, gateway Adapter, eventID string) error {
	if gateway.Name() != GWB {
		return nil
	}
	payload, err := s.db.ProcessedEventPayload(ctx, s.deps.Pool, paymentsdb.ProcessedEventPayloadParams{Gateway: string(GWB), EventID: eventID})
	if errors.Is(err, pgx.ErrNoRows) {
		return nil
	}
	if err != nil {
		return err
	}
	e, err := gateway.ReadEvent(payload)
	if err != nil || e.Refund == nil && e.Dispute == nil {
		return nil //nolint:nilerr // what cannot be read is told when it is applied
	}
	e.Gateway = GWB
	known, err := s.FindPayment(ctx, s.deps.Pool, GWB, e.paymentIDs()...)
	if err != nil || known != nil {
		return err
	}
	for _, intent := range e.paymentIDs() {
		if !strings.HasPrefix(intent, "pi_") {
			continue
		}
		if err := s.linkInvoice(ctx, gateway, eventID, intent); err != nil {
			return err
		}
	}
	return nil
}

func (s *Service) linkInvoice(ctx context.Context, gateway Gateway, eventID, intent string) error {
	invoice, err := gateway.InvoiceOf(ctx, intent)
	if errors.Is(err, ErrGatewayMissing) || err == nil && invoice == "" {
		return nil // of no invoice, or of somebody else
	}
	if err != nil {
		return err
	}
	_, err = s.db.PaymentLinkIntent(ctx, s.deps.Pool, paymentsdb.PaymentLinkIntentParams{
		PaymentIntentID: &intent, InvoiceID: invoice, At: s.deps.Clock.Now(),
	})
	if err != nil {
		return err
	}
	return s.db.ProcessedEventSubject(ctx, s.deps.Pool, paymentsdb.ProcessedEventSubjectParams{
		Gateway: string(GWB), EventID: eventID, Subject: invoice,
	})
}

// ApplyReported applies what CreatedSince told, as a webhook's event would be,
// in a transaction of its own. Nothing is logged: no gateway sent it.
func (s *Service) ApplyReported(ctx context.Context, e Event) (Result, error) {
	var result Result
	err := postgres.InTx(ctx, s.deps.Pool, func(tx pgx.Tx) (err error) {
		if e.LogID == "" {
			e.LogID = objectid.At(s.deps.Clock.Now())
		}
		result, err = s.applyTx(ctx, tx, e)
		if result.Unclaimed {
			result = unclaimed(result)
		}
		return err
	})
	return result, err
}
