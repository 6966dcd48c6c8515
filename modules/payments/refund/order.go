package refund

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/riverqueue/river"

	"marquee/modules/payments/gateway"
	"marquee/modules/payments/intent"
	"marquee/modules/payments/internal/paymentsdb"
	"marquee/modules/payments/ledger"
	"marquee/platform/audit"
	"marquee/platform/httpapi"
	"marquee/platform/idempotency"
	"marquee/platform/jobs"
	"marquee/platform/money"
	"marquee/platform/nullable"
	"marquee/platform/objectid"
)

// ErrTooMuch says that less than the amount is left of the payment, what is
// under way taken off.
var ErrTooMuch = errors.New("payments: more than what is left of the payment")

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
func (s *Refunds) RefundPayment(ctx context.Context, q Request,
	applied func(ctx context.Context, tx pgx.Tx, r ledger.Refund) error,
) (Outcome, error) {
	gw, err := s.deps.Gateways.Find(q.Payment.Gateway)
	if err != nil {
		return Outcome{}, err
	}
	call, err := s.commitRefund(ctx, gw, q)
	if err != nil {
		return Outcome{}, err
	}
	call.applied = applied
	call, outcome, err := s.Operation().Run(ctx, call)
	switch outcome := outcome.(type) {
	case intent.Succeeded[gateway.RemoteRefund]:
		return Outcome{Refund: call.refund, Response: outcome.Result.Response}, err
	case intent.Declined[gateway.RemoteRefund]:
		return Outcome{}, errors.Join(outcome.Cause, err)
	case intent.Refused[gateway.RemoteRefund]:
		return Outcome{}, errors.Join(outcome.Cause, err)
	case intent.NotKnown[gateway.RemoteRefund]:
		return Outcome{}, fmt.Errorf("%w: refund %s: %w", gateway.ErrOutcomeUnknown, call.refund.ID, outcome.Cause)
	case intent.Pending[gateway.RemoteRefund], intent.Missing[gateway.RemoteRefund], intent.Void[gateway.RemoteRefund]:
	} // which settleTx refuses
	return Outcome{}, err
}

// commitRefund writes the row that stands for the refund before anybody is asked.
// Two at once, also a dispute, pass one after the other by the lock on the payment's
// money: the second finds the first. Its intent excludes a second refund, too.
func (s *Refunds) commitRefund(ctx context.Context, gw gateway.Gateway, q Request) (refundCall, error) {
	if err := s.reader.NotDisputed(ctx, s.deps.Pool, q.Payment.Gateway, q.Payment.Payment.Amount,
		q.Payment.Names()...); err != nil {
		return refundCall{}, err
	}
	key, err := s.intentOf(ctx, gw, q.Payment)
	if err != nil {
		return refundCall{}, err
	}
	if err := s.compareRefunds(ctx, gw, key, q); err != nil {
		return refundCall{}, err
	}
	now := s.deps.Clock.Now()
	refund := ledger.Refund{
		ID: objectid.At(now), Gateway: q.Payment.Gateway, PaymentID: key, Purpose: q.Payment.Purpose,
		LocalID:    q.Payment.LocalID,
		CustomerID: q.Payment.CustomerID, Amount: q.Amount, Status: gateway.RefundStatusRequested, ByAdmin: true,
		EventID:   fmt.Sprintf("REFUND-%s-%d", q.Payment.LocalID, now.UnixMilli()),
		EventType: adminRefundType(q.Payment.Gateway),
		Reason:    q.Reason, Admin: q.Admin, AdminID: q.AdminID, RequestedAt: now,
	}
	c := refundCall{payment: q.Payment}
	err = s.Operation().Begin(ctx, &c, func(tx pgx.Tx) error {
		rows, err := ledger.LockRefundsTx(ctx, tx, s.ledger, refund.Gateway, refund.PaymentID)
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
		if err := ledger.InsertRefundTx(ctx, tx, s.ledger, refund); err != nil {
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
		c.refund = refund
		return s.cases.SyncRefundsTx(ctx, tx, refund.Gateway, refund.PaymentID, false)
	})
	var open *intent.ErrOpen
	if !errors.As(err, &open) {
		return c, err
	}
	first, err := s.db.RefundFind(ctx, s.deps.Pool, open.Intent.Subject)
	if err != nil {
		return refundCall{}, fmt.Errorf("read refund: %w", err)
	}
	return refundCall{}, s.RefundOpen(ctx, s.deps.Pool, ledger.RefundOf(first))
}

// unanswered is the row that was asked for here and whose call has no answer yet,
// nil without one.
func unanswered(rows []*ledger.Refund) *ledger.Refund {
	for _, row := range rows {
		if row.ByAdmin && row.Status == gateway.RefundStatusRequested {
			return row
		}
	}
	return nil
}

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
		return "", &gateway.Rejected{
			Code: "no_payment", Message: "the invoice " + p.Payment.ID + " was settled without a payment",
		}
	}
	_, err = s.db.PaymentLinkIntent(ctx, s.deps.Pool, paymentsdb.PaymentLinkIntentParams{
		Gateway: p.Gateway, PaymentIntentID: &paid.PaymentIntentID, InvoiceID: p.Payment.ID, At: s.deps.Clock.Now(),
	})
	return paid.PaymentIntentID, err
}

