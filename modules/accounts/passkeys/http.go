package passkeys

import (
	"context"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"

	"marquee/modules/accounts/identity"
	"marquee/modules/accounts/internal/accountsdb"
	"marquee/modules/accounts/sessions"
	"marquee/modules/accounts/signins"
	"marquee/platform/fault"
	"marquee/platform/httpapi"
	"marquee/platform/objectid"
	"marquee/platform/postgres"
	"marquee/platform/secret"
)

// Handlers answers the routes.
type Handlers struct{ p *Passkeys }

// Handlers returns what answers the routes.
func (p *Passkeys) Handlers() Handlers { return Handlers{p} }

// LoginOptions answers POST /auth/passkeys/options, alike for everybody: who signs in, the authenticator says.
func (h Handlers) LoginOptions(ctx context.Context, _ *struct{}) (*httpapi.Output[loginOptions], error) {
	if err := h.p.available(); err != nil {
		return nil, err
	}
	made, session, err := h.p.ceremony.BeginDiscoverableLogin()
	if err != nil {
		return nil, fmt.Errorf("make a challenge: %w", err)
	}
	expires, err := h.p.storeChallenge(ctx, session.Challenge, "")
	if err != nil {
		return nil, err
	}
	return httpapi.OK(loginOptions{PublicKey: requestOptionsOf(made.Response), ExpiresAt: httpapi.Time(expires)})
}

type passkeyVerifyInput struct {
	sessions.DeviceInput
	Body struct {
		Credential assertion `json:"credential" doc:"What PublicKeyCredential.toJSON gives"`
	}
}

// Verify answers POST /auth/passkeys/verify.
func (h Handlers) Verify(ctx context.Context, in *passkeyVerifyInput) (*sessions.TokenOutput, error) {
	ctx = in.DeviceInput.In(ctx)
	if err := h.p.available(); err != nil {
		return nil, err
	}
	began := h.p.deps.Clock.Now()
	response, err := in.Body.Credential.read()
	if err != nil {
		return nil, h.p.refuse(ctx, "", err)
	}
	u, err := h.p.prove(ctx, response)
	if err != nil {
		return nil, err
	}
	return h.p.deps.Sessions.SignIn(ctx, u, began, signins.ByPasskey)
}

type passkeyOptionsInput struct {
	sessions.DeviceInput
	Body struct {
		CurrentPassword secret.Text `json:"current_password" minLength:"1" maxLength:"1024"`
		Totp            secret.Text `json:"totp,omitempty" required:"false" maxLength:"64" doc:"Of users with a second factor: its code, or a recovery code"`
	}
}

// RegistrationOptions answers POST /me/passkeys/options.
func (h Handlers) RegistrationOptions(ctx context.Context,
	in *passkeyOptionsInput,
) (*httpapi.Output[registrationOptions], error) {
	if err := h.p.available(); err != nil {
		return nil, err
	}
	u, err := h.proved(in.DeviceInput.In(ctx), in.Body.CurrentPassword, in.Body.Totp)
	if err != nil {
		return nil, err
	}
	a, err := h.p.accountOf(ctx, u)
	if err != nil {
		return nil, err
	}
	platform, err := h.p.deps.PlatformName(ctx)
	if err != nil {
		return nil, err
	}
	made, session, err := h.p.ceremony.BeginRegistration(a)
	if err != nil {
		return nil, fmt.Errorf("make a challenge: %w", err)
	}
	made.Response.RelyingParty.Name = platform
	expires, err := h.p.storeChallenge(ctx, session.Challenge, u.ID)
	if err != nil {
		return nil, err
	}
	return httpapi.OK(registrationOptions{
		PublicKey: creationOptionsOf(made.Response, a), ExpiresAt: httpapi.Time(expires),
	})
}

// proved returns who calls, once they have proved password and second factor; 400 with the field.
func (h Handlers) proved(ctx context.Context, current, code secret.Text) (accountsdb.User, error) {
	u, err := h.p.deps.Sessions.ProveCaller(ctx, current)
	if err != nil {
		return u, err
	}
	enabled, err := h.p.deps.Totp.Enabled(ctx, h.p.deps.Pool, u.ID)
	if err != nil || !enabled {
		return u, err
	}
	if code.Empty() {
		return u, fault.BadRequest("The code of your second factor is needed.").WithField("totp")
	}
	ok, err := h.p.deps.Sessions.ProveSecondFactor(ctx, u, code)
	if err == nil && !ok {
		err = fault.BadRequest("The code is wrong, or was used before.").WithField("totp")
	}
	return u, err
}

