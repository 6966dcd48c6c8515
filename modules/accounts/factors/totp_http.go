package factors

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/skip2/go-qrcode"

	"marquee/modules/accounts/identity"
	"marquee/modules/accounts/internal/accountsdb"
	"marquee/modules/accounts/sessions"
	"marquee/modules/accounts/totp"
	"marquee/platform/fault"
	"marquee/platform/httpapi"
	"marquee/platform/postgres"
	"marquee/platform/secret"
)

type totpState struct {
	Enabled       bool          `json:"enabled"`
	ConfirmedAt   *httpapi.Time `json:"confirmed_at" nullable:"true" doc:"Since when; null where there is none"`
	RecoveryCodes int           `json:"recovery_codes" doc:"How many are left"`
	Required      bool          `json:"required" doc:"Whether the caller needs one for their rights: of root users where MFA_REQUIRED_FOR_ROOT says so"`
}

// Totp answers GET /me/totp.
func (h Handlers) Totp(ctx context.Context, _ *struct{}) (*httpapi.Output[totpState], error) {
	c := httpapi.CallerOf(ctx)
	state, err := h.s.deps.Totp.State(ctx, h.s.deps.Pool, c.ID)
	if err != nil {
		return nil, err
	}
	return httpapi.OK(totpState{
		Enabled: state.ConfirmedAt != nil, ConfirmedAt: httpapi.TimePtr(state.ConfirmedAt),
		RecoveryCodes: state.RecoveryCodes, Required: h.s.deps.Config.RequiredForRoot && (c.Root || c.MFAMissing),
	})
}

type totpBeginInput struct {
	sessions.DeviceInput
	Body struct {
		CurrentPassword secret.Text `json:"current_password" minLength:"1" maxLength:"1024"`
	}
}

type totpBegun struct {
	Secret    string       `json:"secret" doc:"Base32, to be typed into an authenticator; shown only once"`
	URL       string       `json:"url" doc:"The same as otpauth://, for a link"`
	QRCode    []byte       `json:"qr_png" doc:"The same as a picture, a PNG in base64"`
	ExpiresAt httpapi.Time `json:"expires_at" doc:"Until when it can be confirmed"`
}

// qrPixels is how many pixels a module of the code has, as go-qrcode takes it.
const qrPixels = -6

// BeginTotp answers POST /me/totp.
func (h Handlers) BeginTotp(ctx context.Context, in *totpBeginInput) (*httpapi.Output[totpBegun], error) {
	u, err := h.s.deps.Sessions.ProveCaller(in.DeviceInput.In(ctx), in.Body.CurrentPassword)
	if err != nil {
		return nil, err
	}
	platform, err := h.s.deps.PlatformName(ctx)
	if err != nil {
		return nil, err
	}
	expires := h.s.deps.Clock.Now().Add(totp.SetUpTime)
	var made totp.Enrolment
	err = postgres.InTx(ctx, h.s.deps.Pool, func(tx pgx.Tx) (err error) {
		if made, err = h.s.deps.Totp.Begin(ctx, tx, u.ID, platform, u.Username); err != nil {
			return err
		}
		return identity.RecordTx(ctx, tx, u, map[string]any{}, map[string]any{"totp": "begun"})
	})
	if err != nil {
		return nil, err
	}
	picture, err := qrcode.Encode(made.URL, qrcode.Medium, qrPixels)
	if err != nil {
		return nil, fmt.Errorf("draw a code: %w", err)
	}
	return httpapi.OK(totpBegun{
		Secret: made.Secret, URL: made.URL, QRCode: picture, ExpiresAt: httpapi.Time(expires),
	})
}

type totpConfirmInput struct {
	sessions.DeviceInput
	Body struct {
		Totp secret.Text `json:"totp" minLength:"1" maxLength:"64" doc:"Six digits of the authenticator"`
	}
}

type recoveryCodes struct {
	Message       string   `json:"message"`
	RecoveryCodes []string `json:"recovery_codes" doc:"Each replaces the authenticator's code once; shown only once, and all earlier ones are void"`
}

