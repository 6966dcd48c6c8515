package gwa

import "strings"

// taxID returns the digits of a CPF (11) or CNPJ (14) and the gateway's personType, or false when the check digits
// are wrong. Dots, dashes and slashes are dropped, as the gateway does.
func taxID(s string) (digits, personType string, ok bool) {
	digits = strings.NewReplacer(".", "", "-", "", "/", "", " ", "").Replace(s)
	if !allDigits(digits) || repeated(digits) {
		return "", "", false
	}
	switch len(digits) {
	case 11:
		ok = checkDigit(digits[:9], 10) == digits[9] && checkDigit(digits[:10], 11) == digits[10]
		return digits, "FISICA", ok
	case 14:
		ok = checkDigitCNPJ(digits[:12]) == digits[12] && checkDigitCNPJ(digits[:13]) == digits[13]
		return digits, "JURIDICA", ok
	}
	return "", "", false
}

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
