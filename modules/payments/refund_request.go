package payments

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/jackc/pgx/v5"

	"marquee/modules/payments/internal/paymentsdb"
	"marquee/platform/audit"
	"marquee/platform/faultpoint"
	"marquee/platform/money"
	"marquee/platform/objectid"
	"marquee/platform/postgres"
)

// ErrRefundTooMuch says that less than the amount is left of the payment, wishes
// that are under way taken off.
var ErrRefundTooMuch = errors.New("payments: more than what is left of the payment")

// RefundWish is a refund that somebody asks for.
type RefundWish struct {
	Payment LedgerPayment // settled; its purpose, local row and customer are the refund's
	Amount  money.Cents   // above 0; 0 stands for all that is left
	Reason  string
	Admin   string       // name shown in the history; "" for the platform itself
	AdminID *objectid.ID // nil for the platform itself
}

// RefundOutcome is a refund that the gateway took on.
type RefundOutcome struct {
	Refund   Refund
	Response json.RawMessage // gateway_response of the routes
}

// RefundPayment gives money back: the wish is committed, the gateway asked, and
// the answer settled in the ledger, which the webhook's report of the same
// refund then leaves as it is. Applied, when not nil, runs in the transaction
// that settles the answer. Errors: ErrRefundTooMuch; *Rejected or *Declined when
// the gateway refused (nothing was made); ErrUnavailable; ErrOutcomeUnknown when
// the gateway may have acted: a job asks it.
func (s *Service) RefundPayment(ctx context.Context, w RefundWish, applied func(ctx context.Context, tx pgx.Tx, r Refund) error) (RefundOutcome, error) {
	gateway, err := s.Gateway(w.Payment.Gateway)
	if err != nil {
		return RefundOutcome{}, err
	}
	refund, err := s.commitWish(ctx, gateway, w)
	if err != nil {
		return RefundOutcome{}, err
	}
	faultpoint.Hit("refund.committed")
	remote, err := gateway.Refund(ctx, w.Payment.refundTerms(refund))
	faultpoint.Hit("refund.answered")
	if err != nil {
		return RefundOutcome{}, errors.Join(err, s.wishRefused(context.WithoutCancel(ctx), refund, err))
	}
	refund, err = s.settleWish(context.WithoutCancel(ctx), refund, remote, applied)
	return RefundOutcome{Refund: refund, Response: remote.Response}, err
}

func (p LedgerPayment) refundTerms(r Refund) RefundTerms {
	return RefundTerms{
		RefundID: r.ID, Amount: r.Amount, Reason: r.Reason, Admin: r.Admin, AskedAt: r.RequestedAt,
		Payment: PaymentRef{PaymentID: p.Payment.ID, PaymentIntentID: p.refundKey()},
	}
}

// refundKey is the payment's id among refunds: at gateway B the payment intent,
// "" while the ledger does not know it.
func (p LedgerPayment) refundKey() string {
	if p.Gateway == GWA {
		return p.Payment.ID
	}
	if p.Payment.PaymentIntentID == "" && p.Payment.InvoiceID == "" {
		return p.Payment.ID
	}
	return p.Payment.PaymentIntentID
}

// commitWish writes the row that stands for the refund before anybody is asked.
func (s *Service) commitWish(ctx context.Context, gateway Gateway, w RefundWish) (Refund, error) {
	key, err := s.intentOf(ctx, gateway, w.Payment)
	if err != nil {
		return Refund{}, err
	}
	now := s.deps.Clock.Now()
	refund := Refund{
		ID: objectid.At(now), Gateway: w.Payment.Gateway, PaymentID: key, Purpose: w.Payment.Purpose, LocalID: w.Payment.LocalID,
		CustomerID: w.Payment.CustomerID, Amount: w.Amount, Status: RefundRequested, ByAdmin: true,
		EventID: fmt.Sprintf("REFUND-%s-%d", w.Payment.LocalID, now.UnixMilli()), EventType: adminRefundType(w.Payment.Gateway),
		Reason: w.Reason, Admin: w.Admin, AdminID: w.AdminID, RequestedAt: now,
	}
	err = postgres.InTx(ctx, s.deps.Pool, func(tx pgx.Tx) error {
		rows, err := s.lockRefundsTx(ctx, tx, refund.Gateway, refund.PaymentID)
		if err != nil {
			return err
		}
		left := w.Payment.Payment.Amount
		for _, row := range rows {
			if row.Status != RefundFailed {
				left -= row.Amount
			}
		}
		if refund.Amount == 0 {
			refund.Amount = left
		}
		if refund.Amount <= 0 || refund.Amount > left {
			return ErrRefundTooMuch
		}
		if err := s.insertWishTx(ctx, tx, refund); err != nil {
			return err
		}
		if err := auditWishTx(ctx, tx, refund); err != nil {
			return err
		}
		if err := s.followUnappliedTx(ctx, tx, refund.Gateway, refund.PaymentID, false); err != nil {
			return err
		}
		return s.insertRefundRecoveryTx(ctx, tx, refund.ID)
	})
	return refund, err
}