func adminRefundType(name gateway.Name) string {
	return "ADMIN.REFUND." + strings.ToUpper(string(name)) + "_REFUND"
}

// refundCall is a refund, what it is of, and what the request has asked for beside it.
type refundCall struct {
	refund  ledger.Refund
	payment gateway.LedgerPayment
	applied func(ctx context.Context, tx pgx.Tx, r ledger.Refund) error
}

// Operation is the refund at its gateway. Only when it is proved that nothing was made the call is
// made again; its refusal counts when the list of refunds shows nothing even then.
func (s *Refunds) Operation() *intent.Operation[refundCall, gateway.RemoteRefund] {
	return &intent.Operation[refundCall, gateway.RemoteRefund]{
		Kind: intent.Refund, Intents: s.deps.Intents, Committed: "refund.committed", Settling: "refund.settling",
		Opening: func(c refundCall) intent.Opening { return opening(c.refund, s.deps.Intents.CallTime()) },
		Row:     s.callOf,
		Steps: []intent.Step[refundCall, gateway.RemoteRefund]{
			{FaultPoint: "refund.answered", Call: s.call, Find: s.find, Again: s.enoughLeft},
		},
		SettleTx: s.settleTx,
		Settled:  func(ctx context.Context, c refundCall) error { return s.Notify(ctx, c.refund) },
	}
}

// opening is the intent of a request. Of one payment one is open at a time. callTime is 0
// for a request whose call was made long ago.
func opening(r ledger.Refund, callTime time.Duration) intent.Opening {
	return intent.Opening{
		Ref: ledger.IntentOf(r.ID), Customer: r.CustomerID, Gateway: r.Gateway, Excludes: "refund:" + r.PaymentID,
		CallTime: callTime, Begun: r.RequestedAt,
	}
}

// callOf reads a request whose answer was lost; one that is answered is followed.
func (s *Refunds) callOf(ctx context.Context, i intent.Intent) (c refundCall, over bool, err error) {
	row, err := s.db.RefundFind(ctx, s.deps.Pool, i.Subject)
	if err != nil {
		return c, false, fmt.Errorf("read refund: %w", err)
	}
	if c.refund = ledger.RefundOf(row); c.refund.Status != gateway.RefundStatusRequested {
		return c, true, s.Notify(ctx, c.refund)
	}
	payment, err := s.reader.FindPayment(ctx, s.deps.Pool, c.refund.Gateway, c.refund.PaymentID)
	if err != nil {
		return c, false, err
	}
	if payment == nil {
		return c, false, fmt.Errorf("payments: refund %s is of a payment that the ledger does not have", c.refund.ID)
	}
	c.payment = *payment
	return c, false, nil
}

func (c refundCall) terms() gateway.RefundTerms {
	return gateway.RefundTerms{
		RefundID: c.refund.ID, Amount: c.refund.Amount, Reason: c.refund.Reason, Admin: c.refund.Admin,
		RequestedAt: c.refund.RequestedAt,
		Payment:     gateway.PaymentRef{PaymentID: c.payment.Payment.ID, PaymentIntentID: c.payment.RefundKey()},
	}
}

func (s *Refunds) call(ctx context.Context, gw gateway.Gateway, c refundCall,
	_ gateway.RemoteRefund,
) (gateway.RemoteRefund, error) {
	remote, err := gw.Refund(ctx, c.terms())
	if err != nil {
		return remote, err
	}
	return remote, s.recordUnasked(ctx, c.refund, remote.Report)
}

