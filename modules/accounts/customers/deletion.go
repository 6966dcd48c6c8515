package customers

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"github.com/jackc/pgx/v5"

	"marquee/modules/accounts/codes"
	"marquee/modules/accounts/identity"
	"marquee/modules/accounts/internal/accountsdb"
	"marquee/platform/fault"
	"marquee/platform/httpapi"
	"marquee/platform/jobs"
	"marquee/platform/nullable"
	"marquee/platform/objectid"
	"marquee/platform/postgres"
)

// Billing is what a deletion asks of a module that charges customers.
type Billing interface {
	// StopBilling ends whatever the gateways would still charge the customer for,
	// and returns nil once they have confirmed it. It is asked again after an
	// error, and may be asked again after a success. Nobody can start anything
	// new for this customer meanwhile.
	StopBilling(ctx context.Context, customerID objectid.ID) error
}

// DeleteCustomer closes the customer's account at once and has the rest done by a
// job: stop their billing at the gateways, then remove their personal data
// (docs/contract/accounts.md, Customers). by is who does it. Errors: 404 when there is no such customer; 409 for
// themselves while a change of their e-mail can be undone.
func (s *Customers) DeleteCustomer(ctx context.Context, id, by objectid.ID) error {
	err := postgres.InTx(ctx, s.deps.Pool, func(tx pgx.Tx) error { return s.DeleteCustomerTx(ctx, tx, id, by) })
	if err != nil {
		return fmt.Errorf("delete customer: %w", err)
	}
	return nil
}

// DeleteCustomerTx is DeleteCustomer in the caller's transaction. by is empty
// where it is a job's doing.
func (s *Customers) DeleteCustomerTx(ctx context.Context, tx pgx.Tx, id, by objectid.ID) error {
	u, err := s.deps.Identity.LockedCustomerTx(ctx, tx, id)
	if err != nil {
		return err
	}
	if id == by {
		if err := s.canBeClosedByOwner(ctx, tx, id); err != nil {
			return err
		}
	}
	now, ended := s.deps.Clock.Now(), s.deps.Identity.TokensEnd(u)
	if _, err := s.db.CustomerClose(ctx, tx, accountsdb.CustomerCloseParams{
		ID: id, Now: &now, TokensValidAfter: &ended,
	}); err != nil {
		return fmt.Errorf("close account: %w", err)
	}
	if err := s.deps.Codes.EndTx(ctx, tx, id); err != nil {
		return err
	}
	if err := s.deps.Changes.ForgetTx(ctx, tx, id); err != nil {
		return err
	}
	if err := s.deps.Factors.ForgetTx(ctx, tx, id); err != nil {
		return err
	}
	if err := s.db.DeletionInsert(ctx, tx, accountsdb.DeletionInsertParams{
		CustomerID: id, DeletedBy: nullable.Ptr(by), Now: now,
	}); err != nil {
		return fmt.Errorf("record deletion: %w", err)
	}
	return jobs.InsertTx(ctx, s.deps.Jobs, tx, EraseCustomerArgs{CustomerID: id}, nil)
}

// canBeClosedByOwner is 409 while a link can give the account back to who had its address
// before: whoever got into it would leave nothing to give back.
func (s *Customers) canBeClosedByOwner(ctx context.Context, db postgres.DB, id objectid.ID) error {
	until, undoable, err := s.deps.Changes.UndoableUntil(ctx, db, id)
	if err != nil || !undoable {
		return err
	}
	return fault.Conflict("Your e-mail was changed, which can be undone until %s: the account cannot be deleted before then. Whoever had the earlier address can undo it; support can delete an account at any time.",
		until.UTC().Format(time.RFC3339))
}

// eraseCustomer finishes a deletion: billing first, personal data after. It may
// run again at any point.
func (s *Customers) eraseCustomer(ctx context.Context, id objectid.ID) error {
	deletion, err := s.db.DeletionGet(ctx, s.deps.Pool, id)
	if postgres.IsNoRows(err) || (err == nil && deletion.ErasedAt != nil) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("read deletion: %w", err)
	}
	for _, b := range s.above.Billing {
		if err := b.StopBilling(ctx, id); err != nil {
			return fmt.Errorf("stop billing: %w", err)
		}
	}
	err = postgres.InTx(ctx, s.deps.Pool, func(tx pgx.Tx) error { return s.eraseCustomerTx(ctx, tx, id) })
	if err != nil {
		return fmt.Errorf("erase customer: %w", err)
	}
	s.deps.Log.InfoContext(ctx, "customer erased", slog.String("customer_id", id.String()))
	return nil
}

func (s *Customers) eraseCustomerTx(ctx context.Context, tx pgx.Tx, id objectid.ID) error {
	for _, p := range s.above.Personal {
		if err := p.ErasePersonalDataTx(ctx, tx, id); err != nil {
			return fmt.Errorf("%s: %w", p.PersonalDataName(), err)
		}
	}
	if err := s.deps.Files.DeleteOfRecordTx(ctx, tx, identity.UserFileKind, id); err != nil {
		return err
	}
	if err := s.deps.Trail.EraseAuditTx(ctx, tx, id); err != nil {
		return err
	}
	if err := s.eraseCustomerNotesTx(ctx, tx, id); err != nil {
		return err
	}
	if err := s.db.ParentalTryClear(ctx, tx, id); err != nil {
		return err
	}
	now := s.deps.Clock.Now()
	if _, err := s.db.CustomerErase(ctx, tx, accountsdb.CustomerEraseParams{ID: id, Now: now}); err != nil {
		return err
	}
	_, err := s.db.DeletionMarkErased(ctx, tx, accountsdb.DeletionMarkErasedParams{CustomerID: id, Now: &now})
	return err
}

// DeleteMe answers DELETE /customers/me.
func (h Handlers) DeleteMe(ctx context.Context, _ *struct{}) (*httpapi.Output[codes.MessageBody], error) {
	id := httpapi.CallerOf(ctx).ID
	if err := h.s.DeleteCustomer(ctx, id, id); err != nil {
		return nil, err
	}
	return httpapi.OK(codes.MessageBody{
		Message: "Your account is closed. Charges are being stopped; then your data will be removed.",
	})
}