// intentOf is the payment's id among refunds. A ledger row keyed by its invoice
// learns the payment intent from the gateway.
func (s *Service) intentOf(ctx context.Context, gateway Gateway, p LedgerPayment) (string, error) {
	if key := p.refundKey(); key != "" {
		return key, nil
	}
	paid, err := gateway.ReadPayment(ctx, p.Payment.ID, "") // the ledger may count it for another row than it was made for
	if err != nil {
		return "", err
	}
	if paid.PaymentIntentID == "" {
		return "", &Rejected{Code: "no_payment", Message: "the invoice " + p.Payment.ID + " was settled without a payment"}
	}
	_, err = s.db.PaymentLinkIntent(ctx, s.deps.Pool, paymentsdb.PaymentLinkIntentParams{
		PaymentIntentID: &paid.PaymentIntentID, InvoiceID: p.Payment.ID, At: s.deps.Clock.Now(),
	})
	return paid.PaymentIntentID, err
}

func adminRefundType(gateway GatewayName) string {
	if gateway == GWA {
		return "ADMIN.REFUND.GWA_REFUND"
	}
	return "ADMIN.REFUND.GWB_REFUND"
}

func (s *Service) insertWishTx(ctx context.Context, tx pgx.Tx, r Refund) error {
	return s.db.RefundInsert(ctx, tx, paymentsdb.RefundInsertParams{
		ID: r.ID, Gateway: string(r.Gateway), PaymentRef: r.PaymentID, Purpose: string(r.Purpose), LocalID: r.LocalID, CustomerID: r.CustomerID,
		AmountCents: int64(r.Amount), Status: string(r.Status), Source: sourceAdmin, EventID: r.EventID, EventType: r.EventType,
		Reason: filled(r.Reason), Admin: filled(r.Admin), AdminID: r.AdminID, RequestedAt: r.RequestedAt, At: r.RequestedAt,
	})
}

// auditWishTx tells the audit trail what an admin wants back, at what was paid
// for; what became of it is in the list of refunds.
func auditWishTx(ctx context.Context, tx pgx.Tx, r Refund) error {
	resource := "subscriptions"
	if r.Purpose == ForOrder {
		resource = "ticket-orders"
	}
	wish := map[string]any{"id": r.ID, "payment_id": r.PaymentID, "amount_cents": int64(r.Amount), "reason": r.Reason}
	return audit.RecordTx(ctx, tx, audit.Change{
		Resource: resource, RecordID: r.LocalID, Before: map[string]any{"refund": nil}, After: map[string]any{"refund": wish},
	})
}

// wishRefused marks a refund that certainly was not made; one that may have been
// made waits for the job.
func (s *Service) wishRefused(ctx context.Context, r Refund, why error) error {
	if errors.Is(why, ErrOutcomeUnknown) {
		return nil
	}
	return postgres.InTx(ctx, s.deps.Pool, func(tx pgx.Tx) error {
		if _, err := s.lockRefundsTx(ctx, tx, r.Gateway, r.PaymentID); err != nil {
			return err
		}
		now, err := s.db.RefundFind(ctx, tx, r.ID)
		if err != nil || now.Status != string(RefundRequested) {
			return err // a report took it for done: then it is the gateway's own of the same amount
		}
		err = s.db.RefundUpdate(ctx, tx, paymentsdb.RefundUpdateParams{
			ID: r.ID, AmountCents: now.AmountCents, Status: string(RefundFailed), Failure: filled(why.Error()), At: s.deps.Clock.Now(),
		})
		if err != nil {
			return err
		}
		return s.followUnappliedTx(ctx, tx, r.Gateway, r.PaymentID, errors.Is(why, ErrUnavailable))
	})
}

