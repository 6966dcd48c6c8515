package door

import (
	"errors"
	"strings"
)

// Base45 (RFC 9285) writes bytes in the 45 characters that a QR code's alphanumeric
// mode knows: two bytes become three characters, the lowest first.

const base45Alphabet = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ $%*+-./:"

// errBase45 says that a text is not Base45 of an even number of bytes.
var errBase45 = errors.New("tickets: not Base45")

// base45Encode writes an even number of bytes, so that the text never ends in a blank,
// which a reader might cut off: the last of three characters stands for at most 32.
func base45Encode(raw []byte) string {
	text := make([]byte, 0, len(raw)/2*3)
	for i := 0; i+1 < len(raw); i += 2 {
		n := int(raw[i])<<8 | int(raw[i+1])
		text = append(text, base45Alphabet[n%45], base45Alphabet[n/45%45], base45Alphabet[n/2025])
	}
	return string(text)
}

// Base45Decode reads what base45Encode has written, and nothing else.
func Base45Decode(text string) ([]byte, error) {
	if len(text)%3 != 0 {
		return nil, errBase45
	}
	raw := make([]byte, 0, len(text)/3*2)
	for i := 0; i < len(text); i += 3 {
		n := 0
		for _, weight := range [...]struct{ at, of int }{{0, 1}, {1, 45}, {2, 2025}} {
			digit := strings.IndexByte(base45Alphabet, text[i+weight.at])
			if digit < 0 {
				return nil, errBase45
			}
			n += digit * weight.of
		}
		if n > 0xFFFF {
			return nil, errBase45
		}
		raw = append(raw, byte(n>>8), byte(n))
	}
	return raw, nil
}
