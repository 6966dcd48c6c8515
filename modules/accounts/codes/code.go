package codes

import (
	"context"
	"encoding/binary"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"marquee/modules/accounts/identity"
	"marquee/modules/accounts/internal/accountsdb"
	"marquee/platform/fault"
	"marquee/platform/jobs"
	"marquee/platform/objectid"
	"marquee/platform/postgres"
	"marquee/platform/secret"
)

// The purposes of codes. Signup and resend share the first and its cooldown.
const (
	PurposeVerification = "verification"
	PurposeReset        = "reset"
	purposeEmailChange  = "email_change"
)

// day bounds the mails to one recipient.
const day = 24 * time.Hour

// codeKeys make and check 6-digit codes, and stand for whom limits count.
type codeKeys struct{ digits, check, address, undo []byte }

func deriveCodeKeys(master []byte) codeKeys {
	return codeKeys{
		digits:  secret.Derive(master, "accounts/code digits"),
		check:   secret.Derive(master, "accounts/code check"),
		address: secret.Derive(master, "accounts/code address"),
		undo:    secret.Derive(master, "accounts/undo of an e-mail change"),
	}
}

// code returns the six digits that belong to a row. They are derived anew when
// the mail is sent, so that neither a row nor a job holds them.
func (k codeKeys) code(id objectid.ID) secret.Text {
	n := binary.BigEndian.Uint64(secret.MAC(k.digits, id.String()))
	return secret.NewText(fmt.Sprintf("%06d", n%1_000_000))
}

// mac is what the row keeps of the code.
func (k codeKeys) mac(id objectid.ID, code secret.Text) []byte {
	return secret.MAC(k.check, id.String(), code.Reveal())
}

// addressKey stands for an address in the cooldown table.
func (k codeKeys) addressKey(email string) []byte { return secret.MAC(k.address, email) }

// ClaimTurnTx takes the address's turn to be sent a code; 429 with the
// seconds to wait when its last turn is younger than the cooldown, or when it has
// been sent as many as it may be in a day, whether or not the address is known.
func (s *Codes) ClaimTurnTx(ctx context.Context, tx pgx.Tx, purpose, email string) error {
	if err := s.cooldownTx(ctx, tx, purpose, email); err != nil {
		return err
	}
	return s.takeMail(ctx, tx, email)
}

// TakeMail takes one of the mails that an address may be sent in a day because
// somebody asks for them, codes among them; 422 for what is no address, 429 when it
// has had them all.
func (s *Codes) TakeMail(ctx context.Context, address string) error {
	email, err := identity.NormalEmail(address, "body", "buyer", "email")
	if err != nil {
		return err
	}
	return s.takeMail(ctx, s.deps.Pool, email)
}

func (s *Codes) takeMail(ctx context.Context, db postgres.DB, email string) error {
	if s.deps.Sessions.Throttles.Limits().Off {
		return nil
	}
	ok, err := s.deps.Sessions.Throttles.TakeQuota(ctx, db, "code mails", identity.Mailbox(email),
		s.deps.Sessions.Throttles.Limits().MailsPerDay, day)
	if err != nil || ok {
		return err
	}
	now := s.deps.Clock.Now()
	wait := now.Truncate(day).Add(day).Sub(now)
	return fault.TooManyRequests(wait, "This address has been sent too many mails today. Wait %s.", fault.Seconds(wait))
}

// cooldownTx is the cooldown alone, of an address or of whatever stands for who
// asks.
func (s *Codes) cooldownTx(ctx context.Context, tx pgx.Tx, purpose, subject string) error {
	now, key := s.deps.Clock.Now(), s.keys.addressKey(subject)
	_, err := s.db.CodeRequestClaim(ctx, tx, accountsdb.CodeRequestClaimParams{
		AddressMac: key, Purpose: purpose, Now: now, FreeBefore: now.Add(-s.deps.Config.Cooldown),
	})
	if err == nil {
		return nil
	}
	if !postgres.IsNoRows(err) {
		return fmt.Errorf("claim code turn: %w", err)
	}
	last, err := s.db.CodeRequestGet(ctx, tx, accountsdb.CodeRequestGetParams{AddressMac: key, Purpose: purpose})
	if err != nil {
		return fmt.Errorf("read code turn: %w", err)
	}
	wait := last.Add(s.deps.Config.Cooldown).Sub(now)
	return fault.TooManyRequests(wait, "A code was requested a moment ago. Wait %s.", fault.Seconds(wait))
}

