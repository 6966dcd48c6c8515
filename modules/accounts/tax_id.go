package accounts

// TaxIDValid reports whether a CPF (11 digits) or CNPJ (14 characters, of which
// the first 12 may be letters since July 2026) carries the right check digits.
// It is asked where money moves (open-shapes, section 3, tax_id).
func TaxIDValid(taxID string) bool {
	switch len(taxID) {
	case 11:
		return !sameCharacter(taxID) && checked(taxID, 9, 11) && checked(taxID, 10, 11)
	case 14:
		return !sameCharacter(taxID) && checked(taxID, 12, 9) && checked(taxID, 13, 9)
	}
	return false
}

// checked compares the character at position n with the check digit of those
// before. Weights run from 2 upwards, from right to left, and begin again behind
// highest. Letters count as their ASCII code minus 48.
func checked(taxID string, n, highest int) bool {
	sum, weight := 0, 2
	for i := n - 1; i >= 0; i-- {
		c := taxID[i]
		if (c < '0' || c > '9') && (c < 'A' || c > 'Z') {
			return false
		}
		sum += int(c-'0') * weight
		if weight++; weight > highest {
			weight = 2
		}
	}
	digit := 11 - sum%11
	if digit > 9 {
		digit = 0
	}
	return int(taxID[n])-'0' == digit
}

func sameCharacter(s string) bool {
	for i := range len(s) {
		if s[i] != s[0] {
			return false
		}
	}
	return true
}