type passkeyRegisterInput struct {
	Body struct {
		Name       string      `json:"name" minLength:"1" maxLength:"100" doc:"By which its owner knows it, such as that of the device"`
		Credential attestation `json:"credential" doc:"What PublicKeyCredential.toJSON gives"`
	}
}

// Passkey is one as its owner sees it.
type Passkey struct {
	ID        objectid.ID   `json:"_id"`
	Name      string        `json:"name"`
	BackedUp  bool          `json:"backed_up" doc:"Whether it is copied to other devices of its owner"`
	CreatedAt httpapi.Time  `json:"created_at"`
	UsedAt    *httpapi.Time `json:"used_at" nullable:"true" doc:"When somebody last signed in with it; null: never"`
}

func passkeyFrom(row accountsdb.AccountsPasskey) Passkey {
	return Passkey{
		ID: row.ID, Name: row.Name, BackedUp: row.BackedUp, CreatedAt: httpapi.Time(row.CreatedAt),
		UsedAt: httpapi.TimePtr(row.UsedAt),
	}
}

// trailOf is what the audit trail keeps of a passkey.
func trailOf(id objectid.ID, name string) map[string]any {
	return map[string]any{"passkey_id": id, "passkey": name}
}

// Register answers POST /me/passkeys.
func (h Handlers) Register(ctx context.Context, in *passkeyRegisterInput) (*httpapi.Output[Passkey], error) {
	if err := h.p.available(); err != nil {
		return nil, err
	}
	name := strings.TrimSpace(in.Body.Name)
	if err := identity.CheckPersonName(name, "body", "name"); err != nil {
		return nil, err
	}
	response, err := in.Body.Credential.read()
	if err != nil {
		return nil, h.p.errCredential(ctx, httpapi.CallerOf(ctx).ID, err)
	}
	var made accountsdb.AccountsPasskey
	var refusal error
	err = postgres.InTx(ctx, h.p.deps.Pool, func(tx pgx.Tx) error {
		u, err := h.p.deps.Sessions.LockCallerTx(ctx, tx)
		if err != nil {
			return err
		}
		if made, refusal, err = h.p.registerTx(ctx, tx, u, response, name); err != nil || refusal != nil {
			return err
		}
		return identity.RecordTx(ctx, tx, u, map[string]any{}, trailOf(made.ID, name))
	})
	if err == nil {
		err = refusal
	}
	if err != nil {
		return nil, err
	}
	return httpapi.OK(passkeyFrom(made))
}

// List answers GET /me/passkeys.
func (h Handlers) List(ctx context.Context, _ *struct{}) (*httpapi.EnvelopeOutput[Passkey], error) {
	all, err := h.p.RecordsOf(ctx, h.p.deps.Pool, httpapi.CallerOf(ctx).ID)
	if err != nil {
		return nil, err
	}
	return httpapi.All(ctx, all), nil
}

// RecordsOf are all passkeys of the user, also for the file of what is held about them.
func (p *Passkeys) RecordsOf(ctx context.Context, db postgres.DB, userID objectid.ID) ([]Passkey, error) {
	rows, err := p.db.PasskeyList(ctx, db, userID)
	if err != nil {
		return nil, fmt.Errorf("list passkeys: %w", err)
	}
	all := make([]Passkey, len(rows))
	for i, row := range rows {
		all[i] = passkeyFrom(row)
	}
	return all, nil
}

type passkeyInput struct {
	PasskeyID string `path:"passkey_id" pattern:"^[0-9a-fA-F]{24}$" patternDescription:"an id of 24 hexadecimal digits"`
}

type passkeyRemoved struct {
	Message string `json:"message"`
}

// Remove answers DELETE /me/passkeys/{passkey_id}.
func (h Handlers) Remove(ctx context.Context, in *passkeyInput) (*httpapi.Output[passkeyRemoved], error) {
	c := httpapi.CallerOf(ctx)
	id := objectid.ID(strings.ToLower(in.PasskeyID))
	err := postgres.InTx(ctx, h.p.deps.Pool, func(tx pgx.Tx) error {
		name, err := h.p.db.PasskeyDelete(ctx, tx, accountsdb.PasskeyDeleteParams{ID: id, UserID: c.ID})
		if postgres.IsNoRows(err) {
			return fault.NotFound("Passkey")
		}
		if err != nil {
			return fmt.Errorf("remove a passkey: %w", err)
		}
		return identity.RecordTx(ctx, tx, accountsdb.User{ID: c.ID, UserType: c.Type}, trailOf(id, name),
			map[string]any{})
	})
	if err != nil {
		return nil, err
	}
	return httpapi.OK(passkeyRemoved{Message: "The passkey is removed and can no longer be used to sign in."})
}
