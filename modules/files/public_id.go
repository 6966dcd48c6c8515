package files

import (
	"crypto/aes"
	"crypto/cipher"
	"encoding/base64"
	"encoding/hex"

	"marquee/platform/httpapi"
	"marquee/platform/objectid"
	"marquee/platform/secret"
)

// publicIDs encrypts file ids for addresses that anybody may hold
// (docs/contract/tickets.md, Images). It is deterministic, so that an address stays the same and can be cached, and
// authenticated, so that nobody makes one: AES-256-GCM whose nonce is an HMAC of
// the id under another key (a synthetic nonce, as in SIV).
type publicIDs struct {
	aead     cipher.AEAD
	nonceKey []byte
}

// idBytes is an object id in binary.
const idBytes = 12

var base64URL = base64.RawURLEncoding.Strict()

func newPublicIDs(master []byte) publicIDs {
	block, err := aes.NewCipher(secret.Derive(master, "public file ids"))
	if err != nil {
		panic(err) // Derive gives 32 bytes, which AES takes
	}
	aead, err := cipher.NewGCM(block)
	if err != nil {
		panic(err) // only for block sizes that AES has not
	}
	return publicIDs{aead: aead, nonceKey: secret.Derive(master, "public file id nonces")}
}

func (p publicIDs) nonce(plain []byte) []byte {
	return secret.MAC(p.nonceKey, string(plain))[:p.aead.NonceSize()]
}

// seal returns 54 characters that are safe in a path.
func (p publicIDs) seal(id objectid.ID) string {
	plain, err := hex.DecodeString(id.String())
	if err != nil || len(plain) != idBytes {
		return ""
	}
	nonce := p.nonce(plain)
	return base64URL.EncodeToString(p.aead.Seal(nonce, nonce, plain, nil))
}

// open returns the id, or false for whatever seal did not make.
func (p publicIDs) open(public string) (objectid.ID, bool) {
	size := p.aead.NonceSize() + idBytes + p.aead.Overhead()
	if len(public) != base64URL.EncodedLen(size) {
		return "", false
	}
	sealed, err := base64URL.DecodeString(public)
	if err != nil || len(sealed) != size {
		return "", false
	}
	nonce := sealed[:p.aead.NonceSize()]
	plain, err := p.aead.Open(nil, nonce, sealed[len(nonce):], nil)
	if err != nil || !secret.Equal(nonce, p.nonce(plain)) {
		return "", false
	}
	return objectid.ID(hex.EncodeToString(plain)), true
}

// PublicURL is the address at which anybody may see an event or promo image.
// Addresses of other files exist too, but nothing answers at them.
func (s *Service) PublicURL(id objectid.ID) string {
	return s.deps.Config.PublicURL + httpapi.Prefix + "/archive-records-public/" + s.public.seal(id)
}
