package account

import (
	"bytes"
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// Cents is an amount of money in centavos. In JSON it is a decimal number of reais with at most two decimals, without
// trailing zeros (4990 is 49.9, 24000 is 240), as the gateway prints it (docs/gateway-facts.md, A1).
type Cents int64

// maxReaisDigits keeps every accepted amount far inside an int64.
const maxReaisDigits = 12

// ErrAmount is of a body whose amount cannot be read.
var ErrAmount = errors.New("amount is not a decimal number with at most two decimals")

// MarshalJSON prints reais.
func (c Cents) MarshalJSON() ([]byte, error) {
	sign, v := "", int64(c)
	if v < 0 {
		sign, v = "-", -v
	}
	whole, rest := v/100, v%100
	switch {
	case rest == 0:
		return fmt.Appendf(nil, "%s%d", sign, whole), nil
	case rest%10 == 0:
		return fmt.Appendf(nil, "%s%d.%d", sign, whole, rest/10), nil
	default:
		return fmt.Appendf(nil, "%s%d.%02d", sign, whole, rest), nil
	}
}

// UnmarshalJSON reads reais exactly, without a detour over floating point. More than two decimals that are not zero
// are refused; null leaves the amount as it is.
func (c *Cents) UnmarshalJSON(data []byte) error {
	if bytes.Equal(data, []byte("null")) {
		return nil
	}
	v, err := ParseCents(string(data))
	if err != nil {
		return err
	}
	*c = v
	return nil
}

// ParseCents reads a decimal number of reais such as "49.9", "240" or "-0.01".
func ParseCents(s string) (Cents, error) {
	digits, negative := strings.CutPrefix(s, "-")
	whole, rest, _ := strings.Cut(digits, ".")
	rest = strings.TrimRight(rest, "0")
	if whole == "" || len(whole) > maxReaisDigits || len(rest) > 2 {
		return 0, fmt.Errorf("%w: %q", ErrAmount, s)
	}
	v, err := strconv.ParseUint(whole+rest+strings.Repeat("0", 2-len(rest)), 10, 63)
	if err != nil {
		return 0, fmt.Errorf("%w: %q", ErrAmount, s)
	}
	if negative {
		return -Cents(v), nil
	}
	return Cents(v), nil
}

// reais prints the amount as the gateway's error texts do: "R$ 5,00".
func (c Cents) reais() string {
	return fmt.Sprintf("R$ %d,%02d", int64(c)/100, int64(c)%100)
}

// Fees of the gateway's own sandbox (docs/gateway-facts.md, A5).
const (
	cardFeeFixed      Cents = 49
	cardFeeBasisPoint int64 = 299
	pixFee            Cents = 199
)

// net is what of value arrives in the account after the fee of the billing type.
func net(value Cents, billingType string) Cents {
	fee := pixFee
	if billingType == billingCard {
		fee = cardFeeFixed + Cents((int64(value)*cardFeeBasisPoint+5000)/10000)
	}
	return max(value-fee, 0)
}
