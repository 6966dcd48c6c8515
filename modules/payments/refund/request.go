package refund

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"marquee/modules/payments/gateway"
	"marquee/modules/payments/intent"
	"marquee/modules/payments/internal/paymentsdb"
	"marquee/modules/payments/ledger"
	"marquee/platform/audit"
	"marquee/platform/fault"
	"marquee/platform/idempotency"
	"marquee/platform/money"
	"marquee/platform/objectid"
	"marquee/platform/postgres"
)

// ErrTooMuch says that less than the amount is left of the payment, what is
// under way taken off.
var ErrTooMuch = errors.New("payments: more than what is left of the payment")

// OpenError says that a refund of the payment is requested and not answered:
// until it is, nobody knows what is left.
type OpenError struct {
	Refund   ledger.Refund
	NextLook *time.Time // when its gateway is asked next
}

// Error implements error.
func (e *OpenError) Error() string {
	return "payments: refund " + e.Refund.ID.String() + " of the payment is not answered yet"
}

// Fault words it for people, with the name of the open one.
func (e *OpenError) Fault() error {
	next := "soon"
	if e.NextLook != nil {
		next = "at " + e.NextLook.UTC().Format(time.RFC3339)
	}
	return fault.Conflict("Refund %s of R$ %s of this payment is not answered by the gateway yet, which is asked again %s. Wait until the list of refunds says what became of it.",
		e.Refund.ID, e.Refund.Amount, next).WithCause(e)
}

// RefundOpen says that the refund, which is not answered, keeps another one waiting:
// *OpenError with the time of the next look.
func (s *Refunds) RefundOpen(ctx context.Context, db postgres.DB, r ledger.Refund) error {
	open, ok, err := s.deps.Intents.OpenOf(ctx, db, r.ID)
	if err != nil {
		return err
	}
	e := &OpenError{Refund: r}
	if ok {
		e.NextLook = &open.NextLook
	}
	return e
}

// Request is a refund that somebody asks for.
type Request struct {
	Payment gateway.LedgerPayment // settled; its purpose, local row and customer are the refund's
	Amount  money.Cents           // above 0; 0 stands for all that is left
	Reason  string
	Admin   string       // name shown in the history; "" for the platform itself
	AdminID *objectid.ID // nil for the platform itself
	// Requested, when not nil, runs in the transaction that commits the request, before
	// the gateway is asked: its error keeps the refund from being made, and is returned.
	// The payment's money is locked.
	Requested func(ctx context.Context, tx pgx.Tx, r ledger.Refund) error
}

// Outcome is a refund that the gateway took on.
type Outcome struct {
	Refund   ledger.Refund
	Response json.RawMessage // gateway_response of the routes
}

// RefundPayment gives money back: what the gateway knows of the payment's refunds
// is taken into the ledger, the request is committed (with the Idempotency-Key of
// the context), the gateway asked, and the answer settled in the ledger, which the
// webhook's report of the same refund then leaves as it is. Applied, when not nil,
// runs in the transaction that settles the answer. Errors: *OpenError while
// another refund of the payment is not answered; *RefundDisputedError, before anybody
// is asked; ErrTooMuch; *Rejected or
// *Declined when the gateway refused (nothing was made); ErrUnavailable (nothing
// was made); ErrOutcomeUnknown, also of every error that nobody foresaw, when the
// gateway may have acted: it is asked about by job until it is known.
func (s *Refunds) RefundPayment(ctx context.Context, q Request, applied func(ctx context.Context, tx pgx.Tx, r ledger.Refund) error) (Outcome, error) {
	gw, err := s.deps.Gateways.Find(q.Payment.Gateway)
	if err != nil {
		return Outcome{}, err
	}
	order, err := s.commitRefund(ctx, gw, q)
	if err != nil {
		return Outcome{}, err
	}
	order.applied = applied
	order, outcome, err := s.Order().Run(ctx, order)
	switch outcome := outcome.(type) {
	case intent.Succeeded[gateway.RemoteRefund]:
		return Outcome{Refund: order.refund, Response: outcome.Answer.Response}, err
	case intent.Declined[gateway.RemoteRefund]:
		return Outcome{}, errors.Join(outcome.Cause, err)
	case intent.Refused[gateway.RemoteRefund]:
		return Outcome{}, errors.Join(outcome.Cause, err)
	case intent.NotKnown[gateway.RemoteRefund]:
		return Outcome{}, fmt.Errorf("%w: refund %s: %w", gateway.ErrOutcomeUnknown, order.refund.ID, outcome.Cause)
	}
	return Outcome{}, err
}