// ConfirmTotp answers POST /me/totp/confirm.
func (h Handlers) ConfirmTotp(ctx context.Context, in *totpConfirmInput) (*httpapi.Output[recoveryCodes], error) {
	ctx = in.DeviceInput.In(ctx)
	c := httpapi.CallerOf(ctx)
	u, err := h.s.deps.Sessions.CallerRow(ctx)
	if err != nil {
		return nil, err
	}
	throttles := h.s.deps.Sessions.SecondFactorThrottles(ctx, u)
	if _, err := h.s.deps.Sessions.Throttles.CheckThrottles(ctx, h.s.deps.Pool, throttles); err != nil {
		return nil, err
	}
	var codes []string
	var ok bool
	err = postgres.InTx(ctx, h.s.deps.Pool, func(tx pgx.Tx) (err error) {
		if codes, ok, err = h.s.deps.Totp.Confirm(ctx, tx, u.ID, in.Body.Totp); err != nil || !ok {
			return err
		}
		if err := h.s.deps.SignIns.SecondFactorProvedTx(ctx, tx, c); err != nil {
			return err
		}
		return identity.RecordTx(ctx, tx, u, map[string]any{"totp": false}, map[string]any{"totp": true})
	})
	if err == nil && !ok {
		if err = h.s.deps.Sessions.Throttles.CountFailure(ctx, h.s.deps.Pool, throttles); err == nil {
			err = errWrongCode()
		}
	}
	if err != nil {
		return nil, err
	}
	return httpapi.OK(recoveryCodes{
		Message: "From now on signing in asks for a code. Keep the recovery codes.", RecoveryCodes: codes,
	})
}

func errWrongCode() *fault.Error {
	return fault.BadRequest("The code is wrong, or was used before.").WithField("totp")
}

type totpProvedInput struct {
	sessions.DeviceInput
	Body struct {
		CurrentPassword secret.Text `json:"current_password" minLength:"1" maxLength:"1024"`
		Totp            secret.Text `json:"totp" minLength:"1" maxLength:"64" doc:"Six digits of the authenticator, or a recovery code"`
	}
}

// RenewRecoveryCodes answers POST /me/totp/recovery-codes.
func (h Handlers) RenewRecoveryCodes(ctx context.Context, in *totpProvedInput) (*httpapi.Output[recoveryCodes], error) {
	var codes []string
	err := h.proved(ctx, in, func(ctx context.Context, tx pgx.Tx, u accountsdb.User) (err error) {
		if codes, err = h.s.deps.Totp.RenewCodes(ctx, tx, u.ID); err != nil {
			return err
		}
		return identity.RecordTx(ctx, tx, u, map[string]any{}, map[string]any{"recovery_codes": "renewed"})
	})
	if err != nil {
		return nil, err
	}
	return httpapi.OK(recoveryCodes{Message: "The earlier recovery codes are void.", RecoveryCodes: codes})
}

type totpRemoved struct {
	Message string `json:"message"`
}

// RemoveTotp answers DELETE /me/totp.
func (h Handlers) RemoveTotp(ctx context.Context, in *totpProvedInput) (*httpapi.Output[totpRemoved], error) {
	err := h.proved(ctx, in, func(ctx context.Context, tx pgx.Tx, u accountsdb.User) error {
		if _, err := h.s.deps.Totp.RemoveTx(ctx, tx, u.ID); err != nil {
			return err
		}
		return identity.RecordTx(ctx, tx, u, map[string]any{"totp": true}, map[string]any{"totp": false})
	})
	if err != nil {
		return nil, err
	}
	return httpapi.OK(totpRemoved{Message: "The second factor is removed. Signing in asks only for the password."})
}

// proved does something once the caller has proved password and second factor. Errors: 404 without a second factor, 400
// with the field current_password or totp, 429.
func (h Handlers) proved(ctx context.Context, in *totpProvedInput,
	then func(context.Context, pgx.Tx, accountsdb.User) error,
) error {
	ctx = in.DeviceInput.In(ctx)
	enabled, err := h.s.deps.Totp.Enabled(ctx, h.s.deps.Pool, httpapi.CallerOf(ctx).ID)
	if err != nil {
		return err
	}
	if !enabled {
		return fault.NotFound("Second factor")
	}
	u, err := h.s.deps.Sessions.ProveCaller(ctx, in.Body.CurrentPassword)
	if err != nil {
		return err
	}
	ok, err := h.s.deps.Sessions.ProveSecondFactor(ctx, u, in.Body.Totp)
	if err != nil {
		return err
	}
	if !ok {
		return errWrongCode()
	}
	return postgres.InTx(ctx, h.s.deps.Pool, func(tx pgx.Tx) error { return then(ctx, tx, u) })
}
