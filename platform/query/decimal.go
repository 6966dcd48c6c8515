package query

import (
	"math"
	"strconv"
	"strings"
)

// decimal is the exact value of a JSON number: ±digits × 10^exp. digits has neither
// leading nor trailing zeros and is empty for zero, so equal values are equal structs.
type decimal struct {
	negative bool
	digits   string
	exp      int
}

// minExponent is the position of the last digit that Postgres' numeric can hold.
const minExponent = -16383

// parseDecimal reads a number in JSON's grammar. ok is false for anything else and
// for numbers beyond ±1.8e308.
func parseDecimal(s string) (d decimal, ok bool) {
	if s, d.negative = strings.CutPrefix(s, "-"); s == "" {
		return d, false
	}
	mantissa, exponent, scientific := cutAny(s, "eE")
	whole, fraction, fractional := strings.Cut(mantissa, ".")
	switch {
	case !allDigits(whole), len(whole) > 1 && whole[0] == '0',
		fractional && !allDigits(fraction), scientific && !allDigits(strings.TrimLeft(exponent, "+-")):
		return d, false
	}
	if scientific {
		e, err := strconv.Atoi(exponent)
		if err != nil && !strings.Contains(err.Error(), strconv.ErrRange.Error()) {
			return d, false
		}
		d.exp = max(min(e, math.MaxInt32), math.MinInt32)
	}
	d.exp -= len(fraction)
	all := strings.TrimLeft(whole+fraction, "0")
	d.digits = strings.TrimRight(all, "0")
	d.exp += len(all) - len(d.digits)
	if d.digits == "" {
		return decimal{}, true
	}
	return d, d.inRange()
}

// inRange reports |d| <= 1.8e308, which is 0.18 × 10^309.
func (d decimal) inRange() bool {
	if top := d.exp + len(d.digits); top != 309 {
		return top < 309
	}
	return d.digits <= "18"
}

func (d decimal) isZero() bool { return d.digits == "" }

// tiny reports a number with digits so far behind the point that numeric has no
// place for them. It equals no stored number.
func (d decimal) tiny() bool { return d.exp < minExponent }

// hundredfold is d × 100: reais to cents.
func (d decimal) hundredfold() decimal {
	if !d.isZero() {
		d.exp += 2
	}
	return d
}

// String prints d so that numeric, jsonb and jsonpath all read it back exactly.
func (d decimal) String() string {
	sign := ""
	if d.negative {
		sign = "-"
	}
	switch point := len(d.digits) + d.exp; {
	case d.isZero():
		return "0"
	case d.exp >= 0 && point <= 20:
		return sign + d.digits + strings.Repeat("0", d.exp)
	case d.exp < 0 && point > 0:
		return sign + d.digits[:point] + "." + d.digits[point:]
	case d.exp < 0 && point > -20:
		return sign + "0." + strings.Repeat("0", -point) + d.digits
	}
	return sign + d.digits + "e" + strconv.Itoa(d.exp)
}

// floor is the greatest whole number that is not above d, and whether d is that
// number. beyond is 1 or -1 when it lies above or below what int64 holds.
func (d decimal) floor() (n int64, exact bool, beyond int) {
	outside := 1
	if d.negative {
		outside = -1
	}
	point := len(d.digits) + d.exp
	if point > 19 {
		return 0, false, outside
	}
	exact = d.exp >= 0
	if !exact && point <= 0 {
		n = 0
	} else {
		text := d.digits[:min(point, len(d.digits))] + strings.Repeat("0", max(d.exp, 0))
		if d.isZero() {
			text = "0"
		}
		if d.negative {
			text = "-" + text
		}
		parsed, err := strconv.ParseInt(text, 10, 64)
		if err != nil {
			return 0, false, outside
		}
		n = parsed
	}
	if d.negative && !exact {
		if n == math.MinInt64 {
			return 0, false, outside
		}
		n--
	}
	return n, exact, 0
}

// int64 is d as a whole number, if it is one.
func (d decimal) int64() (int64, bool) {
	n, exact, _ := d.floor()
	return n, exact
}

// trunc drops what is behind the point, towards zero, as $mod does with its operands.
func (d decimal) trunc() (int64, bool) {
	n, exact, beyond := d.floor()
	if d.negative && !exact {
		n++
	}
	return n, beyond == 0
}

func allDigits(s string) bool {
	return s != "" && strings.Trim(s, "0123456789") == ""
}

func cutAny(s, chars string) (before, after string, found bool) {
	if i := strings.IndexAny(s, chars); i >= 0 {
		return s[:i], s[i+1:], true
	}
	return s, "", false
}
