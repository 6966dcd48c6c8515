// Package taxid checks Brazilian tax ids: CPF of people (11 digits) and CNPJ of
// companies (14 characters), without punctuation, by their check digits.
package taxid

import (
	"fmt"
	"strings"
)

// Form is what a client may write: 11 digits, or 14 characters of which the first 12
// may be letters of either case. Digits is the form of before July 2026, which
// TAX_ID_ALPHANUMERIC=false keeps to. Neither tells of check digits.
const (
	Form   = `^([0-9]{11}|[0-9A-Za-z]{12}[0-9]{2})$`
	Digits = `^([0-9]{11}|[0-9]{14})$`
)

// Normal is the form in which a tax id is stored, compared and sent on: its letters
// (ASCII alone) in capitals.
func Normal(id string) string {
	return strings.Map(func(r rune) rune {
		if 'a' <= r && r <= 'z' {
			return r - 'a' + 'A'
		}
		return r
	}, id)
}

// Valid reports whether id is a CPF or CNPJ with right check digits. With
// alphanumeric, the CNPJ in force since July 2026 is taken too, whose first 12
// characters may be capital letters.
func Valid(id string, alphanumeric bool) bool {
	switch len(id) {
	case 11:
		return wellFormed(id, 0) && checks(id, 9, 11)
	case 14:
		letters := 0
		if alphanumeric {
			letters = 12
		}
		return wellFormed(id, letters) && checks(id, 12, 9)
	default:
		return false
	}
}

// wellFormed refuses repetitions of one digit too: their check digits are right,
// but nobody has them.
func wellFormed(id string, letters int) bool {
	same := true
	for i := range len(id) {
		c := id[i]
		digit, letter := c >= '0' && c <= '9', c >= 'A' && c <= 'Z' && i < letters
		if !digit && !letter {
			return false
		}
		same = same && c == id[0]
	}
	return !same
}

// CPF is the valid one of a number of at most nine digits, for people who are made up.
func CPF(n int) string {
	id := fmt.Sprintf("%09d", n)
	for range 2 {
		id += string(checkDigit(id, 11))
	}
	return id
}

// checks compares what stands behind the first n characters with their check digits.
func checks(id string, n, highest int) bool {
	for ; n < len(id); n++ {
		if id[n] != checkDigit(id[:n], highest) {
			return false
		}
	}
	return true
}

// checkDigit computes the digit behind the characters by modulo 11. Weights count up
// from 2, from right to left, and start anew past the highest.
func checkDigit(id string, highest int) byte {
	sum := 0
	for i := range len(id) {
		sum += int(id[len(id)-1-i]-'0') * (2 + i%(highest-1))
	}
	if sum%11 < 2 {
		return '0'
	}
	return '0' + byte(11-sum%11)
}
