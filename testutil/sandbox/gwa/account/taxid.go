package account

import (
	"regexp"
	"strings"
)

// taxID returns the characters of a CPF (11) or CNPJ (14) and the gateway's personType, or false when the check digits
// are wrong. Dots, dashes and slashes are dropped, as the gateway does. The first 12 of a CNPJ may be capitals, which
// count as their ASCII code less 48.
func taxID(s string) (bare, personType string, ok bool) {
	bare = strings.NewReplacer(".", "", "-", "", "/", "", " ", "").Replace(s)
	switch {
	case len(bare) == 11 && allDigits(bare) && !repeated(bare):
		ok = checkDigit(bare[:9], 10) == bare[9] && checkDigit(bare[:10], 11) == bare[10]
		return bare, "FISICA", ok
	case len(bare) == 14 && cnpj.MatchString(bare) && !repeated(bare):
		ok = checkDigitCNPJ(bare[:12]) == bare[12] && checkDigitCNPJ(bare[:13]) == bare[13]
		return bare, "JURIDICA", ok
	}
	return "", "", false
}

var cnpj = regexp.MustCompile(`^[0-9A-Z]{12}[0-9]{2}$`)

// checkDigit is the modulo-11 digit with weights falling from first to 2.
func checkDigit(digits string, first int) byte {
	sum := 0
	for i := range len(digits) {
		sum += int(digits[i]-'0') * (first - i)
	}
	return modulo11(sum)
}

// checkDigitCNPJ is the modulo-11 digit with weights 2 to 9, cyclic, from the right.
func checkDigitCNPJ(digits string) byte {
	sum := 0
	for i := range len(digits) {
		sum += int(digits[len(digits)-1-i]-'0') * (2 + i%8)
	}
	return modulo11(sum)
}

func modulo11(sum int) byte {
	if r := sum % 11; r >= 2 {
		return byte('0' + 11 - r)
	}
	return '0'
}

func allDigits(s string) bool {
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return false
		}
	}
	return s != ""
}

func repeated(s string) bool { return strings.Count(s, s[:1]) == len(s) }
