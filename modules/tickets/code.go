package tickets

import (
	"bytes"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"

	"github.com/skip2/go-qrcode"

	"marquee/platform/objectid"
	"marquee/platform/secret"
)

// A ticket's code is the text of its QR code: "MT1." and, in base64 for
// addresses, 4 bytes of key id, 12 of the ticket's id, 12 of its event's id, and
// 64 of an Ed25519 signature over "MT1." and those 28. A door device checks it
// with the public key alone, and only the server can make one.
const (
	codePrefix = "MT1."
	keyIDBytes = 4
	idBytes    = 12
	bodyBytes  = keyIDBytes + 2*idBytes
	codeBytes  = bodyBytes + ed25519.SignatureSize
	qrPixels   = 360
)

var codeEncoding = base64.RawURLEncoding.Strict()

// codeContent is what a code says.
type codeContent struct{ TicketID, EventID objectid.ID }

// codeKey is one signing key; its id is the beginning of the public key's hash.
type codeKey struct {
	id      [keyIDBytes]byte
	private ed25519.PrivateKey
}

// codeKeys are the signing key, first, and former ones that still verify.
type codeKeys []codeKey

// newCodeKeys derives the keys from the master keys, so that every process signs
// and verifies alike.
func newCodeKeys(master []byte, former [][]byte) codeKeys {
	var keys codeKeys
	for _, m := range append([][]byte{master}, former...) {
		private := ed25519.NewKeyFromSeed(secret.Derive(m, "tickets/codes"))
		sum := sha256.Sum256(publicOf(private))
		keys = append(keys, codeKey{id: [keyIDBytes]byte(sum[:keyIDBytes]), private: private})
	}
	return keys
}

func publicOf(private ed25519.PrivateKey) ed25519.PublicKey {
	public, _ := private.Public().(ed25519.PublicKey)
	return public
}

func (k codeKey) name() string { return hex.EncodeToString(k.id[:]) }

func (keys codeKeys) public() []ed25519.PublicKey {
	all := make([]ed25519.PublicKey, len(keys))
	for i, k := range keys {
		all[i] = publicOf(k.private)
	}
	return all
}

// sign makes the code of a ticket: 127 characters.
func (keys codeKeys) sign(c codeContent) string {
	k := keys[0]
	body := make([]byte, 0, codeBytes)
	body = append(body, k.id[:]...)
	body = append(body, idToBytes(c.TicketID)...)
	body = append(body, idToBytes(c.EventID)...)
	signature := ed25519.Sign(k.private, append([]byte(codePrefix), body...))
	return codePrefix + codeEncoding.EncodeToString(append(body, signature...))
}

// errForged says that a text is no code of ours.
var errForged = errors.New("tickets: not a code of ours")

// verify reads a code; errForged for everything that sign did not make.
func (keys codeKeys) verify(code string) (codeContent, error) {
	encoded, ok := bytes.CutPrefix([]byte(code), []byte(codePrefix))
	if !ok || len(encoded) != codeEncoding.EncodedLen(codeBytes) {
		return codeContent{}, errForged
	}
	raw := make([]byte, codeBytes)
	if n, err := codeEncoding.Decode(raw, encoded); err != nil || n != codeBytes {
		return codeContent{}, errForged
	}
	body, signature := raw[:bodyBytes], raw[bodyBytes:]
	for _, k := range keys {
		if !bytes.Equal(body[:keyIDBytes], k.id[:]) {
			continue
		}
		if ed25519.Verify(publicOf(k.private), append([]byte(codePrefix), body...), signature) {
			return codeContent{
				TicketID: objectid.ID(hex.EncodeToString(body[keyIDBytes : keyIDBytes+idBytes])),
				EventID:  objectid.ID(hex.EncodeToString(body[keyIDBytes+idBytes:])),
			}, nil
		}
	}
	return codeContent{}, errForged
}

// idToBytes is 12 zero bytes for what is no id; such a code names no ticket.
func idToBytes(id objectid.ID) []byte {
	b, err := hex.DecodeString(id.String())
	if err != nil || len(b) != idBytes {
		return make([]byte, idBytes)
	}
	return b
}

// qrPNG draws a code.
func qrPNG(code string) ([]byte, error) { return qrcode.Encode(code, qrcode.Medium, qrPixels) }

// qrDataURI is the drawing as a data: URI.
func qrDataURI(code string) (string, error) {
	png, err := qrPNG(code)
	if err != nil {
		return "", err
	}
	return "data:image/png;base64," + base64.StdEncoding.EncodeToString(png), nil
}

// codeOf is the code of a ticket.
func (s *Service) codeOf(t ticket) string {
	return s.codes.sign(codeContent{TicketID: t.ID, EventID: t.EventID})
}
