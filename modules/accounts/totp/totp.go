package totp

import (
	"context"
	"crypto/cipher"
	"crypto/rand"
	"encoding/base32"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/pquerna/otp"
	rfc6238 "github.com/pquerna/otp/totp"

	"marquee/modules/accounts/internal/accountsdb"
	"marquee/modules/accounts/signins"
	"marquee/platform/clock"
	"marquee/platform/fault"
	"marquee/platform/objectid"
	"marquee/platform/postgres"
	"marquee/platform/secret"
)

const (
	// secretBytes is what RFC 4226 recommends, 160 bits.
	secretBytes = 20
	// SetUpTime is how long a secret waits to be confirmed.
	SetUpTime = time.Hour
)

// Deps are what New needs.
type Deps struct {
	Clock     clock.Clock
	MasterKey []byte // that the keys of secrets and recovery codes are derived from
}

// Store keeps second factors and checks codes.
type Store struct {
	deps     Deps
	db       *accountsdb.Queries
	secrets  cipher.AEAD
	recovery []byte // key of the MACs of recovery codes
}

// New makes the room.
func New(d Deps) *Store {
	return &Store{
		deps: d, db: accountsdb.New(), secrets: secret.NewAEAD(d.MasterKey, "accounts/totp secrets"),
		recovery: secret.Derive(d.MasterKey, "accounts/recovery codes"),
	}
}

// Enrolment is what an authenticator is given, once.
type Enrolment struct {
	Secret string // base32, to be typed
	URL    string // otpauth://, to be scanned
}

// State is what there is to say about a user's second factor.
type State struct {
	ConfirmedAt   *time.Time // nil: there is none
	RecoveryCodes int        // that are left
}

var base32Text = base32.StdEncoding.WithPadding(base32.NoPadding)

// Begin makes a secret that Confirm takes within SetUpTime, in place of an earlier one that was never
// confirmed; 409 CONFLICT when the user has a second factor. issuer and account are how the authenticator names it.
func (s *Store) Begin(ctx context.Context, db postgres.DB, userID objectid.ID,
	issuer, account string,
) (Enrolment, error) {
	raw := make([]byte, secretBytes)
	_, _ = rand.Read(raw) // crypto/rand never fails since Go 1.24
	key, err := rfc6238.Generate(rfc6238.GenerateOpts{Issuer: issuerOf(issuer), AccountName: account, Secret: raw})
	if err != nil {
		return Enrolment{}, fmt.Errorf("make a second factor: %w", err)
	}
	sealed := s.secrets.Seal(nil, nil, raw, []byte(userID)) //nolint:gosec // it makes its own nonce
	n, err := s.db.TotpBegin(ctx, db, accountsdb.TotpBeginParams{
		UserID: userID, Secret: sealed, Now: s.deps.Clock.Now(),
	})
	if err != nil {
		return Enrolment{}, fmt.Errorf("keep a second factor: %w", err)
	}
	if n == 0 {
		return Enrolment{}, fault.Conflict("There is a second factor already. Remove it first.")
	}
	return Enrolment{Secret: key.Secret(), URL: key.URL()}, nil
}

// issuerOf is the name of the platform as an authenticator can be told it: a colon ends it there.
func issuerOf(name string) string {
	if name = strings.Join(strings.Fields(strings.ReplaceAll(name, ":", " ")), " "); name != "" {
		return name
	}
	return "Marquee"
}

func errNoneBegun() error {
	return fault.Conflict("There is no second factor to confirm. Begin at POST /me/totp; it waits for an hour.")
}

// Confirm makes the secret of Begin count once a code of it is right, and returns the recovery codes; ok
// is false for a wrong code. 409 CONFLICT where nothing waits to be confirmed.
func (s *Store) Confirm(ctx context.Context, tx pgx.Tx, userID objectid.ID,
	code secret.Text,
) (recovery []string, ok bool, err error) {
	now := s.deps.Clock.Now()
	row, err := s.db.TotpGet(ctx, tx, userID)
	if postgres.IsNoRows(err) || err == nil && (row.ConfirmedAt != nil || now.Sub(row.CreatedAt) > SetUpTime) {
		return nil, false, errNoneBegun()
	}
	if err != nil {
		return nil, false, fmt.Errorf("read a second factor: %w", err)
	}
	step, err := s.stepOf(row, code, now)
	if err != nil || step == 0 {
		return nil, false, err
	}
	n, err := s.db.TotpConfirm(ctx, tx, accountsdb.TotpConfirmParams{
		UserID: userID, Secret: row.Secret, Step: step, Now: &now,
	})
	if err == nil && n == 0 {
		err = errNoneBegun() // another one was begun, or confirmed, at this moment
	}
	if err != nil {
		return nil, false, err
	}
	recovery, err = s.RenewCodes(ctx, tx, userID)
	return recovery, err == nil, err
}

