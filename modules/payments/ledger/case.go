package ledger

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/riverqueue/river"

	"marquee/modules/payments/gateway"
	"marquee/modules/payments/internal/paymentsdb"
	"marquee/modules/payments/state"
	"marquee/platform/jobs"
	"marquee/platform/money"
	"marquee/platform/nullable"
	"marquee/platform/objectid"
	"marquee/platform/postgres"
	"marquee/platform/query"
	"marquee/platform/resource"
)

// Unapplied is money that gave nobody anything, or an answer that may or may not
// mean money.
type Unapplied struct {
	Kind    state.UnappliedKind
	Gateway gateway.Name
	// PaymentID is the payment as the ledger names it (Payment.ID). "" only for
	// UnappliedUnknown, which then has a Subject: whatever tells the case apart, such
	// as the local row's id or the gateway's recurrence.
	PaymentID string
	Subject   string
	// Amount may be nil only for UnappliedUnknown.
	Amount *money.Cents
	// The ids that it belongs to, as far as they are known; "" else.
	CustomerID     objectid.ID
	SubscriptionID objectid.ID
	OrderID        objectid.ID
	PaidAt         *time.Time
	Note           string // for the people who decide: what happened, in a sentence
	// Automatic: the platform may refund it by itself. The ledger has the payment.
	Automatic bool
	// Bought: it paid for a period all the same, and is listed for a part that was taken
	// back, for a refund that failed, or for what was not used of it.
	Bought bool
	// Reference is our id that the gateway was told with the payment, where it is another
	// than the subscription's or order's.
	Reference objectid.ID
	// GatewayCustomerID is the gateway's customer who paid, where CustomerID is not known:
	// that is set once a customer here has this id.
	GatewayCustomerID string
	// takenBack: the amount is what the payer's bank took back, and gone (RecordTakenBackTx).
	takenBack bool
}

// Of completes it for a payment of a row: the caller has said why, and the amount where that is another than was paid.
func (u Unapplied) Of(o gateway.Owner, p gateway.Payment) Unapplied {
	u.Gateway, u.PaymentID, u.PaidAt, u.CustomerID = o.Gateway, p.ID, p.SettledAt, o.CustomerID
	if u.Amount == nil {
		u.Amount = &p.Amount
	}
	switch o.Purpose {
	case gateway.ForSubscription:
		u.SubscriptionID = o.LocalID
	case gateway.ForOrder:
		u.OrderID = o.LocalID
	case gateway.ForCustomer:
	}
	return u
}

// RecordUnappliedTx puts money that gave nobody anything on the list of GET
// /admin/finance/unapplied-payments, in the transaction that books it. There is one
// row a gateway payment (or subject): repeating it, also at once, changes nothing
// but what was not known before, and nothing that has been decided. First reports
// that it was not there before. One that names neither payment nor subject is an error: it could not
// be told from another. Others are the database's.
func (s *Cases) RecordUnappliedTx(ctx context.Context, tx pgx.Tx, u Unapplied) (first bool, err error) {
	subject := u.PaymentID
	if subject == "" {
		subject = u.Subject
	}
	if subject == "" {
		return false, errors.New("payments: an unapplied payment needs a payment or a subject")
	}
	now := s.deps.Clock.Now()
	id, err := s.db.UnappliedInsert(ctx, tx, paymentsdb.UnappliedInsertParams{
		ID: objectid.At(now), Kind: u.Kind, Gateway: u.Gateway, Subject: subject,
		GatewayPaymentID: nullable.Ptr(u.PaymentID),
		AmountCents:      (*int64)(u.Amount), CustomerID: nullable.Ptr(u.CustomerID),
		SubscriptionID: nullable.Ptr(u.SubscriptionID), OrderID: nullable.Ptr(u.OrderID),
		PaidAt: u.PaidAt, Note: nullable.Ptr(u.Note), Automatic: u.Automatic, Bought: u.Bought, TakenBack: u.takenBack,
		Reference: nullable.Ptr(u.Reference), GatewayCustomerID: nullable.Ptr(u.GatewayCustomerID), At: now,
	})
	if err == nil {
		if u.Automatic {
			err = s.insertJobTx(ctx, tx, id)
		}
		if err == nil && u.PaymentID != "" {
			err = s.DecideLostTx(ctx, tx, u.Gateway, u.PaymentID)
		}
		return true, err
	}
	if !errors.Is(err, pgx.ErrNoRows) {
		return false, fmt.Errorf("list unapplied payment %s: %w", subject, err)
	}
	err = s.db.UnappliedSetPayment(ctx, tx, paymentsdb.UnappliedSetPaymentParams{
		Gateway: u.Gateway, Subject: subject, Kind: u.Kind, AmountCents: (*int64)(u.Amount),
		CustomerID:     nullable.Ptr(u.CustomerID),
		SubscriptionID: nullable.Ptr(u.SubscriptionID), OrderID: nullable.Ptr(u.OrderID), PaidAt: u.PaidAt,
		Note: nullable.Ptr(u.Note), Automatic: u.Automatic,
		Reference: nullable.Ptr(u.Reference), NoCustomer: NoCustomer, ItsCustomer: ItsCustomer, At: now,
	})
	if err != nil {
		return false, fmt.Errorf("complete unapplied payment %s: %w", subject, err)
	}
	return false, nil
}

