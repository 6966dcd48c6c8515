package orders

import (
	"encoding/base64"
	"strconv"
	"strings"
	"time"

	"marquee/platform/clock"
	"marquee/platform/fault"
	"marquee/platform/httpapi"
	"marquee/platform/objectid"
	"marquee/platform/secret"
)

// WithdrawalPath is the page to which mails link, and the route that it posts to. The token
// stands behind #, which no server and no log of one ever sees.
const WithdrawalPath = "/store/ticket-orders/withdraw"

// Links are the links by which guests give orders back.
type Links struct {
	keys      [][]byte // the signing one first
	publicURL string
	clock     clock.Clock
}

// NewLinks derives the keys from the master key and former ones. PublicURL is scheme and host of the links.
func NewLinks(master []byte, former [][]byte, publicURL string, now clock.Clock) *Links {
	l := &Links{publicURL: publicURL, clock: now}
	for _, key := range append([][]byte{master}, former...) {
		l.keys = append(l.keys, secret.Derive(key, "tickets/withdrawal links"))
	}
	return l
}

// withdrawalToken gives its bearer the right to give one order back, and nothing else, until
// it ends: the order's id, the end in hexadecimal seconds, and the key's word for both.
func withdrawalToken(key []byte, order objectid.ID, end time.Time) secret.Text {
	at := strconv.FormatInt(end.Unix(), 16)
	mac := base64.RawURLEncoding.EncodeToString(secret.MAC(key, order.String(), at))
	return secret.NewText(order.String() + "." + at + "." + mac)
}

// Link is the address of the page with a token.
func (s *Links) Link(order objectid.ID, end time.Time) string {
	return s.publicURL + httpapi.Prefix + WithdrawalPath + "#" + withdrawalToken(s.keys[0], order, end).Reveal()
}

// OrderOf is the order that a token gives back. Errors: 400 for one that was not made
// here, or has ended.
func (s *Links) OrderOf(token secret.Text) (objectid.ID, error) {
	text := token.Reveal()
	bad := fault.BadRequestDetail("This link is not valid or has expired.")
	if len(text) < 26 || text[24] != '.' {
		return "", bad
	}
	id, err := objectid.Parse(text[:24])
	if err != nil {
		return "", bad
	}
	end, _, _ := strings.Cut(text[25:], ".")
	seconds, err := strconv.ParseInt(end, 16, 64)
	if err != nil {
		return "", bad
	}
	at := time.Unix(seconds, 0)
	for _, key := range s.keys {
		if secret.Equal([]byte(text), []byte(withdrawalToken(key, id, at).Reveal())) && s.clock.Now().Before(at) {
			return id, nil
		}
	}
	return "", bad
}
