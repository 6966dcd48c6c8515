package account

import (
	"crypto/md5" //nolint:gosec // the gateway's event ids carry the MD5 of its name (docs/gateway-facts.md, A10)
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"math/big"
	"time"
)

const (
	lowerAlnum = "abcdefghijklmnopqrstuvwxyz0123456789"
	mixedAlnum = "ABCDEFGHIJKLMNOPQRSTUVWXYZ" + lowerAlnum

	// ispb is the bank code of the gateway in end-to-end identifiers.
	ispb = "19540550"
)

func randomText(alphabet string, n int) string {
	out := make([]byte, n)
	for i := range out {
		k, err := rand.Int(rand.Reader, big.NewInt(int64(len(alphabet))))
		if err != nil {
			panic(err) // crypto/rand never fails on supported systems
		}
		out[i] = alphabet[k.Int64()]
	}
	return string(out)
}

// objectID is prefix plus 16 lower-case letters and digits, the form of pay_… and sub_….
func objectID(prefix string) string { return prefix + randomText(lowerAlnum, 16) }

// eventID is evt_ + md5(name) + & + sequence: the part before & is the same for all events of a kind.
func eventID(name string, sequence int64) string {
	sum := md5.Sum([]byte(name)) //nolint:gosec // as above
	return fmt.Sprintf("evt_%s&%d", hex.EncodeToString(sum[:]), sequence)
}

func refundEndToEnd(at time.Time) string {
	return "D" + ispb + at.UTC().Format("200601021504") + randomText(mixedAlnum, 11)
}

func authorizationEndToEnd(at time.Time) string {
	return "RN" + ispb + at.In(saoPaulo).Format("20060102") + randomText(mixedAlnum, 11)
}

// conciliation is the identifier that ties a paid PIX to its QR code.
func conciliation(sequence int64) string { return fmt.Sprintf("CINEPLAYLTDA%020dASA", sequence) }
