package totp

import (
	"context"
	"crypto/rand"
	"encoding/base32"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"

	"marquee/modules/accounts/internal/accountsdb"
	"marquee/platform/objectid"
	"marquee/platform/secret"
)

const (
	recoveryCodes = 10
	// recoveryBytes are 80 bits: 16 characters in four groups.
	recoveryBytes = 10
	groupLength   = 4
)

// RenewCodes makes recovery codes in place of all earlier ones, such as "k3fm-7q2x-v4tn-p9ab"; the
// texts stand nowhere else.
func (s *Store) RenewCodes(ctx context.Context, tx pgx.Tx, userID objectid.ID) ([]string, error) {
	if err := s.db.RecoveryCodeDeleteOfUser(ctx, tx, userID); err != nil {
		return nil, fmt.Errorf("replace recovery codes: %w", err)
	}
	texts, macs := make([]string, recoveryCodes), make([][]byte, recoveryCodes)
	for i := range texts {
		texts[i] = newRecoveryCode()
		macs[i] = s.macOf(userID, texts[i])
	}
	if err := s.db.RecoveryCodeInsert(ctx, tx, accountsdb.RecoveryCodeInsertParams{
		UserID: userID, CodeMacs: macs,
	}); err != nil {
		return nil, fmt.Errorf("keep recovery codes: %w", err)
	}
	return texts, nil
}

// readable has no letters that people take for digits, l and o, and no digits that they take for letters.
var readable = base32.NewEncoding("abcdefghijkmnpqrstuvwxyz23456789").WithPadding(base32.NoPadding)

func newRecoveryCode() string {
	raw := make([]byte, recoveryBytes)
	_, _ = rand.Read(raw) // crypto/rand never fails since Go 1.24
	text := readable.EncodeToString(raw)
	var groups []string
	for at := 0; at < len(text); at += groupLength {
		groups = append(groups, text[at:at+groupLength])
	}
	return strings.Join(groups, "-")
}

func (s *Store) macOf(userID objectid.ID, code string) []byte {
	return secret.MAC(s.recovery, userID.String(), bare(code))
}

// bare is a code without case, blanks and dashes, as people type it.
func bare(code string) string {
	return strings.NewReplacer(" ", "", "-", "").Replace(strings.ToLower(code))
}

// isDigits tells codes of authenticators from recovery codes.
func isDigits(code secret.Text) bool {
	text := bare(code.Reveal())
	return len(text) == options.Digits.Length() && strings.Trim(text, "0123456789") == ""
}