func (s *Refunds) find(ctx context.Context, gw gateway.Gateway, c refundCall,
	_ gateway.RemoteRefund,
) (remote gateway.RemoteRefund, found bool, err error) {
	if remote, found, err = gw.FindRefund(ctx, c.terms()); err != nil || !found {
		return remote, found, err
	}
	return remote, true, s.recordUnasked(ctx, c.refund, remote.Report)
}

// enoughLeft has the call made once more, unless others have given back so much meanwhile
// that too little is left.
func (s *Refunds) enoughLeft(ctx context.Context, gw gateway.Gateway,
	c refundCall,
) (intent.Outcome[gateway.RemoteRefund], error) {
	all, err := gw.ListRefunds(ctx, gateway.PaymentRef{
		PaymentID: c.payment.Payment.ID, PaymentIntentID: c.refund.PaymentID,
	})
	if err != nil {
		return nil, err
	}
	if err := s.recordList(ctx, c.refund.PaymentID, c.payment, all); err != nil {
		return nil, err
	}
	rows, err := s.db.RefundListOfPayment(ctx, s.deps.Pool,
		paymentsdb.RefundListOfPaymentParams{Gateway: &c.payment.Gateway, PaymentRef: c.refund.PaymentID})
	if err != nil {
		return nil, err
	}
	left := c.payment.Payment.Amount
	for _, row := range rows {
		if r := ledger.RefundOf(row); r.Status != gateway.RefundStatusFailed {
			left -= r.Amount
		}
	}
	if left < 0 {
		return intent.Refused[gateway.RemoteRefund]{Cause: ErrTooMuch}, nil
	}
	return nil, nil
}

func (s *Refunds) settleTx(ctx context.Context, tx pgx.Tx, c *refundCall, outcome intent.Outcome[gateway.RemoteRefund],
	by intent.By,
) error {
	if _, err := ledger.LockRefundsTx(ctx, tx, s.ledger, c.refund.Gateway, c.refund.PaymentID); err != nil {
		return err
	}
	switch outcome := outcome.(type) {
	case intent.Succeeded[gateway.RemoteRefund]:
		return s.recordTx(ctx, tx, c, outcome.Result, by)
	case intent.Declined[gateway.RemoteRefund]:
		return s.failTx(ctx, tx, c, outcome.Cause, by)
	case intent.Refused[gateway.RemoteRefund]:
		return s.failTx(ctx, tx, c, outcome.Cause, by)
	case intent.Pending[gateway.RemoteRefund], intent.Missing[gateway.RemoteRefund], intent.Void[gateway.RemoteRefund],
		intent.NotKnown[gateway.RemoteRefund]:
	}
	return fmt.Errorf("payments: a refund cannot be %T", outcome)
}

// recordTx takes the gateway's answer into the ledger and logs the refund as a webhook
// (docs/contract/payments.md, Refunds).
func (s *Refunds) recordTx(ctx context.Context, tx pgx.Tx, c *refundCall, remote gateway.RemoteRefund,
	by intent.By,
) error {
	r, report := c.refund, remote.Report
	report.PaymentID, report.EventID, report.Type = r.PaymentID, r.EventID, r.EventType
	if err := s.deps.Intents.EndTx(ctx, tx, ledger.IntentOf(r.ID), intent.Succeeded[any]{},
		by); err != nil { // else the record ends it, as a report's
		return err
	}
	if err := s.queueTrackingTx(ctx, tx, r.ID); err != nil {
		return err
	}
	owner := gateway.Owner{Gateway: r.Gateway, Purpose: r.Purpose, LocalID: r.LocalID, CustomerID: r.CustomerID}
	_, err := s.ledger.RecordRefundTx(ctx, tx, ledger.RefundRecord{Owner: owner, Report: report})
	if err != nil {
		return err
	}
	row, err := s.db.RefundFind(ctx, tx, r.ID)
	if err != nil {
		return err
	}
	c.refund = ledger.RefundOf(row)
	if err := s.logRefundTx(ctx, tx, c.refund, remote); err != nil || c.applied == nil {
		return err
	}
	return c.applied(ctx, tx, c.refund)
}

