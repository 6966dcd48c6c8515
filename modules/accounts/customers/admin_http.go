package customers

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"marquee/modules/accounts/identity"
	"marquee/modules/accounts/internal/accountsdb"
	"marquee/platform/audit"
	"marquee/platform/fault"
	"marquee/platform/httpapi"
	"marquee/platform/objectid"
	"marquee/platform/postgres"
)

type customerInput struct {
	ID string `path:"id" pattern:"^[0-9a-fA-F]{24}$" patternDescription:"an id of 24 hexadecimal digits"`
}

type customerVerified struct {
	Message         string       `json:"message"`
	CustomerID      objectid.ID  `json:"customer_id"`
	EmailVerified   bool         `json:"email_verified"`
	EmailVerifiedAt httpapi.Time `json:"email_verified_at"`
}

type customerToggled struct {
	Message    string      `json:"message"`
	CustomerID objectid.ID `json:"customer_id"`
	Enable     bool        `json:"enable"`
}

// VerifyEmail answers POST /admin/customers/{id}/verify-email.
func (h Handlers) VerifyEmail(ctx context.Context, in *customerInput) (*httpapi.Output[customerVerified], error) {
	u, err := h.s.verifyCustomer(ctx, in.ID)
	if err != nil {
		return nil, err
	}
	return httpapi.OK(customerVerified{
		Message: "E-mail verified.", CustomerID: u.ID, EmailVerified: u.EmailVerified,
		EmailVerifiedAt: httpapi.Time(*u.EmailVerifiedAt),
	})
}

// ToggleActive answers POST /admin/customers/{id}/toggle-active.
func (h Handlers) ToggleActive(ctx context.Context, in *customerInput) (*httpapi.Output[customerToggled], error) {
	u, err := h.s.toggleCustomer(ctx, in.ID)
	if err != nil {
		return nil, err
	}
	message := "The customer is disabled."
	if u.Enable {
		message = "The customer is enabled."
	}
	return httpapi.OK(customerToggled{Message: message, CustomerID: u.ID, Enable: u.Enable})
}

// verifyCustomer verifies a customer's address on an admin's word. Errors: 404,
// 400 when it is verified already.
func (s *Customers) verifyCustomer(ctx context.Context, id string) (accountsdb.User, error) {
	return s.changeCustomer(ctx, id, func(tx pgx.Tx, u accountsdb.User) (accountsdb.User, error) {
		if u.EmailVerified {
			return u, fault.BadRequestDetail("The e-mail is already verified.")
		}
		now := s.deps.Clock.Now()
		after, err := s.db.UserSetEmailVerified(ctx, tx, accountsdb.UserSetEmailVerifiedParams{ID: u.ID, Now: &now})
		if err != nil {
			return after, err
		}
		return after, s.deps.Identity.ChangedTx(ctx, tx, after, true)
	})
}

// toggleCustomer enables a disabled customer, and disables an enabled one, whose
// tokens end; 404.
func (s *Customers) toggleCustomer(ctx context.Context, id string) (accountsdb.User, error) {
	return s.changeCustomer(ctx, id, func(tx pgx.Tx, u accountsdb.User) (accountsdb.User, error) {
		ended := s.deps.Identity.TokensEnd(u)
		return s.db.UserToggle(ctx, tx, accountsdb.UserToggleParams{ID: u.ID, Now: s.deps.Clock.Now(), EndedAt: &ended})
	})
}

// changeCustomer locks a customer, changes them and writes the audit trail.
func (s *Customers) changeCustomer(
	ctx context.Context, text string, change func(pgx.Tx, accountsdb.User) (accountsdb.User, error),
) (after accountsdb.User, err error) {
	id, err := objectid.Parse(text)
	if err != nil {
		return after, fault.InvalidAt(err.Error(), "path", "id")
	}
	err = postgres.InTx(ctx, s.deps.Pool, func(tx pgx.Tx) error {
		before, err := s.deps.Identity.LockedCustomerTx(ctx, tx, id)
		if err != nil {
			return err
		}
		if after, err = change(tx, before); err != nil {
			return err
		}
		return audit.RecordTx(ctx, tx, audit.Change{
			Resource: identity.CustomersName, RecordID: id, Before: stateOf(before), After: stateOf(after),
		})
	})
	if err != nil {
		return after, fmt.Errorf("change customer: %w", err)
	}
	return after, nil
}

// customerState is what the two routes move.
type customerState struct {
	Enable          bool          `json:"enable"`
	EmailVerified   bool          `json:"email_verified"`
	EmailVerifiedAt *httpapi.Time `json:"email_verified_at"`
}

func stateOf(u accountsdb.User) customerState {
	return customerState{
		Enable: u.Enable, EmailVerified: u.EmailVerified, EmailVerifiedAt: httpapi.TimePtr(u.EmailVerifiedAt),
	}
}
