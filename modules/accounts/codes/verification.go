package codes

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/riverqueue/river"

	"marquee/modules/accounts/identity"
	"marquee/modules/accounts/internal/accountsdb"
	"marquee/platform/fault"
	"marquee/platform/httpapi"
	"marquee/platform/objectid"
	"marquee/platform/postgres"
	"marquee/platform/secret"
)

// VerifyEmail proves the customer's address by a mailed code. Errors: 404; 400
// already verified, no active code, expired or wrong code; 429 when the attempts
// are used up.
func (s *Codes) VerifyEmail(ctx context.Context, customerID objectid.ID, code secret.Text) (accountsdb.User, error) {
	var user accountsdb.User
	var refusal *fault.Error
	err := postgres.InTx(ctx, s.deps.Pool, func(tx pgx.Tx) error {
		u, err := s.deps.Identity.LockedCustomerTx(ctx, tx, customerID)
		if err != nil {
			return err
		}
		if u.EmailVerified {
			return fault.BadRequestDetail("The e-mail is already verified.")
		}
		_, refusal, err = s.tryTx(ctx, tx, customerID, PurposeVerification, code)
		if err != nil || refusal != nil {
			return err
		}
		now := s.deps.Clock.Now()
		if user, err = s.db.UserVerifyEmail(ctx, tx,
			accountsdb.UserVerifyEmailParams{ID: customerID, Now: &now}); err != nil {
			return err
		}
		return s.deps.Identity.ChangedTx(ctx, tx, user, true)
	})
	if err != nil {
		return user, fmt.Errorf("verify e-mail: %w", err)
	}
	if refusal != nil {
		return user, refusal
	}
	return user, nil
}

// requestVerification takes the address's turn and queues the rest. What it does
// is the same for known and unknown addresses, so neither the answer nor its
// time tells them apart.
func (s *Codes) requestVerification(ctx context.Context, email string) error {
	return s.requestCode(ctx, PurposeVerification, email,
		func(userID objectid.ID) river.JobArgs { return ResendArgs{UserID: userID} })
}

// ResendArgs is the job that makes and mails a new verification code, where
// there is somebody to verify. UserID is empty for an unknown address.
type ResendArgs struct {
	UserID objectid.ID `json:"user_id"`
}

// Kind names the job.
func (ResendArgs) Kind() string { return "accounts_resend_verification" }

// Resend does nothing for who is unknown, gone, disabled or verified. Run again,
// it makes one more code, which replaces the first.
func (s *Codes) Resend(ctx context.Context, a ResendArgs) error {
	if a.UserID == "" {
		return nil
	}
	return postgres.InTx(ctx, s.deps.Pool, func(tx pgx.Tx) error {
		u, err := s.db.UserLockCustomer(ctx, tx, a.UserID)
		if postgres.IsNoRows(err) {
			return nil
		}
		if err != nil || u.EmailVerified || !u.Enable {
			return err
		}
		return s.IssueTx(ctx, tx, u.ID, PurposeVerification, u.Email)
	})
}

type verifyInput struct {
	Body struct {
		Code secret.Text `json:"code" pattern:"^[0-9]{6}$" patternDescription:"exactly 6 digits"`
	}
}

type verifiedBody struct {
	Message         string       `json:"message"`
	EmailVerified   bool         `json:"email_verified"`
	EmailVerifiedAt httpapi.Time `json:"email_verified_at"`
}

// VerifyEmail answers POST /customers/me/verify-email.
func (h Handlers) VerifyEmail(ctx context.Context, in *verifyInput) (*httpapi.Output[verifiedBody], error) {
	u, err := h.codes.VerifyEmail(ctx, httpapi.CallerOf(ctx).ID, in.Body.Code)
	if err != nil {
		return nil, err
	}
	return httpapi.OK(verifiedBody{
		Message: "E-mail verified.", EmailVerified: true, EmailVerifiedAt: httpapi.Time(*u.EmailVerifiedAt),
	})
}

type resendInput struct {
	Body struct {
		Email string `json:"email" doc:"E-mail address, at most 254 characters"`
	}
}

// ResendVerification answers POST /auth/resend-verification, alike for known and unknown addresses.
func (h Handlers) ResendVerification(ctx context.Context, in *resendInput) (*httpapi.Output[MessageBody], error) {
	email, err := identity.NormalEmail(in.Body.Email, "body", "email")
	if err != nil {
		return nil, err
	}
	if err := h.codes.requestVerification(ctx, email); err != nil {
		return nil, err
	}
	return httpapi.OK(MessageBody{Message: "If this address awaits verification, a code is on its way."})
}
