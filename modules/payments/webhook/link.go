package webhook

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/riverqueue/river"

	"marquee/modules/payments/gateway"
	"marquee/modules/payments/internal/paymentsdb"
	"marquee/modules/payments/ledger"
	"marquee/platform/postgres"
)

// linkIntent helps a waiting refund or dispute of gateway B whose payment intent
// the ledger does not know, because its row is keyed by the invoice: the gateway
// is asked for the invoice, outside of any transaction.
func (s *Webhooks) linkIntent(ctx context.Context, gw gateway.Adapter, eventID string) error {
	if !gw.Name().Traits().Invoices {
		return nil
	}
	payload, err := s.db.ProcessedEventGetPayload(ctx, s.deps.Pool,
		paymentsdb.ProcessedEventGetPayloadParams{Gateway: gw.Name(), EventID: eventID})
	if errors.Is(err, pgx.ErrNoRows) {
		return nil
	}
	if err != nil {
		return err
	}
	e, err := gw.ReadEvent(payload)
	if err != nil || !e.IsTakenBack() {
		return nil //nolint:nilerr // applying it reports what cannot be read
	}
	e.Gateway = gw.Name()
	known, err := s.reader.FindPayment(ctx, s.deps.Pool, gw.Name(), e.PaymentIDs()...)
	if err != nil || known != nil {
		return err
	}
	for _, intent := range e.PaymentIDs() {
		if !strings.HasPrefix(intent, "pi_") {
			continue
		}
		if err := s.linkInvoice(ctx, gw, eventID, intent); err != nil {
			return err
		}
	}
	return nil
}

func (s *Webhooks) linkInvoice(ctx context.Context, gw gateway.Gateway, eventID, intent string) error {
	link, err := findLink(ctx, gw, intent)
	if err != nil || link == nil {
		return err
	}
	// First the event waits for the invoice: one that is booked from now on finds it there,
	// one that was booked before is linked. One that is being booked meanwhile may have looked
	// for events before this one waited, and be committed after it was to be linked: for it
	// there is a later check.
	err = postgres.InTx(ctx, s.deps.Pool, func(tx pgx.Tx) error {
		n, err := s.db.ProcessedEventAddSubject(ctx, tx, paymentsdb.ProcessedEventAddSubjectParams{
			Gateway: gw.Name(), EventID: eventID, Subject: link.invoice,
		})
		if err != nil || n == 0 {
			return err
		}
		_, err = s.deps.Jobs.InsertTx(ctx, tx,
			ledger.ReplayArgs{Gateway: gw.Name(), Subjects: []string{link.invoice}},
			&river.InsertOpts{ScheduledAt: s.deps.Clock.Now().Add(bookingTime)})
		return err
	})
	if err != nil {
		return err
	}
	return s.LinkTx(ctx, s.deps.Pool, link)
}

// bookingTime is far longer than a transaction that books a payment takes.
const bookingTime = time.Minute

// InvoiceLink says which payment intent paid an invoice.
type InvoiceLink struct {
	gateway         gateway.Name
	intent, invoice string
}

// findLink asks the gateway; nil when the intent is of no invoice, or of somebody
// else.
func findLink(ctx context.Context, gw gateway.Gateway, intent string) (*InvoiceLink, error) {
	invoice, err := gw.InvoiceOf(ctx, intent)
	if errors.Is(err, gateway.ErrMissing) || err == nil && invoice == "" {
		return nil, nil //nolint:nilnil // nil is the answer: none
	}
	if err != nil {
		return nil, err
	}
	return &InvoiceLink{gateway: gw.Name(), intent: intent, invoice: invoice}, nil
}

// MissingLink finds the invoice behind a refund or dispute of gateway B whose
// payment intent the ledger does not know.
func (s *Webhooks) MissingLink(ctx context.Context, gw gateway.Adapter, e gateway.Event) (*InvoiceLink, error) {
	if !gw.Name().Traits().Invoices || !e.IsTakenBack() {
		return nil, nil //nolint:nilnil // nothing is missing
	}
	known, err := s.reader.FindPayment(ctx, s.deps.Pool, gw.Name(), e.PaymentIDs()...)
	if err != nil || known != nil {
		return nil, err
	}
	for _, id := range e.PaymentIDs() {
		if strings.HasPrefix(id, "pi_") {
			return findLink(ctx, gw, id)
		}
	}
	return nil, nil //nolint:nilnil // nothing to ask for
}

// LinkTx tells the ledger's row of an invoice its payment intent.
func (s *Webhooks) LinkTx(ctx context.Context, db postgres.DB, link *InvoiceLink) error {
	if link == nil {
		return nil
	}
	_, err := s.db.PaymentLinkIntent(ctx, db, paymentsdb.PaymentLinkIntentParams{
		Gateway: link.gateway, PaymentIntentID: &link.intent, InvoiceID: link.invoice, At: s.deps.Clock.Now(),
	})
	return err
}
