package payments

import (
	"context"
	"errors"
	"strings"

	"github.com/jackc/pgx/v5"

	"marquee/modules/payments/internal/paymentsdb"
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
	link, err := findLink(ctx, gateway, intent)
	if err != nil || link == nil {
		return err
	}
	// First the event waits for the invoice: one that is booked from now on finds it there,
	// one that was booked before is linked.
	err = s.db.ProcessedEventSubject(ctx, s.deps.Pool, paymentsdb.ProcessedEventSubjectParams{
		Gateway: string(GWB), EventID: eventID, Subject: link.invoice,
	})
	if err != nil {
		return err
	}
	return s.linkTx(ctx, s.deps.Pool, link)
}

// invoiceLink says which payment intent paid an invoice.
type invoiceLink struct{ intent, invoice string }

// findLink asks the gateway; nil when the intent is of no invoice, or of somebody
// else.
func findLink(ctx context.Context, gateway Gateway, intent string) (*invoiceLink, error) {
	invoice, err := gateway.InvoiceOf(ctx, intent)
	if errors.Is(err, ErrGatewayMissing) || err == nil && invoice == "" {
		return nil, nil //nolint:nilnil // nil is the answer: none
	}
	if err != nil {
		return nil, err
	}
	return &invoiceLink{intent: intent, invoice: invoice}, nil
}

// missingLink finds the invoice behind a refund or dispute of gateway B whose
// payment intent the ledger does not know.
func (s *Service) missingLink(ctx context.Context, gateway Adapter, e Event) (*invoiceLink, error) {
	if gateway.Name() != GWB || e.Refund == nil && e.Dispute == nil {
		return nil, nil //nolint:nilnil // nothing is missing
	}
	known, err := s.FindPayment(ctx, s.deps.Pool, GWB, e.paymentIDs()...)
	if err != nil || known != nil {
		return nil, err
	}
	for _, id := range e.paymentIDs() {
		if strings.HasPrefix(id, "pi_") {
			return findLink(ctx, gateway, id)
		}
	}
	return nil, nil //nolint:nilnil // nothing to ask for
}

// linkTx tells the ledger's row of an invoice its payment intent.
func (s *Service) linkTx(ctx context.Context, db postgres.DB, link *invoiceLink) error {
	if link == nil {
		return nil
	}
	_, err := s.db.PaymentLinkIntent(ctx, db, paymentsdb.PaymentLinkIntentParams{
		PaymentIntentID: &link.intent, InvoiceID: link.invoice, At: s.deps.Clock.Now(),
	})
	return err
}
