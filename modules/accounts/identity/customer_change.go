package identity

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"marquee/modules/accounts/internal/accountsdb"
	"marquee/platform/httpapi"
	"marquee/platform/objectid"
	"marquee/platform/postgres"
)

// CustomerChanges is a module above that keeps names or addresses of customers.
type CustomerChanges interface {
	// CustomerChangedTx is told a customer as they are after a new name, e-mail or
	// verification, in the transaction that writes it.
	CustomerChangedTx(ctx context.Context, tx pgx.Tx, c Customer) error
}

// Promises are kept once a customer's address is verified.
type Promises interface {
	// RedeemSignupCodeTx redeems the code for the customer when it gives tickets and
	// is still valid, once however often it is asked. A code that no longer holds
	// is no error.
	RedeemSignupCodeTx(ctx context.Context, tx pgx.Tx, customerID, codeID objectid.ID) error
}

// ChangedTx tells the modules above. proved says that this change verified the
// address: then the customer gets what their code of signup promised.
func (s *Store) ChangedTx(ctx context.Context, tx pgx.Tx, u accountsdb.User, proved bool) error {
	if u.UserType != httpapi.TypeCustomer {
		return nil
	}
	c, err := CustomerOf(u, nil)
	if err != nil {
		return err
	}
	for _, above := range s.above.Changes {
		if err := above.CustomerChangedTx(ctx, tx, c); err != nil {
			return fmt.Errorf("tell of a changed customer: %w", err)
		}
	}
	if !proved {
		return nil
	}
	return s.KeepPromiseTx(ctx, tx, u)
}

// KeepPromiseTx redeems the ticket code that was given at signup (docs/contract/promo-codes.md, At sign-up).
func (s *Store) KeepPromiseTx(ctx context.Context, tx pgx.Tx, u accountsdb.User) error {
	if s.above.Promises == nil || u.PromoCodeID == nil {
		return nil
	}
	if err := s.above.Promises.RedeemSignupCodeTx(ctx, tx, u.ID, *u.PromoCodeID); err != nil {
		return fmt.Errorf("redeem code of signup: %w", err)
	}
	return nil
}

// AfterCustomerWrite tells of what admins changed; those who were deleted are told
// of elsewhere.
func (s *Store) AfterCustomerWrite(ctx context.Context, tx pgx.Tx, ids []objectid.ID) error {
	for _, id := range ids {
		u, err := s.db.UserGetCustomer(ctx, tx, id)
		if postgres.IsNoRows(err) {
			continue
		}
		if err == nil {
			err = s.ChangedTx(ctx, tx, u, false)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// PersonalData is what a module above keeps about users; of admins there may be
// some as well, such as what they watched.
type PersonalData interface {
	// PersonalDataName names its part of GET /customers/me/data, such as
	// "subscriptions".
	PersonalDataName() string
	// PersonalData returns all of it that concerns the customer, fit for JSON and
	// without secrets. db is a transaction that sees one instant. Unless their address
	// is verified, what guests bought under it is left out (docs/contract/accounts.md, Customers).
	PersonalData(ctx context.Context, db postgres.DB, customerID objectid.ID, verified bool) (any, error)
	// ErasePersonalDataTx removes it. Money records stay, without what tells who
	// the user was.
	ErasePersonalDataTx(ctx context.Context, tx pgx.Tx, userID objectid.ID) error
}
