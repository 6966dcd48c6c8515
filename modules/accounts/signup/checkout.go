package signup

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"

	"marquee/modules/accounts/codes"
	"marquee/modules/accounts/identity"
	"marquee/modules/accounts/internal/accountsdb"
	"marquee/platform/fault"
	"marquee/platform/httpapi"
	"marquee/platform/nullable"
	"marquee/platform/postgres"
	"marquee/platform/secret"
)

// Buyer is who buys tickets without logging in.
type Buyer struct {
	FullName string
	Email    string
	TaxID    string
	Phone    string // may be empty
}

// CheckoutCustomer returns the customer whom a guest's e-mail belongs to
// (docs/contract/tickets.md, Guests). An account that is there is used as it is,
// nothing of it is overwritten. Otherwise one is made: a real customer, not
// verified, without a password that anybody knows, and a reset code is mailed with
// which the buyer sets one. Errors: 422 naming body.buyer's field; 409 for a
// tax_id of another account, and for an address that no customer can have.
func (s *Signup) CheckoutCustomer(ctx context.Context, b Buyer) (identity.Customer, error) {
	email, err := identity.NormalEmail(b.Email, "body", "buyer", "email")
	if err != nil {
		return identity.Customer{}, err
	}
	if err := identity.CheckPersonName(b.FullName, "body", "buyer", "full_name"); err != nil {
		return identity.Customer{}, err // before spaces are cut off: nothing may be left of a blank one
	}
	row, err := s.newRow(NewUser{
		Type: httpapi.TypeCustomer, Username: email, Email: email, FullName: strings.TrimSpace(b.FullName),
		TaxID: b.TaxID, Phone: b.Phone,
		Password: secret.NewText(secret.Random(24)), // checked and dropped: the row gets no password
	})
	if err != nil {
		return identity.Customer{}, inBuyer(err)
	}
	c, known, err := s.checkoutOwner(ctx, row)
	if fault.Is(err, fault.KindConflict) {
		// Another checkout of the same buyer may have made the account between the
		// look for the address and the look for the tax id.
		c, known, err = s.checkoutOwner(ctx, row)
	}
	if err != nil || known {
		return c, err
	}
	var u accountsdb.User
	err = postgres.InTx(ctx, s.deps.Pool, func(tx pgx.Tx) (err error) {
		if u, err = s.deps.Identity.InsertUserTx(ctx, tx, row); err != nil {
			return identity.Duplicate(err, row.Email)
		}
		switch err := s.deps.Codes.ClaimTurnTx(ctx, tx, codes.PurposeReset, u.Email); {
		case fault.Is(err, fault.KindTooManyRequests):
			return nil // a code for this address is on its way already; forgot-password sends another
		case err != nil:
			return err
		}
		return s.deps.Codes.IssueTx(ctx, tx, u.ID, codes.PurposeReset, u.Email)
	})
	if fault.Is(err, fault.KindConflict) {
		// Another checkout of the same address may have been faster.
		if c, known, ownerErr := s.checkoutOwner(ctx, row); ownerErr != nil || known {
			return c, ownerErr
		}
	}
	if err != nil {
		return identity.Customer{}, fmt.Errorf("make checkout account: %w", err)
	}
	return identity.CustomerOf(u, nil)
}

// checkoutOwner looks for the customer who has the buyer's address; 409 when
// another customer has the tax_id, or nobody may buy for the address.
func (s *Signup) checkoutOwner(ctx context.Context,
	row accountsdb.UserInsertParams,
) (c identity.Customer, known bool, err error) {
	u, err := s.db.UserGetByLogin(ctx, s.deps.Pool, row.Email)
	if err != nil && !postgres.IsNoRows(err) {
		return c, false, fmt.Errorf("read user: %w", err)
	}
	known = err == nil
	if known && (u.UserType != httpapi.TypeCustomer || !u.Enable || u.Email != row.Email) {
		return c, false, fault.Conflict("Tickets cannot be bought for this e-mail.").WithField("email")
	}
	if !known || nullable.Value(u.TaxID) != nullable.Value(row.TaxID) {
		taken, err := s.db.UserTaxIDExists(ctx, s.deps.Pool, row.TaxID)
		if err != nil {
			return c, false, fmt.Errorf("look for tax id: %w", err)
		}
		if taken {
			return c, false, identity.ErrTaxIDTaken()
		}
	}
	if !known {
		return c, false, nil
	}
	c, err = identity.CustomerOf(u, nil)
	return c, true, err
}

// inBuyer puts the buyer into the place of a finding that was made without
// knowing of them.
func inBuyer(err error) error {
	var f *fault.Error
	if !errors.As(err, &f) {
		return err
	}
	for i, issue := range f.Issues {
		if len(issue.Loc) == 2 && issue.Loc[0] == "body" {
			f.Issues[i].Loc = []any{"body", "buyer", issue.Loc[1]}
			f.Field = fault.FieldOf(f.Issues[i].Loc)
		}
	}
	return f
}