// IssueTx makes a code for the user in place of an earlier one of the same
// purpose, and queues its mail.
func (s *Codes) IssueTx(ctx context.Context, tx pgx.Tx, userID objectid.ID, purpose, address string) error {
	now := s.deps.Clock.Now()
	id := objectid.At(now)
	err := s.db.CodeReplace(ctx, tx, accountsdb.CodeReplaceParams{
		ID: id, UserID: userID, Purpose: purpose, Address: address, CodeMac: s.keys.mac(id, s.keys.code(id)),
		CreatedAt: now, ExpiresAt: now.Add(s.deps.Config.TTL),
	})
	if err != nil {
		return fmt.Errorf("issue code: %w", err)
	}
	return jobs.InsertTx(ctx, s.deps.Jobs, tx, SendCodeArgs{CodeID: id}, nil)
}

// tryTx counts an attempt and compares. A wrong code is the refusal, which
// must not undo the count: the caller commits and then returns it. After the
// right code the row is gone. 429 while too many wrong codes, of this or earlier
// ones, make the account or the client's address wait.
func (s *Codes) tryTx(ctx context.Context, tx pgx.Tx, userID objectid.ID, purpose string,
	code secret.Text,
) (row accountsdb.Code, refusal *fault.Error, err error) {
	throttles := s.deps.Sessions.Throttles.CodeThrottles(ctx, userID, purpose)
	counted, err := s.deps.Sessions.Throttles.CheckThrottles(ctx, tx, throttles)
	if err != nil {
		return row, nil, err
	}
	row, refusal, err = s.compareTx(ctx, tx, userID, purpose, code)
	switch {
	case err != nil:
		return row, nil, err
	case refusal != nil && row.ID != "":
		return row, refusal, s.deps.Sessions.Throttles.CountFailure(ctx, tx, throttles)
	case refusal != nil:
		return row, refusal, nil
	}
	return row, nil, s.deps.Sessions.Throttles.Forgive(ctx, tx, counted)
}

// compareTx returns the row whenever a code was compared with it.
func (s *Codes) compareTx(ctx context.Context, tx pgx.Tx, userID objectid.ID, purpose string,
	code secret.Text,
) (row accountsdb.Code, refusal *fault.Error, err error) {
	now := s.deps.Clock.Now()
	row, err = s.db.CodeAttempt(ctx, tx, accountsdb.CodeAttemptParams{
		UserID: userID, Purpose: purpose, MaxAttempts: int32(s.deps.Config.Attempts), Now: now, //nolint:gosec // a few
	})
	if postgres.IsNoRows(err) {
		refusal, err = s.whyInvalidTx(ctx, tx, userID, purpose, now)
		return accountsdb.Code{}, refusal, err
	}
	if err != nil {
		return row, nil, fmt.Errorf("try code: %w", err)
	}
	if !secret.Equal(row.CodeMac, s.keys.mac(row.ID, code)) {
		return row, fault.BadRequestDetail("Wrong code. %s remaining.",
			fault.Count(s.deps.Config.Attempts-int(row.Attempts), "attempt")), nil
	}
	if err := s.db.CodeDelete(ctx, tx, row.ID); err != nil {
		return row, nil, fmt.Errorf("use code: %w", err)
	}
	return row, nil, nil
}

// noCode says where a code of each purpose is to be had.
var noCode = map[string]string{
	PurposeVerification: "There is no active code. Ask for a new one at /auth/resend-verification.",
	PurposeReset:        "There is no active code. Ask for a new one at /auth/forgot-password.",
	purposeEmailChange:  "There is no pending change of e-mail. Ask for one at /customers/me/change-email.",
}

// whyInvalidTx says why there was nothing to compare with.
func (s *Codes) whyInvalidTx(ctx context.Context, tx pgx.Tx, userID objectid.ID, purpose string,
	now time.Time,
) (*fault.Error, error) {
	row, err := s.db.CodeGetOfUser(ctx, tx, accountsdb.CodeGetOfUserParams{UserID: userID, Purpose: purpose})
	switch {
	case postgres.IsNoRows(err):
		return fault.BadRequestDetail("%s", noCode[purpose]), nil
	case err != nil:
		return nil, fmt.Errorf("read code: %w", err)
	case !row.ExpiresAt.After(now):
		return fault.BadRequestDetail("The code has expired. Ask for a new one."), nil
	}
	return fault.TooManyRequests(0, "Too many wrong codes. Ask for a new one."), nil
}
