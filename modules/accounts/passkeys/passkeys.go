package passkeys

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/go-webauthn/webauthn/protocol"
	"github.com/go-webauthn/webauthn/webauthn"
	"github.com/jackc/pgx/v5"

	"marquee/modules/accounts/internal/accountsdb"
	"marquee/modules/accounts/sessions"
	"marquee/modules/accounts/totp"
	"marquee/platform/clock"
	"marquee/platform/fault"
	"marquee/platform/httpapi"
	"marquee/platform/nullable"
	"marquee/platform/objectid"
	"marquee/platform/postgres"
	"marquee/platform/secret"
)

const (
	// challengeTime is how long somebody may take to answer one.
	challengeTime = 5 * time.Minute
	// mostPasskeys bounds those of a user.
	mostPasskeys = 20
	// longestKey bounds a public key, in bytes: RSA of 8,192 bits is half of it, and whoever registers says how long it
	// is.
	longestKey = 2048
)

// Config says for which site passkeys are.
type Config struct {
	RPID    string   // the domain that they belong to; "" for none, and no passkeys
	Origins []string // of the pages that may use them
}

// Deps are what New needs.
type Deps struct {
	Pool     postgres.Pool
	Clock    clock.Clock
	Log      *slog.Logger
	Sessions *sessions.Sessions
	Totp     *totp.Store
	Config   Config
	// PlatformName is how authenticators show the platform, beside its domain.
	PlatformName func(ctx context.Context) (string, error)
}

// Passkeys is the room.
type Passkeys struct {
	deps     Deps
	db       *accountsdb.Queries
	ceremony *webauthn.WebAuthn // nil without a domain
}

// New makes the room. It fails when the domain or an origin is none.
func New(d Deps) (*Passkeys, error) {
	p := &Passkeys{deps: d, db: accountsdb.New()}
	if d.Config.RPID == "" {
		return p, nil
	}
	var err error
	p.ceremony, err = webauthn.New(&webauthn.Config{
		RPID: d.Config.RPID, RPOrigins: d.Config.Origins,
		RPDisplayName:         d.Config.RPID, // the library wants one; each registration has the name of its day
		AttestationPreference: protocol.PreferNoAttestation,
		AuthenticatorSelection: protocol.AuthenticatorSelection{
			ResidentKey: protocol.ResidentKeyRequirementRequired, RequireResidentKey: new(true),
			UserVerification: protocol.VerificationRequired,
		},
	})
	if err != nil {
		return nil, fmt.Errorf("passkeys of %q: %w", d.Config.RPID, err)
	}
	return p, nil
}

// available is 409 where the platform has no domain for passkeys.
func (p *Passkeys) available() error {
	if p.ceremony == nil {
		return fault.Conflict("Passkeys are not available: the platform has no domain to register them for.")
	}
	return nil
}

// storeChallenge notes a challenge that was given to a user, "" for a sign-in, and until when it is good.
func (p *Passkeys) storeChallenge(ctx context.Context, challenge string, userID objectid.ID) (time.Time, error) {
	expires := p.deps.Clock.Now().Add(challengeTime)
	err := p.db.PasskeyChallengeInsert(ctx, p.deps.Pool, accountsdb.PasskeyChallengeInsertParams{
		ChallengeHash: secret.Hash(challenge), UserID: nullable.Ptr(userID), ExpiresAt: expires,
	})
	if err != nil {
		return time.Time{}, fmt.Errorf("keep a challenge: %w", err)
	}
	return expires, nil
}

// useChallenge takes a challenge for good; false for one that is over, was not given so, or was used.
func (p *Passkeys) useChallenge(ctx context.Context, db postgres.DB, challenge string,
	userID objectid.ID,
) (bool, error) {
	n, err := p.db.PasskeyChallengeUse(ctx, db, accountsdb.PasskeyChallengeUseParams{
		ChallengeHash: secret.Hash(challenge), UserID: nullable.Ptr(userID.String()), Now: p.deps.Clock.Now(),
	})
	if err != nil {
		return false, fmt.Errorf("use a challenge: %w", err)
	}
	return n > 0, nil
}

// account is a user as the library sees one.
type account struct {
	user        accountsdb.User
	credentials []webauthn.Credential
}

// WebAuthnID implements webauthn.User.
func (a account) WebAuthnID() []byte { return []byte(a.user.ID) }

// WebAuthnName implements webauthn.User.
func (a account) WebAuthnName() string { return a.user.Username }

// WebAuthnDisplayName implements webauthn.User.
func (a account) WebAuthnDisplayName() string { return a.user.Username }

// WebAuthnCredentials implements webauthn.User.
func (a account) WebAuthnCredentials() []webauthn.Credential { return a.credentials }

