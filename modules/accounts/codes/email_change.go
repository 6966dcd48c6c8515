package codes

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"marquee/modules/accounts/identity"
	"marquee/modules/accounts/internal/accountsdb"
	"marquee/modules/accounts/sessions"
	"marquee/platform/fault"
	"marquee/platform/httpapi"
	"marquee/platform/objectid"
	"marquee/platform/postgres"
	"marquee/platform/secret"
)

// requestEmailChange mails a code to the new address; the old one stays until it
// is confirmed. Errors: 400 for the present address, 409 CONFLICT for one that is
// somebody's login, 429 within the cooldown, which counts for the customer and
// for the new address; 400 for a wrong current password. The old address is told, with
// a link that undoes it.
func (s *EmailChanges) requestEmailChange(ctx context.Context, customerID objectid.ID, email string,
	current *secret.Text,
) error {
	caller, err := s.deps.Identity.CallerRow(ctx, customerID)
	if err != nil {
		return err
	}
	if err := s.ProveForChange(ctx, caller, current); err != nil {
		return err
	}
	err = postgres.InTx(ctx, s.deps.Pool, func(tx pgx.Tx) error {
		u, err := s.deps.Identity.LockedCustomerTx(ctx, tx, customerID)
		if err != nil {
			return err
		}
		if email == u.Email {
			return fault.BadRequest("This is your e-mail already.").WithField("new_email")
		}
		taken, err := s.db.UserLoginExists(ctx, tx,
			accountsdb.UserLoginExistsParams{Login: email, UserID: u.ID.String()})
		if err != nil {
			return err
		}
		if taken {
			return errEmailTaken()
		}
		if err := s.holdsNoGuestsPurchases(ctx, tx, u); err != nil {
			return err
		}
		if err := s.TakeChange(ctx, tx, u.ID); err != nil {
			return err
		}
		if err := s.codes.cooldownTx(ctx, tx, purposeEmailChange, u.ID.String()); err != nil {
			return err
		}
		if err := s.codes.ClaimTurnTx(ctx, tx, purposeEmailChange, email); err != nil {
			return err
		}
		if err := s.codes.takeMail(ctx, tx, u.Email); err != nil { // so that it is told of each, and not too often
			return err
		}
		if err := s.requestTx(ctx, tx, u, email); err != nil {
			return err
		}
		return s.codes.IssueTx(ctx, tx, u.ID, purposeEmailChange, email)
	})
	if err != nil {
		return fmt.Errorf("change e-mail: %w", err)
	}
	return nil
}

// Connect tells who knows of guests' purchases; nil: nobody.
func (s *EmailChanges) Connect(guests GuestPurchases) { s.guests = guests }

// GuestPurchases tells of what was bought for an address without a login. The module
// above that sells so fills it.
type GuestPurchases interface {
	HasGuestPurchases(ctx context.Context, db postgres.DB, customerID objectid.ID) (bool, error)
}

// holdsNoGuestsPurchases is 409 for an address that is not proved and for which somebody has
// bought without a login: proving another one would show what the owner of this one has.
func (s *EmailChanges) holdsNoGuestsPurchases(ctx context.Context, db postgres.DB, u accountsdb.User) error {
	if u.EmailVerified || s.guests == nil {
		return nil
	}
	holds, err := s.guests.HasGuestPurchases(ctx, db, u.ID)
	if err != nil || !holds {
		return err
	}
	return fault.Conflict("Something was bought for your current e-mail without a login: verify it before you change it.").WithField("new_email")
}

func errEmailTaken() error {
	return fault.Conflict("This e-mail already has an account.").WithField("new_email")
}

// confirmEmailChange makes the address that the code was mailed to the customer's
// e-mail and username. Codes that prove the old address end. Errors: 400 no
// pending change, expired or wrong code; 409 CONFLICT when the address was taken
// meanwhile, which leaves the pending change as it was; 429.
func (s *EmailChanges) confirmEmailChange(ctx context.Context, customerID objectid.ID,
	code secret.Text,
) (accountsdb.User, error) {
	var after accountsdb.User
	var refusal *fault.Error
	err := postgres.InTx(ctx, s.deps.Pool, func(tx pgx.Tx) error {
		before, err := s.deps.Identity.LockedCustomerTx(ctx, tx, customerID)
		if err != nil {
			return err
		}
		var row accountsdb.Code
		row, refusal, err = s.codes.tryTx(ctx, tx, customerID, purposeEmailChange, code)
		if err != nil || refusal != nil {
			return err
		}
		if err := s.holdsNoGuestsPurchases(ctx, tx, before); err != nil {
			return err
		}
		now := s.deps.Clock.Now()
		after, err = s.db.UserChangeEmail(ctx, tx,
			accountsdb.UserChangeEmailParams{ID: customerID, Email: row.Address, Now: &now})
		if postgres.Constraint(err) == identity.UniqueLogin {
			return errEmailTaken()
		}
		if err != nil {
			return err
		}
		if err := s.db.CodeDeleteOfUser(ctx, tx, customerID); err != nil {
			return err
		}
		if err := s.MadeChangeTx(ctx, tx, before, row.Address, UsernameIsAddress); err != nil {
			return err
		}
		return s.deps.Identity.ChangedTx(ctx, tx, after, !before.EmailVerified)
	})
	if err != nil {
		return after, fmt.Errorf("confirm e-mail: %w", err)
	}
	if refusal != nil {
		return after, refusal
	}
	return after, nil
}

type changeEmailInput struct {
	sessions.DeviceInput
	Body struct {
		NewEmail        string       `json:"new_email" doc:"E-mail address, at most 254 characters"`
		CurrentPassword *secret.Text `json:"current_password,omitempty" required:"false" maxLength:"1024" doc:"400 when wrong, the empty one too; compulsory where EMAIL_CHANGE_NEEDS_PASSWORD says so"`
	}
}

type emailChangeStarted struct {
	Message          string `json:"message"`
	NewEmail         string `json:"new_email"`
	ExpiresInMinutes int    `json:"expires_in_minutes"`
}

// ChangeEmail answers POST /customers/me/change-email.
func (h Handlers) ChangeEmail(ctx context.Context, in *changeEmailInput) (*httpapi.Output[emailChangeStarted], error) {
	email, err := identity.NormalEmail(in.Body.NewEmail, "body", "new_email")
	if err != nil {
		return nil, err
	}
	if err := h.changes.requestEmailChange(in.DeviceInput.In(ctx), httpapi.CallerOf(ctx).ID, email,
		in.Body.CurrentPassword); err != nil {
		return nil, err
	}
	return httpapi.OK(emailChangeStarted{
		Message:  "A code is on its way to the new address. Send it to /customers/me/confirm-email.",
		NewEmail: email, ExpiresInMinutes: h.codes.Minutes(),
	})
}

type confirmEmailInput struct {
	Body struct {
		VerificationCode secret.Text `json:"verification_code" pattern:"^[0-9]{6}$" patternDescription:"exactly 6 digits"`
	}
}

// ConfirmEmail answers POST /customers/me/confirm-email.
func (h Handlers) ConfirmEmail(ctx context.Context,
	in *confirmEmailInput,
) (*httpapi.EnvelopeOutput[identity.CustomerDoc], error) {
	u, err := h.changes.confirmEmailChange(ctx, httpapi.CallerOf(ctx).ID, in.Body.VerificationCode)
	if err != nil {
		return nil, err
	}
	return identity.CustomerEnvelope(ctx, u, MessageBody{
		Message: "Your e-mail is now " + u.Email + ". Log in with it from now on.",
	})
}