// failTx marks a refund that certainly was not made, and has it followed.
func (s *Refunds) failTx(ctx context.Context, tx pgx.Tx, c *refundCall, why error, by intent.By) error {
	if by == intent.ByCheck {
		s.deps.Log.WarnContext(ctx, "refund came to nothing", slog.String("refund_id", c.refund.ID.String()),
			slog.Any("error", why))
	}
	failure := why.Error()
	switch {
	case errors.Is(why, gateway.ErrDisputed):
		failure = ledger.FailedDisputed
	case errors.Is(why, gateway.ErrUnavailable):
		failure = ledger.FailedUnasked + " " + failure
	}
	failed, err := ledger.FailRefundTx(ctx, tx, s.ledger, c.refund.ID, failure)
	if err != nil || !failed {
		return err // a report took it for done: then it is the gateway's own of the same amount
	}
	c.refund.Status = gateway.RefundStatusFailed
	if err := s.queueTrackingTx(ctx, tx, c.refund.ID); err != nil {
		return err
	}
	return s.cases.SyncRefundsTx(ctx, tx, c.refund.Gateway, c.refund.PaymentID, errors.Is(why, gateway.ErrUnavailable))
}

// auditRefundTx tells the audit trail what an admin wants back, at what was paid
// for; what became of it is in the list of refunds.
func auditRefundTx(ctx context.Context, tx pgx.Tx, r ledger.Refund) error {
	resource := map[gateway.Purpose]string{
		gateway.ForSubscription: "subscriptions", gateway.ForOrder: "ticket-orders",
		gateway.ForCustomer: "customers",
	}[r.Purpose]
	request := map[string]any{
		"id": r.ID, "payment_id": r.PaymentID, "amount_cents": int64(r.Amount), "reason": r.Reason,
	}
	return audit.RecordTx(ctx, tx, audit.Change{
		Resource: resource, RecordID: r.LocalID, Before: map[string]any{"refund": nil},
		After: map[string]any{"refund": request},
	})
}

// logRefundTx logs a refund once, as if the gateway had sent it.
func (s *Refunds) logRefundTx(ctx context.Context, tx pgx.Tx, r ledger.Refund, remote gateway.RemoteRefund) error {
	n, err := s.db.WebhookLogCountEvent(ctx, tx,
		paymentsdb.WebhookLogCountEventParams{Gateway: r.Gateway, EventID: &r.EventID})
	if err != nil || n > 0 {
		return err
	}
	payload, err := json.Marshal(map[string]any{
		"id": r.EventID, "type": r.EventType, string(r.Purpose) + "_id": r.LocalID, "payment_id": r.PaymentID,
		"refund_id": nullable.Ptr(r.GatewayRefundID),
		"amount":    int64(r.Amount), "reason": nullable.Ptr(r.Reason), "admin": nullable.Ptr(r.Admin),
		"admin_id": r.AdminID, "gateway_response": remote.Response,
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
		RequestID: nullable.Ptr(httpapi.RequestID(ctx)),
	})
}

// refundGrace is how long who settled a refund may take to follow it.
const refundGrace = 2 * time.Minute

// TrackRefundArgs has a refund followed whose process may have ended in between, and looks
// for one that is not answered.
type TrackRefundArgs struct {
	RefundID objectid.ID `json:"refund_id"`
}

// Kind names the job.
func (TrackRefundArgs) Kind() string { return "payments_refund_recover" }

func (s *Refunds) queueTrackingTx(ctx context.Context, tx pgx.Tx, id objectid.ID) error {
	return jobs.InsertTx(ctx, s.deps.Jobs, tx, TrackRefundArgs{RefundID: id}, &river.InsertOpts{
		Queue: jobs.QueueGateway, ScheduledAt: s.deps.Clock.Now().Add(refundGrace),
	})
}

// RefundByID is a refund with what its gateway answered, null while it has not, or
// once the log of it has been forgotten.
func (s *Refunds) RefundByID(ctx context.Context, id objectid.ID) (Outcome, error) {
	row, err := s.db.RefundFind(ctx, s.deps.Pool, id)
	if err != nil {
		return Outcome{}, fmt.Errorf("read refund: %w", err)
	}
	out := Outcome{Refund: ledger.RefundOf(row)}
	payload, err := s.db.WebhookLogGetPayload(ctx, s.deps.Pool,
		paymentsdb.WebhookLogGetPayloadParams{Gateway: out.Refund.Gateway, EventID: &row.EventID})
	if errors.Is(err, pgx.ErrNoRows) {
		return out, nil
	}
	if err != nil {
		return Outcome{}, err
	}
	var logged struct {
		Response json.RawMessage `json:"gateway_response"`
	}
	err = json.Unmarshal(payload, &logged)
	out.Response = logged.Response
	return out, err
}