// Check takes a code of the authenticator, or a recovery code, and says which of both it was, as a method of
// accounts.sessions: "" for one that is wrong or was used before. What it takes is used up, whatever becomes of the
// sign-in.
func (s *Store) Check(ctx context.Context, db postgres.DB, userID objectid.ID, code secret.Text) (string, error) {
	if !isDigits(code) {
		n, err := s.db.RecoveryCodeUse(ctx, db, accountsdb.RecoveryCodeUseParams{
			UserID: userID, CodeMac: s.macOf(userID, code.Reveal()),
		})
		return proved(signins.ByRecoveryCode, n, err)
	}
	row, err := s.db.TotpGet(ctx, db, userID)
	if postgres.IsNoRows(err) || err == nil && row.ConfirmedAt == nil {
		return "", nil
	}
	if err != nil {
		return "", fmt.Errorf("read a second factor: %w", err)
	}
	step, err := s.stepOf(row, code, s.deps.Clock.Now())
	if err != nil || step == 0 {
		return "", err
	}
	n, err := s.db.TotpUse(ctx, db, accountsdb.TotpUseParams{UserID: userID, Step: step})
	return proved(signins.ByTOTP, n, err)
}

func proved(how string, n int64, err error) (string, error) {
	if err != nil {
		return "", fmt.Errorf("use a code: %w", err)
	}
	if n == 0 {
		return "", nil
	}
	return how, nil
}

// Enabled reports whether the user has a second factor.
func (s *Store) Enabled(ctx context.Context, db postgres.DB, userID objectid.ID) (bool, error) {
	state, err := s.State(ctx, db, userID)
	return state.ConfirmedAt != nil, err
}

// State reads what the user has.
func (s *Store) State(ctx context.Context, db postgres.DB, userID objectid.ID) (State, error) {
	row, err := s.db.TotpGet(ctx, db, userID)
	if postgres.IsNoRows(err) || err == nil && row.ConfirmedAt == nil {
		return State{}, nil
	}
	if err != nil {
		return State{}, fmt.Errorf("read a second factor: %w", err)
	}
	n, err := s.db.RecoveryCodeCount(ctx, db, userID)
	if err != nil {
		return State{}, fmt.Errorf("count recovery codes: %w", err)
	}
	return State{ConfirmedAt: row.ConfirmedAt, RecoveryCodes: int(n)}, nil
}

// RemoveTx takes the second factor away, or what waits to be confirmed, with its recovery codes; false where there was
// none.
func (s *Store) RemoveTx(ctx context.Context, tx pgx.Tx, userID objectid.ID) (bool, error) {
	n, err := s.db.TotpDelete(ctx, tx, userID)
	if err != nil {
		return false, fmt.Errorf("remove a second factor: %w", err)
	}
	return n > 0, nil
}

// RemoveSinceTx takes away what was confirmed, or begun, since an instant.
func (s *Store) RemoveSinceTx(ctx context.Context, tx pgx.Tx, userID objectid.ID, since time.Time) error {
	_, err := s.db.TotpDeleteSince(ctx, tx, accountsdb.TotpDeleteSinceParams{UserID: userID, Since: since})
	if err != nil {
		return fmt.Errorf("remove a second factor: %w", err)
	}
	return nil
}

// Sweep removes secrets that were not confirmed in their time.
func (s *Store) Sweep(ctx context.Context, db postgres.DB) error {
	_, err := s.db.TotpDeleteUnconfirmed(ctx, db, s.deps.Clock.Now().Add(-SetUpTime))
	return err
}

// errSealed says nothing of the secret.
var errSealed = errors.New("the secret of a second factor was sealed under another FILE_KEY")

// stepOf is the step whose code it is: the present one, or one beside it, since clocks differ; 0 for none.
func (s *Store) stepOf(row accountsdb.AccountsTotp, code secret.Text, now time.Time) (int64, error) {
	raw, err := s.secrets.Open(nil, nil, row.Secret, []byte(row.UserID))
	if err != nil {
		return 0, errSealed
	}
	sent, text := bare(code.Reveal()), base32Text.EncodeToString(raw)
	var found int64
	for _, off := range []time.Duration{-period, 0, period} {
		at := now.Add(off)
		want, err := rfc6238.GenerateCodeCustom(text, at, options)
		if err != nil {
			return 0, fmt.Errorf("count a second factor: %w", err)
		}
		if secret.Equal([]byte(want), []byte(sent)) {
			found = at.Unix() / int64(period/time.Second)
		}
	}
	return found, nil
}

const period = 30 * time.Second

var options = rfc6238.ValidateOpts{
	Period: uint(period / time.Second), Digits: otp.DigitsSix, Algorithm: otp.AlgorithmSHA1,
}
