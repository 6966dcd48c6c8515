package lifecycle

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"github.com/jackc/pgx/v5"

	"marquee/modules/payments/gateway"
	"marquee/modules/payments/intent"
	"marquee/modules/subscriptions/internal/subscriptionsdb"
	"marquee/modules/subscriptions/state"
	"marquee/platform/objectid"
)

// RenewalCharge is a PIX code that pays a further period.
type RenewalCharge subscriptionsdb.RenewalCharge

// HasRunOut reports whether it can no longer be paid.
func (c RenewalCharge) HasRunOut(now time.Time) bool {
	return !c.PayableUntil.After(now) || c.PixExpiresAt != nil && !c.PixExpiresAt.After(now)
}

// SetCode keeps the gateway's code, and notes that its answer is in the row.
func (c *RenewalCharge) SetCode(made gateway.PixCharge) {
	c.IntentOpen = false
	SetOnce(&c.GatewayPaymentID, made.Payment.ID)
	SetOnce(&c.PixPayload, made.Payload)
	SetOnce(&c.PixImage, made.EncodedImage)
	if made.ExpiresAt != nil {
		c.PixExpiresAt = made.ExpiresAt
	}
}

// InsertChargeTx writes the order of a charge, with its intent open. An error is the database's,
// renewal_charges_one_open included.
func (s *Store) InsertChargeTx(ctx context.Context, tx pgx.Tx, c RenewalCharge) (RenewalCharge, error) {
	ordered, err := state.Charges.Move("", state.CodeOrdered)
	if err != nil {
		return c, err
	}
	r, err := s.db.RenewalChargeInsert(ctx, tx, subscriptionsdb.RenewalChargeInsertParams{
		ID: c.ID, SubscriptionID: c.SubscriptionID, CustomerID: c.CustomerID, Gateway: c.Gateway, Cycle: c.Cycle,
		State: ordered, AmountCents: c.AmountCents, PayableUntil: c.PayableUntil, Now: c.RegisterDate,
		Action: string(state.CodeOrdered), Reason: new(state.Charges.ReasonOf(state.CodeOrdered)),
	})
	return RenewalCharge(r), err
}

// An edit of a renewal charge, and one that moves it, with its history.
const (
	editCharge = "UPDATE subscriptions.renewal_charges SET register_update_date = $3%s WHERE id = $1 AND state = $2"
	moveCharge = "WITH moved AS (" + editCharge + " RETURNING id, subscription_id, state)\n" +
		"INSERT INTO subscriptions.order_transitions" +
		" (subscription_id, kind, item, at, from_state, to_state, action, reason)" +
		" SELECT subscription_id, 'renewal_charge', id, $3, $2, state, $4, $5 FROM moved"
)

// SaveChargeTx writes what an edit changes of a locked charge, if its state is still the one
// that was read, as saveTx does of a subscription: errMoved when it is another. Other errors are the
// database's, or of an edit that the table of charges lacks.
func (s *Store) SaveChargeTx(ctx context.Context, tx pgx.Tx, c RenewalCharge, as state.ChargeEdit,
	edit func(c *RenewalCharge),
) (RenewalCharge, error) {
	before := c
	edit(&c)
	var err error
	if c.State, err = state.Charges.Move(before.State, as); err != nil {
		return before, fmt.Errorf("write renewal charge %s: %w", c.ID, err)
	}
	c.RegisterUpdateDate = s.deps.Clock.Now()
	differ := chargeColumns.Differing(&before, &c)
	if more := differ.Outside(state.ChargeEditedBy(as)); more != nil {
		s.deps.Log.ErrorContext(ctx, "a change of a renewal charge writes columns that it does not name",
			slog.String("charge_id", c.ID.String()), slog.String("change", string(as)), slog.Any("columns", more))
	}
	update, args := editCharge, []any{c.ID, before.State, c.RegisterUpdateDate}
	if c.State != before.State {
		update, args = moveCharge, append(args, as, state.Charges.ReasonOf(as))
	}
	n, err := differ.Update(ctx, tx, update, &c, args...)
	if err == nil && n == 0 {
		err = errMoved
	}
	if err == nil && before.IntentOpen && !c.IntentOpen { // by an event, if not by who looked
		err = s.deps.Intents.EndTx(ctx, tx, IntentOfCharge(c.ID), intent.Succeeded[any]{}, intent.ByWebhook)
	}
	if err != nil {
		return c, fmt.Errorf("write renewal charge %s: %w", c.ID, err)
	}
	return c, nil
}

// TendTx has a renewal charge looked after at an instant, by one job however often it is asked for. An error is the
// database's.
func (s *Store) TendTx(ctx context.Context, tx pgx.Tx, id objectid.ID, at time.Time) error {
	return s.InsertAtTx(ctx, tx, at, RenewalChargeArgs{ChargeID: id, At: at})
}

// withdrawChargesTx has the open codes of a subscription that has ended made
// unpayable, by job. An error is the database's.
func (s *Store) withdrawChargesTx(ctx context.Context, tx pgx.Tx, sub Subscription) error {
	ids, err := s.db.RenewalChargeListOpen(ctx, tx, sub.ID)
	if err != nil {
		return fmt.Errorf("list renewal charges: %w", err)
	}
	for _, id := range ids {
		if err := s.TendTx(ctx, tx, id, s.deps.Clock.Now()); err != nil {
			return err
		}
	}
	return nil
}

// IntentOfCharge names the order of a renewal's PIX code.
func IntentOfCharge(id objectid.ID) intent.Ref {
	return intent.Ref{Kind: intent.RenewalCharge, Subject: id}
}