// settleWish takes the gateway's answer into the ledger and logs the refund as a
// webhook (specification, Admin subscription management).
func (s *Service) settleWish(ctx context.Context, r Refund, remote RemoteRefund, applied func(context.Context, pgx.Tx, Refund) error) (Refund, error) {
	report := remote.Report
	report.PaymentID, report.EventID, report.Type = r.PaymentID, r.EventID, r.EventType
	err := postgres.InTx(ctx, s.deps.Pool, func(tx pgx.Tx) error {
		_, err := s.RecordRefundTx(ctx, tx, RefundRecord{
			Gateway: r.Gateway, Purpose: r.Purpose, LocalID: r.LocalID, CustomerID: r.CustomerID, Report: report,
		})
		if err != nil {
			return err
		}
		row, err := s.db.RefundFind(ctx, tx, r.ID)
		if err != nil {
			return err
		}
		r = refundOf(row)
		if err := s.logRefundTx(ctx, tx, r, remote); err != nil || applied == nil {
			return err
		}
		return applied(ctx, tx, r)
	})
	return r, err
}

// logRefundTx logs a refund once, as if the gateway had sent it.
func (s *Service) logRefundTx(ctx context.Context, tx pgx.Tx, r Refund, remote RemoteRefund) error {
	n, err := s.db.WebhookLogCountEvent(ctx, tx, paymentsdb.WebhookLogCountEventParams{Gateway: string(r.Gateway), EventID: &r.EventID})
	if err != nil || n > 0 {
		return err
	}
	payload, err := json.Marshal(map[string]any{
		"id": r.EventID, "type": r.EventType, string(r.Purpose) + "_id": r.LocalID, "payment_id": r.PaymentID, "refund_id": filled(r.GatewayRefundID),
		"amount": int64(r.Amount), "reason": filled(r.Reason), "admin": filled(r.Admin), "admin_id": r.AdminID, "gateway_response": remote.Response,
	})
	if err != nil {
		return err
	}
	result := Result{Status: ResultApplied}
	if r.Purpose == ForSubscription {
		result.SubscriptionID = &r.LocalID
	}
	raw, err := json.Marshal(result)
	if err != nil {
		return err
	}
	now := s.deps.Clock.Now()
	return s.db.WebhookLogInsert(ctx, tx, paymentsdb.WebhookLogInsertParams{
		ID: objectid.At(now), Gateway: string(r.Gateway), EventID: &r.EventID, EventType: &r.EventType, Payload: payload,
		SignatureValid: true, Processed: true, Result: raw, ReceivedAt: now, ProcessedAt: &now,
	})
}

// refundGrace is how long an answer may be on its way before the job asks.
const refundGrace = 2 * time.Minute

// recoverRefund finds out what became of a refund whose answer was lost: the
// gateway is asked, and asked again for the refund only when it knows nothing of
// it.
func (s *Service) recoverRefund(ctx context.Context, id objectid.ID) error {
	row, err := s.db.RefundFind(ctx, s.deps.Pool, id)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil
	}
	if err != nil {
		return err
	}
	refund := refundOf(row)
	if refund.Status != RefundRequested { // who asked may have died before he followed it
		return s.followRefund(ctx, refund)
	}
	payment, err := s.FindPayment(ctx, s.deps.Pool, refund.Gateway, refund.PaymentID)
	if err != nil {
		return err
	}
	if payment == nil {
		return fmt.Errorf("payments: refund %s is of a payment that the ledger does not have", id)
	}
	gateway, err := s.Gateway(refund.Gateway)
	if err != nil {
		return err
	}
	remote, err := gateway.Refund(ctx, payment.refundTerms(refund))
	if err != nil {
		s.deps.Log.WarnContext(ctx, "refund not recovered", slog.String("refund_id", id.String()), slog.Any("error", err))
		if errors.Is(err, ErrUnavailable) || errors.Is(err, ErrOutcomeUnknown) {
			return err // the job comes again
		}
		return s.wishRefused(ctx, refund, err)
	}
	if refund, err = s.settleWish(ctx, refund, remote, nil); err != nil {
		return err
	}
	return s.followRefund(ctx, refund)
}

func (s *Service) followRefund(ctx context.Context, r Refund) error {
	for _, a := range s.appliers {
		if follower, ok := a.(RefundFollower); ok {
			if err := follower.FollowRefund(ctx, r); err != nil {
				return fmt.Errorf("follow refund %s: %w", r.ID, err)
			}
		}
	}
	return nil
}