// commitRefund writes the row that stands for the refund before anybody is asked.
// Two at once, also a dispute, pass one after the other by the lock on the payment's
// money: the second finds the first. Its intent excludes a second refund, too.
func (s *Refunds) commitRefund(ctx context.Context, gw gateway.Gateway, q Request) (order, error) {
	if err := s.reader.NotDisputed(ctx, s.deps.Pool, q.Payment.Gateway, q.Payment.Payment.Amount, q.Payment.Names()...); err != nil {
		return order{}, err
	}
	key, err := s.intentOf(ctx, gw, q.Payment)
	if err != nil {
		return order{}, err
	}
	if err := s.compareRefunds(ctx, gw, key, q); err != nil {
		return order{}, err
	}
	now := s.deps.Clock.Now()
	refund := ledger.Refund{
		ID: objectid.At(now), Gateway: q.Payment.Gateway, PaymentID: key, Purpose: q.Payment.Purpose, LocalID: q.Payment.LocalID,
		CustomerID: q.Payment.CustomerID, Amount: q.Amount, Status: gateway.RefundRequested, ByAdmin: true,
		EventID: fmt.Sprintf("REFUND-%s-%d", q.Payment.LocalID, now.UnixMilli()), EventType: adminRefundType(q.Payment.Gateway),
		Reason: q.Reason, Admin: q.Admin, AdminID: q.AdminID, RequestedAt: now,
	}
	o := order{payment: q.Payment}
	err = s.Order().Begin(ctx, &o, func(tx pgx.Tx) error {
		rows, err := s.ledger.LockRefundsTx(ctx, tx, refund.Gateway, refund.PaymentID)
		if err != nil {
			return err
		}
		if open := unanswered(rows); open != nil {
			return s.RefundOpen(ctx, tx, *open)
		}
		names := append(q.Payment.Names(), refund.PaymentID)
		if err := s.reader.NotDisputed(ctx, tx, refund.Gateway, q.Payment.Payment.Amount, names...); err != nil {
			return err // since it was asked first, or by a name that was not known then
		}
		lost, err := s.reader.LostOf(ctx, tx, refund.Gateway, names...)
		if err != nil {
			return err
		}
		left := ledger.LeftOf(q.Payment.Payment.Amount, rows) - lost
		if refund.Amount == 0 {
			refund.Amount = left
		}
		if refund.Amount <= 0 || refund.Amount > left {
			return ErrTooMuch
		}
		if err := s.ledger.InsertRefundTx(ctx, tx, refund); err != nil {
			return err
		}
		if q.Requested != nil {
			if err := q.Requested(ctx, tx, refund); err != nil {
				return err
			}
		}
		if err := auditRefundTx(ctx, tx, refund); err != nil {
			return err
		}
		if err := idempotency.AttemptOf(ctx).BindTx(ctx, tx, refund.ID); err != nil {
			return err
		}
		o.refund = refund
		return s.cases.FollowTx(ctx, tx, refund.Gateway, refund.PaymentID, false)
	})
	var open *intent.ErrOpen
	if !errors.As(err, &open) {
		return o, err
	}
	first, err := s.db.RefundFind(ctx, s.deps.Pool, open.Intent.Subject)
	if err != nil {
		return order{}, fmt.Errorf("read refund: %w", err)
	}
	return order{}, s.RefundOpen(ctx, s.deps.Pool, ledger.RefundOf(first))
}