func credentialOf(row accountsdb.AccountsPasskey) webauthn.Credential {
	c := webauthn.Credential{
		ID: row.CredentialID, PublicKey: row.PublicKey,
		Flags: webauthn.CredentialFlags{
			UserPresent: true, UserVerified: true, BackupEligible: row.BackupEligible, BackupState: row.BackedUp,
		},
		Authenticator: webauthn.Authenticator{SignCount: uint32(row.SignCount)}, //nolint:gosec // it was one
	}
	for _, transport := range row.Transports {
		c.Transport = append(c.Transport, protocol.AuthenticatorTransport(transport))
	}
	return c
}

// accountOf is the user with all their passkeys.
func (p *Passkeys) accountOf(ctx context.Context, u accountsdb.User) (account, error) {
	rows, err := p.db.PasskeyList(ctx, p.deps.Pool, u.ID)
	if err != nil {
		return account{}, fmt.Errorf("list passkeys: %w", err)
	}
	a := account{user: u}
	for _, row := range rows {
		a.credentials = append(a.credentials, credentialOf(row))
	}
	return a, nil
}

// registerTx checks what an authenticator made of a challenge that the user was given, and keeps the passkey. refusal
// is an answer that leaves the challenge used: 400 with the field credential for whatever does not hold, 409 for one
// that is registered, and beyond the number that a user may have. The user's row is locked: what removes their passkeys
// removes their challenges, too, and so comes before, or after all of this.
func (p *Passkeys) registerTx(ctx context.Context, tx pgx.Tx, u accountsdb.User,
	response *protocol.ParsedCredentialCreationData, name string,
) (row accountsdb.AccountsPasskey, refusal, err error) {
	challenge := response.Response.CollectedClientData.Challenge
	ok, err := p.useChallenge(ctx, tx, challenge, u.ID)
	if err != nil {
		return row, nil, err
	}
	if !ok {
		return row, p.errCredential(ctx, u.ID, errUnknownChallenge), nil
	}
	of := account{user: u}
	made, err := p.ceremony.CreateCredential(of, webauthn.SessionData{
		Challenge: challenge, RelyingPartyID: p.deps.Config.RPID, UserID: of.WebAuthnID(),
		UserVerification: protocol.VerificationRequired, CredParams: webauthn.CredentialParametersDefault(),
	}, response)
	if err == nil && len(made.PublicKey) > longestKey {
		err = errLongKey
	}
	if err != nil {
		return row, p.errCredential(ctx, u.ID, err), nil
	}
	n, err := p.db.PasskeyCount(ctx, tx, u.ID)
	if err != nil {
		return row, nil, fmt.Errorf("count passkeys: %w", err)
	}
	if n >= mostPasskeys {
		return row, fault.Conflict("You have %s already. Remove one first.", fault.Count(mostPasskeys, "passkey")), nil
	}
	now := p.deps.Clock.Now()
	row = accountsdb.AccountsPasskey{
		ID: objectid.At(now), UserID: u.ID, CredentialID: made.ID, PublicKey: made.PublicKey,
		SignCount: int64(made.Authenticator.SignCount), BackupEligible: made.Flags.BackupEligible,
		BackedUp: made.Flags.BackupState, Transports: transportsOf(made), Name: name, CreatedAt: now,
	}
	inserted, err := p.db.PasskeyInsert(ctx, tx, accountsdb.PasskeyInsertParams{
		ID: row.ID, UserID: row.UserID, CredentialID: row.CredentialID, PublicKey: row.PublicKey,
		SignCount: row.SignCount, BackupEligible: row.BackupEligible, BackedUp: row.BackedUp,
		Transports: row.Transports, Name: row.Name, Now: now,
	})
	if err != nil {
		return row, nil, fmt.Errorf("keep a passkey: %w", err)
	}
	if inserted == 0 {
		return row, fault.Conflict("This passkey is registered already.").WithField("credential"), nil
	}
	return row, nil, nil
}

// transportsOf are those by which browsers reach the authenticator, of which they are told again; what no standard
// names is left out.
func transportsOf(c *webauthn.Credential) []string {
	known := []string{}
	for _, transport := range c.Transport {
		switch transport {
		case protocol.USB, protocol.NFC, protocol.BLE, protocol.SmartCard, protocol.Hybrid, protocol.Internal:
			if text := string(transport); !slices.Contains(known, text) {
				known = append(known, text)
			}
		}
	}
	return known
}

// Why an answer is refused beside what the library finds, for the log.
var (
	errUnknownChallenge = errors.New("the challenge is over, was used, or was not given for this")
	errUnknownPasskey   = errors.New("nobody has this passkey")
	errLongKey          = errors.New("the key is too long")
	errCopied           = errors.New("its counter does not rise: there may be a copy of it")
)

// errCredential is 400; why is for the log.
func (p *Passkeys) errCredential(ctx context.Context, userID objectid.ID, err error) error {
	p.logRefusal(ctx, userID, err)
	return fault.BadRequest("The passkey was not accepted. Begin again.").WithField("credential")
}