// RecordTakenBackTx lists what a bank has taken back of a payment until now: the amount is
// the part, and grows with it. It is gone, so that it can only be kept. When somebody has
// kept a smaller part, it is open again: more of it is gone than they decided about. Without a payment or an amount
// it is an error: it could be of any, and of nothing. Others are the database's.
func (s *Cases) RecordTakenBackTx(ctx context.Context, tx pgx.Tx, u Unapplied) error {
	if u.Amount == nil || u.PaymentID == "" {
		return errors.New("payments: what was taken back needs a payment and an amount")
	}
	u.takenBack = true
	first, err := s.RecordUnappliedTx(ctx, tx, u)
	if err != nil || first {
		return err
	}
	if err := s.reopenTakenBackTx(ctx, tx, u); err != nil {
		return err
	}
	err = s.db.UnappliedAmend(ctx, tx, paymentsdb.UnappliedAmendParams{
		Gateway: u.Gateway, Subject: u.PaymentID, AmountCents: (*int64)(u.Amount), Note: nullable.Ptr(u.Note),
		At: s.deps.Clock.Now(),
	})
	if err != nil {
		return fmt.Errorf("amend unapplied payment %s: %w", u.PaymentID, err)
	}
	return nil
}

// reopenTakenBackTx opens what somebody has kept again when more of it went back than they knew. An error is the
// database's.
func (s *Cases) reopenTakenBackTx(ctx context.Context, tx pgx.Tx, u Unapplied) error {
	found, err := s.db.UnappliedLockOfPayment(ctx, tx,
		paymentsdb.UnappliedLockOfPaymentParams{Gateway: u.Gateway, PaymentRef: u.PaymentID})
	if err != nil {
		return fmt.Errorf("find unapplied payment: %w", err)
	}
	for _, row := range found {
		known := row.PaymentsUnappliedPayment
		if known.State != state.UnappliedKept || known.AmountCents == nil || *known.AmountCents >= int64(*u.Amount) {
			continue
		}
		_, err := s.MoveTx(ctx, tx, known,
			Move{By: state.UnappliedMoreTakenBack, Source: state.ByGateway, ForPeople: true})
		if err != nil {
			return err
		}
	}
	return nil
}

// UnappliedStateOf is where the decision about a payment stands; "" when it is not on
// the list. An error is the database's.
func (s *Reader) UnappliedStateOf(ctx context.Context, db postgres.DB, gateway gateway.Name,
	paymentID string,
) (state.Unapplied, error) {
	at, err := s.db.UnappliedStateRead(ctx, db,
		paymentsdb.UnappliedStateReadParams{Gateway: gateway, Subject: paymentID})
	return at, orNone(err)
}

// IsClosedByAdmin reports whether an admin has decided that an unapplied payment stays. An error is the database's.
func (s *Reader) IsClosedByAdmin(ctx context.Context, db postgres.DB, gateway gateway.Name,
	paymentID string,
) (bool, error) {
	at, err := s.UnappliedStateOf(ctx, db, gateway, paymentID)
	return at == state.UnappliedKept, err
}

