package door

import (
	"bytes"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"strings"

	"github.com/skip2/go-qrcode"

	"marquee/platform/objectid"
	"marquee/platform/secret"
)

// A ticket's code is the text of its QR code: 4 bytes of key id, 12 of the ticket's
// id, 12 of its event's id, and 64 of an Ed25519 signature over "MT1." and those 28.
// A door device checks it with the public key alone, and only the server can make one.
//
// The same bytes are written in two forms, which a prefix tells apart. A picture holds
// "MT2." and Base45, which needs fewer and so larger modules; a text that people copy
// holds "MT1." and base64 for addresses, which survives lost blanks. Codes of either form are
// in the hands of buyers and are read for ever.
const (
	codePrefix    = "MT1." // of the text form, and signed in both
	picturePrefix = "MT2."
	keyIDBytes    = 4
	idBytes       = 12
	bodyBytes     = keyIDBytes + 2*idBytes
	codeBytes     = bodyBytes + ed25519.SignatureSize
	// modulePixels is the width of a module in pictures: whole pixels, so that no edge is blurred.
	modulePixels = 8
)

var codeEncoding = base64.RawURLEncoding.Strict()

// Content is what a code says.
type Content struct{ TicketID, EventID objectid.ID }

// codeKey is one signing key; its id is the beginning of the public key's hash.
type codeKey struct {
	id      [keyIDBytes]byte
	private ed25519.PrivateKey
}

// Keys are the signing key, first, and former ones that still verify.
type Keys []codeKey

// NewKeys derives the keys from the master keys, so that every process signs
// and verifies alike.
func NewKeys(master []byte, former [][]byte) Keys {
	var keys Keys
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

// Code is the one code of a ticket in its two forms.
type Code struct{ signed []byte }

// Text is the form for people to copy, 127 characters.
func (c Code) Text() string { return codePrefix + codeEncoding.EncodeToString(c.signed) }

// Picture is the form for QR codes, 142 characters.
func (c Code) Picture() string { return picturePrefix + base45Encode(c.signed) }

// Sign makes the code of a ticket.
func (keys Keys) Sign(c Content) Code {
	k := keys[0]
	body := make([]byte, 0, codeBytes)
	body = append(body, k.id[:]...)
	body = append(body, idToBytes(c.TicketID)...)
	body = append(body, idToBytes(c.EventID)...)
	signature := ed25519.Sign(k.private, append([]byte(codePrefix), body...))
	return Code{append(body, signature...)}
}

// errForged says that a text is no code of ours.
var errForged = errors.New("tickets: not a code of ours")

// verify reads a code in either form; errForged for everything that sign did not make.
func (keys Keys) verify(code string) (Content, error) {
	raw, err := signedBytes(code)
	if err != nil || len(raw) != codeBytes {
		return Content{}, errForged
	}
	body, signature := raw[:bodyBytes], raw[bodyBytes:]
	for _, k := range keys {
		if !bytes.Equal(body[:keyIDBytes], k.id[:]) {
			continue
		}
		if ed25519.Verify(publicOf(k.private), append([]byte(codePrefix), body...), signature) {
			return Content{
				TicketID: objectid.ID(hex.EncodeToString(body[keyIDBytes : keyIDBytes+idBytes])),
				EventID:  objectid.ID(hex.EncodeToString(body[keyIDBytes+idBytes:])),
			}, nil
		}
	}
	return Content{}, errForged
}

// TicketOf reads whose code it is; ok is false for one that is not of ours.
func (s *Door) TicketOf(code string) (id objectid.ID, ok bool) {
	content, err := s.codes.verify(code)
	return content.TicketID, err == nil
}

func signedBytes(code string) ([]byte, error) {
	if encoded, ok := strings.CutPrefix(code, picturePrefix); ok {
		return Base45Decode(encoded)
	}
	encoded, ok := strings.CutPrefix(code, codePrefix)
	if !ok || strings.ContainsAny(encoded, "\r\n") { // which the decoder would skip
		return nil, errForged
	}
	return codeEncoding.DecodeString(encoded)
}

// idToBytes is 12 zero bytes for what is no id; such a code names no ticket.
func idToBytes(id objectid.ID) []byte {
	b, err := hex.DecodeString(id.String())
	if err != nil || len(b) != idBytes {
		return make([]byte, idBytes)
	}
	return b
}

// QRPNG draws a text, a module modulePixels wide.
func QRPNG(text string) ([]byte, error) { return qrcode.Encode(text, qrcode.Medium, -modulePixels) }

// QRDataURI is the drawing as a data: URI.
func QRDataURI(text string) (string, error) {
	png, err := QRPNG(text)
	if err != nil {
		return "", err
	}
	return "data:image/png;base64," + base64.StdEncoding.EncodeToString(png), nil
}

// CodeOf is the code of a ticket.
func (s *Door) CodeOf(ticketID, eventID objectid.ID) Code {
	return s.codes.Sign(Content{TicketID: ticketID, EventID: eventID})
}
