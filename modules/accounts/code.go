package accounts

import (
	"encoding/binary"
	"fmt"

	"marquee/platform/objectid"
	"marquee/platform/secret"
)

// Purposes of codes. Signup and resend share one.
const (
	purposeVerification = "verification"
)

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
