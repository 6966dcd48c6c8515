// Package money holds amounts as integer cents. Fields that the contract gives in cents (docs/contract/money.md, Units)
// use Cents; fields in reais use Reais, which reads and writes a
// decimal number exactly, without passing through a float.
package money

import (
	"bytes"
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// Cents is an amount in hundredths of a real. In JSON it is an integer.
type Cents int64

// Max is what a price may be, R$ 1,000,000.00; MaxCharge what may be charged, disputed
// or given back at once: a thousand tickets of it. Sums of them stay far from what
// 64 bits hold.
const (
	Max       Cents = 100_000_000
	MaxCharge Cents = 1000 * Max
)

// Reais renders the amount as decimal reais.
func (c Cents) Reais() Reais { return Reais(c) }

// String returns the amount as decimal reais with two places, such as "49.90".
func (c Cents) String() string {
	sign, n := "", int64(c)
	if n < 0 {
		sign, n = "-", -n
	}
	return fmt.Sprintf("%s%d.%02d", sign, n/100, n%100)
}

// In returns the amount as people write it in a language: "1.234,50" in
// Portuguese, "1,234.50" in English (en).
func (c Cents) In(language string) string {
	thousands, decimal := ".", ","
	if language == "en" {
		thousands, decimal = ",", "."
	}
	whole, cents, _ := strings.Cut(c.String(), ".")
	sign := ""
	if strings.HasPrefix(whole, "-") {
		sign, whole = "-", whole[1:]
	}
	for i := len(whole) - 3; i > 0; i -= 3 {
		whole = whole[:i] + thousands + whole[i:]
	}
	return sign + whole + decimal + cents
}

// Reais is an amount held in cents and shown in JSON as decimal reais with two
// places, such as 49.90.
type Reais int64

// Cents returns the amount in cents.
func (r Reais) Cents() Cents { return Cents(r) }

// MarshalJSON writes a JSON number with two decimals.
func (r Reais) MarshalJSON() ([]byte, error) { return []byte(Cents(r).String()), nil }

// UnmarshalJSON reads a JSON number with at most two decimals.
func (r *Reais) UnmarshalJSON(b []byte) error {
	c, err := Parse(string(bytes.TrimSpace(b)))
	if err != nil {
		return err
	}
	*r = Reais(c)
	return nil
}

// ErrMalformed says that a text is not an amount with at most two decimals.
var ErrMalformed = errors.New("has to be an amount with at most two decimals")

// Parse reads decimal reais such as "49.9", "-3" or "4.99e1" exactly. More than
// two decimals that are not zero, or more than 15 digits, is ErrMalformed.
func Parse(s string) (Cents, error) {
	mantissa, exponent, hasExponent := strings.Cut(strings.ToLower(s), "e")
	shift := 0
	if hasExponent {
		n, err := strconv.Atoi(exponent)
		if err != nil || n < -20 || n > 20 {
			return 0, ErrMalformed
		}
		shift = n
	}
	negative := strings.HasPrefix(mantissa, "-")
	whole, fraction, hasPoint := strings.Cut(strings.TrimPrefix(mantissa, "-"), ".")
	if whole == "" || (hasPoint && fraction == "") || len(whole)+len(fraction) > 40 || !digits(whole+fraction) {
		return 0, ErrMalformed
	}
	return fromDigits(whole+fraction, len(fraction)-shift, negative)
}

// fromDigits turns an integer text with the given number of decimals into cents.
func fromDigits(all string, decimals int, negative bool) (Cents, error) {
	for decimals < 2 {
		all += "0"
		decimals++
	}
	if cut := len(all) - (decimals - 2); cut >= 0 && decimals > 2 {
		if strings.Trim(all[cut:], "0") != "" {
			return 0, ErrMalformed
		}
		all = all[:cut]
	} else if cut < 0 {
		if strings.Trim(all, "0") != "" {
			return 0, ErrMalformed
		}
		all = ""
	}
	all = strings.TrimLeft(all, "0")
	if len(all) > 17 {
		return 0, ErrMalformed
	}
	if all == "" {
		return 0, nil
	}
	n, err := strconv.ParseInt(all, 10, 64)
	if err != nil {
		return 0, ErrMalformed
	}
	if negative {
		n = -n
	}
	return Cents(n), nil
}

func digits(s string) bool {
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return false
		}
	}
	return true
}