// unanswered is the row that was asked for here and whose call has no answer yet,
// nil without one.
func unanswered(rows []*ledger.Refund) *ledger.Refund {
	for _, row := range rows {
		if row.ByAdmin && row.Status == gateway.RefundRequested {
			return row
		}
	}
	return nil
}

// compareRefunds takes the gateway's own list of a payment's refunds into the
// ledger: what no row of ours explains, such as a refund at its console, is
// recorded, and lowers what is left. While a request is open nothing is asked.
// Errors: *FoundError when what was recorded may be what an admin asks for.
func (s *Refunds) compareRefunds(ctx context.Context, gw gateway.Gateway, key string, q Request) error {
	p := q.Payment
	before, err := s.reader.RefundsOfPayment(ctx, s.deps.Pool, p.Gateway, key)
	if err != nil {
		return err
	}
	if open := unanswered(before); open != nil {
		return s.RefundOpen(ctx, s.deps.Pool, *open)
	}
	all, err := gw.ListRefunds(ctx, gateway.PaymentRef{PaymentID: p.Payment.ID, PaymentIntentID: key})
	if err != nil {
		return err
	}
	if err := s.recordList(ctx, key, p, all); err != nil || len(all) == 0 || q.AdminID == nil && q.Admin == "" {
		return err // the platform asks for what is left, which is less now
	}
	after, err := s.reader.RefundsOfPayment(ctx, s.deps.Pool, p.Gateway, key)
	if err != nil {
		return err
	}
	if found := foundRefunds(before, after, all, q.Amount); len(found) > 0 {
		idempotency.AttemptOf(ctx).KeepOpen() // the request made again goes through, by the same key, too
		return &FoundError{Refunds: found}
	}
	return nil
}

// recordList records what the gateway lists, and has it do what its events would have
// done: of a PIX, what nobody here asked for was taken back by the payer's bank.
func (s *Refunds) recordList(ctx context.Context, key string, p gateway.LedgerPayment, all []gateway.RemoteRefund) error {
	if len(all) == 0 {
		return nil
	}
	return s.recordReport(ctx, key, p, listReport(all))
}

func (s *Refunds) recordReport(ctx context.Context, key string, p gateway.LedgerPayment, report gateway.RefundReport) error {
	now := s.deps.Clock.Now()
	report.PaymentID, report.Type = key, refundSeenType
	report.EventID = fmt.Sprintf("REFUND-%s-%d", p.LocalID, now.UnixMilli())
	return postgres.InTx(ctx, s.deps.Pool, func(tx pgx.Tx) error {
		result, err := s.webhooks.ApplyTx(ctx, tx, gateway.Event{
			Gateway: p.Gateway, Type: gateway.Reconciled, CreatedAt: now, LogID: objectid.At(now), Payload: gateway.RefundChange{Status: gateway.RefundDone, Report: report},
		})
		if err != nil || !result.Unclaimed {
			return err
		}
		_, err = s.ledger.RecordRefundTx(ctx, tx, ledger.RefundRecord{ // nobody owns the payment: the ledger does
			Gateway: p.Gateway, Purpose: p.Purpose, LocalID: p.LocalID, CustomerID: p.CustomerID, Report: report, Payment: &p.Payment,
		})
		return err
	})
}

// recordUnasked records first what an answer lists beside the refund that it is of: it
// came since the gateway's list was compared, and is no refund of ours.
func (s *Refunds) recordUnasked(ctx context.Context, r ledger.Refund, report gateway.RefundReport) error {
	beside := func(one gateway.SingleRefund) bool { return one.RefundID != r.ID && one.Status != gateway.RefundFailed }
	if !report.Listed || !slices.ContainsFunc(report.Singles, beside) {
		return nil
	}
	p, err := s.reader.FindPayment(ctx, s.deps.Pool, r.Gateway, r.PaymentID)
	if err == nil && p != nil {
		err = s.recordReport(ctx, r.PaymentID, *p, report)
	}
	if err != nil {
		return fmt.Errorf("record what was given back beside refund %s: %w", r.ID, err)
	}
	return nil
}