// logRefusal says why an authenticator's answer was refused, without what it answered.
func (p *Passkeys) logRefusal(ctx context.Context, userID objectid.ID, err error) {
	reason, level := "the answer is malformed", slog.LevelInfo
	var refused *protocol.Error
	switch {
	case errors.As(err, &refused):
		reason = refused.Type
	case errors.Is(err, errCopied):
		reason, level = err.Error(), slog.LevelWarn
	case errors.Is(err, errUnknownChallenge), errors.Is(err, errUnknownPasskey), errors.Is(err, errLongKey):
		reason = err.Error()
	}
	p.logTried(ctx, level, userID, "refused", slog.String("reason", reason))
}

// logTried logs whose passkey was tried, from where, and what came of it; the user is empty where no passkey was found.
func (p *Passkeys) logTried(ctx context.Context, level slog.Level, userID objectid.ID, result string,
	more ...slog.Attr,
) {
	p.deps.Log.LogAttrs(ctx, level, "passkey tried", append([]slog.Attr{
		slog.String("request_id", httpapi.RequestID(ctx)), slog.String("user_id", userID.String()),
		slog.String("result", result), slog.String("addr", httpapi.ClientIP(ctx)),
	}, more...)...)
}

// errNotAccepted is one sentence for all that does not hold at a sign-in.
func errNotAccepted() *fault.Error {
	return &fault.Error{
		Kind: fault.KindUnauthenticated, Code: fault.CodeInvalidCredentials,
		Message: "The passkey was not accepted. Begin again.",
	}
}

// refuse logs why a sign-in was refused, and answers it as any other.
func (p *Passkeys) refuse(ctx context.Context, userID objectid.ID, why error) error {
	p.logRefusal(ctx, userID, why)
	return errNotAccepted()
}

// prove returns the user whose passkey signed a challenge of ours; 401 INVALID_CREDENTIALS for whatever does not hold:
// a challenge that is over or was used, another domain or origin, nobody's passkey, one whose counter does not rise.
func (p *Passkeys) prove(ctx context.Context,
	response *protocol.ParsedCredentialAssertionData,
) (accountsdb.User, error) {
	challenge := response.Response.CollectedClientData.Challenge
	ok, err := p.useChallenge(ctx, p.deps.Pool, challenge, "")
	if err != nil {
		return accountsdb.User{}, err
	}
	if !ok {
		return accountsdb.User{}, p.refuse(ctx, "", errUnknownChallenge)
	}
	userID := objectid.ID(response.Response.UserHandle)
	if !objectid.Valid(userID.String()) {
		return accountsdb.User{}, p.refuse(ctx, "", errUnknownPasskey)
	}
	found, err := p.db.PasskeyGetForLogin(ctx, p.deps.Pool, accountsdb.PasskeyGetForLoginParams{
		CredentialID: response.RawID, UserID: userID,
	})
	if postgres.IsNoRows(err) {
		return accountsdb.User{}, p.refuse(ctx, "", errUnknownPasskey)
	}
	if err != nil {
		return accountsdb.User{}, fmt.Errorf("read a passkey: %w", err)
	}
	row := found.AccountsPasskey
	a := account{user: found.User, credentials: []webauthn.Credential{credentialOf(row)}}
	_, used, err := p.ceremony.ValidatePasskeyLogin(
		func([]byte, []byte) (webauthn.User, error) { return a, nil },
		webauthn.SessionData{
			Challenge: challenge, RelyingPartyID: p.deps.Config.RPID, UserVerification: protocol.VerificationRequired,
		}, response)
	if err != nil {
		return accountsdb.User{}, p.refuse(ctx, userID, err)
	}
	now := p.deps.Clock.Now()
	n, err := p.db.PasskeyUse(ctx, p.deps.Pool, accountsdb.PasskeyUseParams{
		ID: row.ID, OldSignCount: row.SignCount, SignCount: int64(response.Response.AuthenticatorData.Counter),
		BackedUp: used.Flags.BackupState, Now: &now,
	})
	if err != nil {
		return accountsdb.User{}, fmt.Errorf("use a passkey: %w", err)
	}
	if n == 0 {
		return accountsdb.User{}, p.refuse(ctx, userID, errCopied)
	}
	p.logTried(ctx, slog.LevelInfo, userID, "right")
	return found.User, nil
}

// ForgetTx removes the passkeys of a user, and what they have begun, and returns how many there were: the account is
// gone, or may have been in other hands.
func (p *Passkeys) ForgetTx(ctx context.Context, tx pgx.Tx, userID objectid.ID) (int, error) {
	if err := p.db.PasskeyChallengeDeleteOfUser(ctx, tx, userID.String()); err != nil {
		return 0, fmt.Errorf("remove challenges: %w", err)
	}
	n, err := p.db.PasskeyDeleteOfUser(ctx, tx, userID)
	if err != nil {
		return 0, fmt.Errorf("remove passkeys: %w", err)
	}
	return int(n), nil
}

// Sweep removes challenges that nobody answered in time.
func (p *Passkeys) Sweep(ctx context.Context) error {
	_, err := p.db.PasskeyChallengeDeleteOld(ctx, p.deps.Pool, p.deps.Clock.Now())
	return err
}
