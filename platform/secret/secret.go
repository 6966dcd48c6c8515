// Package secret holds what must not be seen: values that cannot be printed,
// logged or marshalled, keys derived from one master key, keyed hashes, and
// random texts.
package secret

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"log/slog"
)

// masked is what every printing of a secret shows.
const masked = "[secret]"

// Text is a secret such as a card number or a password on its way through. It
// prints, logs and marshals as "[secret]"; only Reveal gives it away.
type Text struct{ value string }

// NewText wraps a secret.
func NewText(value string) Text { return Text{value: value} }

// Reveal returns the secret itself, for the one call that needs it.
func (t Text) Reveal() string { return t.value }

// Empty reports whether there is no secret.
func (t Text) Empty() bool { return t.value == "" }

// String hides the secret from fmt.
func (Text) String() string { return masked }

// GoString hides the secret from %#v.
func (Text) GoString() string { return masked }

// LogValue hides the secret from slog.
func (Text) LogValue() slog.Value { return slog.StringValue(masked) }

// MarshalJSON refuses, so that no secret ends up in a job or an answer.
func (Text) MarshalJSON() ([]byte, error) { return nil, errors.New("secret: refuses to be marshalled") }

// MarshalText refuses as MarshalJSON does.
func (Text) MarshalText() ([]byte, error) { return nil, errors.New("secret: refuses to be marshalled") }

// UnmarshalText reads the secret from a request.
func (t *Text) UnmarshalText(b []byte) error { t.value = string(b); return nil }

// Random returns n random bytes as URL-safe base64 without padding.
func Random(n int) string {
	b := make([]byte, n)
	_, _ = rand.Read(b) // crypto/rand never fails since Go 1.24
	return base64.RawURLEncoding.EncodeToString(b)
}

// RandomHex returns n random bytes as hex, for forms that allow nothing else.
func RandomHex(n int) string {
	b := make([]byte, n)
	_, _ = rand.Read(b) // as in Random
	return hex.EncodeToString(b)
}

// Derive makes a 32-byte key for one purpose from a master key (HKDF-SHA-256),
// so that one configured key serves several uses without mixing them.
func Derive(master []byte, purpose string) []byte {
	key, err := hkdf.Key(sha256.New, master, nil, "marquee/"+purpose, 32)
	if err != nil {
		panic(err) // only for lengths that SHA-256 cannot give; 32 is not one
	}
	return key
}

// NewAEAD makes the cipher of what is stored sealed for one purpose: AES-256-GCM by a key that Derive makes of the
// master key, with a random nonce before each sealed text.
func NewAEAD(master []byte, purpose string) cipher.AEAD {
	block, err := aes.NewCipher(Derive(master, purpose))
	if err != nil {
		panic(err) // only for lengths of keys that Derive does not give
	}
	sealed, err := cipher.NewGCMWithRandomNonce(block)
	if err != nil {
		panic(err) // only for blocks that AES does not have
	}
	return sealed
}

// MAC returns the HMAC-SHA-256 of the parts, each closed by a zero byte so that
// ("a","bc") and ("ab","c") differ.
func MAC(key []byte, parts ...string) []byte {
	h := hmac.New(sha256.New, key)
	for _, p := range parts {
		h.Write([]byte(p))
		h.Write([]byte{0})
	}
	return h.Sum(nil)
}

// Hash returns the hex SHA-256 of a secret that is long and random by itself,
// such as an archive token. Short secrets need MAC.
func Hash(s string) string {
	sum := sha256.Sum256([]byte(s))
	return hex.EncodeToString(sum[:])
}

// Equal compares in constant time.
func Equal(a, b []byte) bool { return hmac.Equal(a, b) }
