package promos

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"marquee/modules/promos/internal/promosdb"
	"marquee/modules/tickets"
	"marquee/platform/fault"
	"marquee/platform/objectid"
	"marquee/platform/postgres"
)

// constraintOnce lets a customer redeem a code once.
const constraintOnce = "redemptions_once_a_customer"

// Where redemptions come from; those of targets, given at creation, are "target".
const (
	originRedeem       = "redeem"       // by the customer
	originBundle       = "bundle"       // with a code that holds it
	originSubscription = "subscription" // with a subscription
)

// redemption is one code on its way to being redeemed.
type redemption struct {
	code       code
	customerID objectid.ID
	origin     string
	tickets    int
}

// redeem redeems a code for a customer, with what its bundle holds, and returns
// how many tickets that made. Errors: 404 for an unknown or inactive code; 400 when
// it is outside of its window, or its event over; 409 when they have redeemed it
// or the event is sold out.
func (s *Service) redeem(ctx context.Context, customerID objectid.ID,
	text string,
) (c code, made int, at time.Time, err error) {
	at = s.deps.Clock.Now()
	err = postgres.InTx(ctx, s.deps.Pool, func(tx pgx.Tx) error {
		// What one customer redeems at once goes one after the other: a code and a
		// bundle that holds it would else wait for each other's redemption and event.
		if err := s.deps.Accounts.LockCustomerTx(ctx, tx, customerID); err != nil {
			return err
		}
		c, err = s.validCode(ctx, tx, text)
		if err != nil {
			return err
		}
		made, err = s.redeemTx(ctx, tx, c, customerID, originRedeem)
		if err != nil {
			return err
		}
		below, err := s.redeemBundleTx(ctx, tx, c, customerID, func(_ code, err error) bool { return isRedeemed(err) })
		made += below
		return err
	})
	return c, made, at, err
}

func (s *Service) redeemTx(ctx context.Context, tx pgx.Tx, c code, customerID objectid.ID,
	origin string,
) (made int, err error) {
	if n := ticketsOf(c); n != nil {
		made = *n
	}
	return made, s.recordTx(ctx, tx, redemption{code: c, customerID: customerID, origin: origin, tickets: made})
}

// recordTx writes the redemption first, since its constraint decides who of two
// at once gets the tickets, and then issues them.
func (s *Service) recordTx(ctx context.Context, tx pgx.Tx, r redemption) error {
	now := s.deps.Clock.Now()
	confirmed, err := s.db.RedemptionConfirm(ctx, tx, promosdb.RedemptionConfirmParams{
		Now: &now, Origin: r.origin, Tickets: int32(r.tickets), PromoCodeID: r.code.ID, CustomerID: r.customerID, //nolint:gosec // at most the tickets of a code
	})
	if err == nil && confirmed == 0 {
		err = s.db.RedemptionInsert(ctx, tx, promosdb.RedemptionInsertParams{
			PromoCodeID: r.code.ID, CustomerID: r.customerID, Code: r.code.Code, CodeType: r.code.CodeType, Origin: r.origin, Tickets: int32(r.tickets), Now: now, //nolint:gosec // at most the tickets of a code
		})
	}
	if postgres.Constraint(err) == constraintOnce {
		return errRedeemed()
	}
	if err != nil {
		return fmt.Errorf("record redemption: %w", err)
	}
	if r.tickets == 0 || r.code.EventID == nil {
		return nil
	}
	return s.issueTx(ctx, tx, r.code, slices.Repeat([]objectid.ID{r.customerID}, r.tickets), nil)
}

// issueTx issues a ticket of the code to each of the customers.
func (s *Service) issueTx(ctx context.Context, tx pgx.Tx, c code, customers []objectid.ID, actor *objectid.ID) error {
	in := tickets.Issue{
		EventID: *c.EventID, CustomerIDs: customers, Title: c.Title, ImageID: c.ImageID,
		PromoCodeID: &c.ID, PromoCode: c.Code, ActorID: actor,
	}
	if c.Description != nil {
		in.Description = *c.Description
	}
	_, err := s.deps.Tickets.IssueTx(ctx, tx, in)
	return err
}

// redeemBundleTx redeems what the bundle holds, through all levels, each child
// behind a savepoint. What is not valid now is left out, and so is whatever
// passOver says of the error that its redemption gives.
func (s *Service) redeemBundleTx(ctx context.Context, tx pgx.Tx, c code, customerID objectid.ID,
	passOver func(child code, err error) bool,
) (made int, err error) {
	children, err := s.db.CodeListDescendants(ctx, tx, c.ID)
	if err != nil {
		return 0, fmt.Errorf("read bundle: %w", err)
	}
	for _, child := range children {
		problem, err := s.problem(ctx, tx, child)
		if err != nil {
			return 0, err
		}
		if problem != "" {
			continue
		}
		n := 0
		err = pgx.BeginFunc(ctx, tx, func(inner pgx.Tx) (err error) {
			n, err = s.redeemTx(ctx, inner, child, customerID, originBundle)
			return err
		})
		switch {
		case err == nil:
			made += n
		case !passOver(child, err):
			return 0, err
		}
	}
	return made, nil
}

// RedeemSignupCodeTx redeems the ticket code that a customer gave at signup, once
// their address is verified, or at once where that may wait (docs/contract/promo-codes.md, At sign-up). What stands in
// its way, such as a sold-out event, never keeps an address from being verified: it is logged, and the code stays for
// them to redeem. A promo code is left for the first subscription.
func (s *Service) RedeemSignupCodeTx(ctx context.Context, tx pgx.Tx, customerID, codeID objectid.ID) error {
	c, err := s.db.CodeGet(ctx, tx, codeID)
	if postgres.IsNoRows(err) || err == nil && c.CodeType != TypeTicket {
		return nil
	}
	if err != nil {
		return fmt.Errorf("read promo code: %w", err)
	}
	problem, err := s.problem(ctx, tx, c)
	if err != nil {
		return err
	}
	if problem == "" {
		err = pgx.BeginFunc(ctx, tx, func(inner pgx.Tx) error {
			_, err := s.redeemTx(ctx, inner, c, customerID, originRedeem)
			return err
		})
	}
	var refusal *fault.Error
	switch {
	case errors.As(err, &refusal):
		problem = refusal.Message
	case err != nil:
		return err
	}
	if problem != "" && problem != redeemedMessage {
		s.deps.Log.WarnContext(ctx, "promo code of a signup not redeemed", slog.String("promo_code_id", c.ID.String()),
			slog.String("customer_id", customerID.String()), slog.String("reason", problem))
	}
	return nil
}

const redeemedMessage = "You have already redeemed this promo code."

func errRedeemed() *fault.Error { return fault.Conflict(redeemedMessage) }