// listReport is what a list of a payment's refunds, newest first, says of all.
func listReport(all []gateway.RemoteRefund) gateway.RefundReport {
	report := all[0].Report
	if report.Listed {
		return report
	}
	report.Singles = nil
	for _, r := range slices.Backward(all) {
		report.Singles = append(report.Singles, r.Report.Singles...)
	}
	return report
}

// refundSeenType is the event_type of a refund that nobody here asked for and that
// was found in its gateway's list.
const refundSeenType = "GATEWAY.REFUND.LISTED"

// intentOf is the payment's id among refunds. A ledger row keyed by its invoice
// learns the payment intent from the gateway.
func (s *Refunds) intentOf(ctx context.Context, gw gateway.Gateway, p gateway.LedgerPayment) (string, error) {
	if key := p.RefundKey(); key != "" {
		return key, nil
	}
	paid, err := gw.ReadPayment(ctx, p.Payment.ID, "") // the ledger may count it for another row than it was made for
	if err != nil {
		return "", err
	}
	if paid.PaymentIntentID == "" {
		return "", &gateway.Rejected{Code: "no_payment", Message: "the invoice " + p.Payment.ID + " was settled without a payment"}
	}
	_, err = s.db.PaymentLinkIntent(ctx, s.deps.Pool, paymentsdb.PaymentLinkIntentParams{
		PaymentIntentID: &paid.PaymentIntentID, InvoiceID: p.Payment.ID, At: s.deps.Clock.Now(),
	})
	return paid.PaymentIntentID, err
}

func adminRefundType(name gateway.Name) string {
	return "ADMIN.REFUND." + strings.ToUpper(string(name)) + "_REFUND"
}

// auditRefundTx tells the audit trail what an admin wants back, at what was paid
// for; what became of it is in the list of refunds.
func auditRefundTx(ctx context.Context, tx pgx.Tx, r ledger.Refund) error {
	resource := map[gateway.Purpose]string{gateway.ForSubscription: "subscriptions", gateway.ForOrder: "ticket-orders", gateway.ForCustomer: "customers"}[r.Purpose]
	asked := map[string]any{"id": r.ID, "payment_id": r.PaymentID, "amount_cents": int64(r.Amount), "reason": r.Reason}
	return audit.RecordTx(ctx, tx, audit.Change{
		Resource: resource, RecordID: r.LocalID, Before: map[string]any{"refund": nil}, After: map[string]any{"refund": asked},
	})
}

// logRefundTx logs a refund once, as if the gateway had sent it.
func (s *Refunds) logRefundTx(ctx context.Context, tx pgx.Tx, r ledger.Refund, remote gateway.RemoteRefund) error {
	n, err := s.db.WebhookLogCountEvent(ctx, tx, paymentsdb.WebhookLogCountEventParams{Gateway: r.Gateway, EventID: &r.EventID})
	if err != nil || n > 0 {
		return err
	}
	payload, err := json.Marshal(map[string]any{
		"id": r.EventID, "type": r.EventType, string(r.Purpose) + "_id": r.LocalID, "payment_id": r.PaymentID, "refund_id": ledger.Filled(r.GatewayRefundID),
		"amount": int64(r.Amount), "reason": ledger.Filled(r.Reason), "admin": ledger.Filled(r.Admin), "admin_id": r.AdminID, "gateway_response": remote.Response,
	})
	if err != nil {
		return err
	}
	result := gateway.Result{Status: gateway.ResultApplied}
	if r.Purpose == gateway.ForSubscription {
		result.SubscriptionID = &r.LocalID
	}
	raw, err := json.Marshal(result)
	if err != nil {
		return err
	}
	now := s.deps.Clock.Now()
	return s.db.WebhookLogInsert(ctx, tx, paymentsdb.WebhookLogInsertParams{
		ID: objectid.At(now), Gateway: r.Gateway, EventID: &r.EventID, EventType: &r.EventType, Payload: payload,
		SignatureValid: true, Processed: true, Result: raw, ReceivedAt: now, ProcessedAt: &now,
	})
}