// IsRefundedByList reports whether the list of unapplied payments gives a payment back by
// itself, or is at it. An error is the database's.
func (s *Reader) IsRefundedByList(ctx context.Context, db postgres.DB, gateway gateway.Name,
	paymentID string,
) (bool, error) {
	by, err := s.db.UnappliedHasAutomaticRefund(ctx, db,
		paymentsdb.UnappliedHasAutomaticRefundParams{Gateway: gateway, Subject: paymentID})
	if err != nil {
		return false, fmt.Errorf("read who refunds %s: %w", paymentID, err)
	}
	return by, nil
}

// IsUnused reports whether a payment, by any of its ids, gave nobody anything: it is, or
// was, on the list, and has extended nothing. What happens to it changes no subscription. An error is the database's.
func (s *Reader) IsUnused(ctx context.Context, db postgres.DB, gateway gateway.Name, paymentID string) (bool, error) {
	unused, err := s.db.UnappliedIsUnused(ctx, db,
		paymentsdb.UnappliedIsUnusedParams{Gateway: gateway, PaymentRef: paymentID})
	if err != nil {
		return false, fmt.Errorf("read what payment %s bought: %w", paymentID, err)
	}
	return unused, nil
}

// UnappliedPayments is the collection of money that gave nobody anything
// (docs/contract/payments.md, Unapplied payments). Amounts are cents.
var UnappliedPayments = resource.New(resource.Definition{
	Name: "unapplied-payments", Singular: "Unapplied payment", Table: "payments.unapplied_payments",
	From: `(SELECT u.*, NULL::platform.object_id AS document_created_by_id, u.created_at AS register_date, u.updated_at AS register_update_date
		FROM payments.unapplied_payments u) t`,
	DefaultSort: `{"register_date":-1}`,
	Fields: []resource.Field{
		{
			Name: "kind", Kind: query.String, Write: resource.ReadOnly,
			Rule: resource.Rule{Enum: []string{"late", "duplicate", "foreign", "unrefundable", "unknown"}},
			Doc:  "late: for a row that has ended; duplicate: a second payment; foreign: of a recurrence that no row owns; unrefundable: a refund failed; unknown: an answer not known, or money that nobody can place",
		},
		{
			Name: "gateway", Kind: query.String, Write: resource.ReadOnly, Doc: "gwa or gwb",
			Rule: resource.Rule{Enum: []string{"gwa", "gwb"}},
		},
		{
			Name: "gateway_payment_id", Kind: query.String, Nullable: true, Write: resource.ReadOnly,
			Doc: "Gateway A: pay_…; gateway B: the invoice in_…, else the payment intent pi_…",
		},
		{
			Name: "amount", Column: "amount_cents", Kind: query.Int, Nullable: true, Write: resource.ReadOnly,
			Doc: "Cents; null only of kind unknown",
		},
		{Name: "customer_id", Kind: query.OID, Nullable: true, Write: resource.ReadOnly},
		{
			Name: "subscription_id", Kind: query.OID, Nullable: true, Write: resource.ReadOnly,
			Doc: "Whose the payment is; of one that extended, the subscription that it extended",
		},
		{Name: "order_id", Kind: query.OID, Nullable: true, Write: resource.ReadOnly},
		{Name: "paid_at", Kind: query.Date, Nullable: true, Write: resource.ReadOnly},
		{
			Name: "state", Kind: query.String, Write: resource.ReadOnly,
			Rule: resource.Rule{Enum: []string{"open", "refunding", "refunded", "extended", "kept"}},
		},
		{
			Name: "note", Kind: query.String, Nullable: true, Write: resource.ReadOnly,
			Doc: "What happened, or why it was kept",
		},
	},
})

// CaseMailArgs tells the payer that an unapplied payment was given back.
type CaseMailArgs struct {
	ID objectid.ID `json:"id"`
}

// Kind names the job.
func (CaseMailArgs) Kind() string { return "payments_unapplied_mail" }

// CaseArgs looks at an unapplied payment: what may be refunded by itself is.
type CaseArgs struct {
	ID objectid.ID `json:"id"`
}

// Kind names the job.
func (CaseArgs) Kind() string { return "payments_unapplied" }

// insertJobTx has the money of a case given back by itself once the transaction is committed. An error is the
// database's, which has the jobs.
func (s *Cases) insertJobTx(ctx context.Context, tx pgx.Tx, id objectid.ID) error {
	return jobs.InsertTx(ctx, s.deps.Jobs, tx, CaseArgs{ID: id}, &river.InsertOpts{Queue: jobs.QueueGateway})
}
