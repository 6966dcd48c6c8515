package accounts

import (
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"time"

	"github.com/jackc/pgx/v5"

	"marquee/modules/accounts/internal/accountsdb"
	"marquee/platform/fault"
	"marquee/platform/objectid"
	"marquee/platform/postgres"
	"marquee/platform/secret"
)

// purposeVerification is the purpose of the codes that signup and resend mail;
// both share one cooldown.
const purposeVerification = "verification"

// codeKeys make and check 6-digit codes.
type codeKeys struct{ digits, check, address []byte }

func deriveCodeKeys(master []byte) codeKeys {
	return codeKeys{
		digits:  secret.Derive(master, "accounts/code digits"),
		check:   secret.Derive(master, "accounts/code check"),
		address: secret.Derive(master, "accounts/code address"),
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

// claimCodeTurnTx takes the address's turn to be sent a code; 429 with the
// seconds to wait when its last turn is younger than the cooldown, whether or
// not the address is known.
func (s *Service) claimCodeTurnTx(ctx context.Context, tx pgx.Tx, purpose, email string) error {
	now, key := s.clock.Now(), s.codes.addressKey(email)
	_, err := s.q.CodeRequestClaim(ctx, tx, accountsdb.CodeRequestClaimParams{
		AddressMac: key, Purpose: purpose, Now: now, FreeBefore: now.Add(-s.cfg.CodeCooldown),
	})
	if err == nil {
		return nil
	}
	if !postgres.IsNoRows(err) {
		return fmt.Errorf("claim code turn: %w", err)
	}
	last, err := s.q.CodeRequestGet(ctx, tx, accountsdb.CodeRequestGetParams{AddressMac: key, Purpose: purpose})
	if err != nil {
		return fmt.Errorf("read code turn: %w", err)
	}
	wait := last.Add(s.cfg.CodeCooldown).Sub(now)
	return fault.Throttled(wait, "A code was requested a moment ago. Wait %d seconds.", int(math.Ceil(wait.Seconds())))
}

// issueCodeTx makes a code for the user in place of an earlier one of the same
// purpose, and queues its mail.
func (s *Service) issueCodeTx(ctx context.Context, tx pgx.Tx, userID objectid.ID, purpose, address string) error {
	now := s.clock.Now()
	id := objectid.At(now)
	err := s.q.CodeReplace(ctx, tx, accountsdb.CodeReplaceParams{
		ID: id, UserID: userID, Purpose: purpose, Address: address, CodeMac: s.codes.mac(id, s.codes.code(id)),
		CreatedAt: now, ExpiresAt: now.Add(s.cfg.CodeTTL),
	})
	if err != nil {
		return fmt.Errorf("issue code: %w", err)
	}
	if _, err := s.jobs.InsertTx(ctx, tx, SendCodeArgs{CodeID: id}, nil); err != nil {
		return fmt.Errorf("queue code: %w", err)
	}
	return nil
}

// tryCodeTx counts an attempt and compares. A wrong code is the refusal, which
// must not undo the count: the caller commits and then returns it. After the
// right code the row is gone.
func (s *Service) tryCodeTx(ctx context.Context, tx pgx.Tx, userID objectid.ID, purpose string, code secret.Text) (refusal *fault.Error, err error) {
	now := s.clock.Now()
	row, err := s.q.CodeAttempt(ctx, tx, accountsdb.CodeAttemptParams{
		UserID: userID, Purpose: purpose, MaxAttempts: int32(s.cfg.CodeAttempts), Now: now,
	})
	if postgres.IsNoRows(err) {
		return s.deadCodeTx(ctx, tx, userID, purpose, now)
	}
	if err != nil {
		return nil, fmt.Errorf("try code: %w", err)
	}
	if !secret.Equal(row.CodeMac, s.codes.mac(row.ID, code)) {
		return fault.BadDetail("Wrong code. %d attempts remaining.", s.cfg.CodeAttempts-int(row.Attempts)), nil
	}
	if err := s.q.CodeDelete(ctx, tx, row.ID); err != nil {
		return nil, fmt.Errorf("use code: %w", err)
	}
	return nil, nil
}

// deadCodeTx says why there was nothing to compare with.
func (s *Service) deadCodeTx(ctx context.Context, tx pgx.Tx, userID objectid.ID, purpose string, now time.Time) (*fault.Error, error) {
	row, err := s.q.CodeForUser(ctx, tx, accountsdb.CodeForUserParams{UserID: userID, Purpose: purpose})
	switch {
	case postgres.IsNoRows(err):
		return fault.BadDetail("There is no active code. Ask for a new one at /auth/resend-verification."), nil
	case err != nil:
		return nil, fmt.Errorf("read code: %w", err)
	case !row.ExpiresAt.After(now):
		return fault.BadDetail("The code has expired. Ask for a new one."), nil
	}
	return fault.Throttled(0, "Too many wrong codes. Ask for a new one."), nil
}
