package account

import "crypto/rand"

// Object is a JSON object of the API.
type Object = map[string]any

const idLetters = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"

// random is n letters and digits; the slight bias of the modulus does not matter for ids.
func random(n int) string {
	b := make([]byte, n)
	_, _ = rand.Read(b)
	for i := range b {
		b[i] = idLetters[int(b[i])%len(idLetters)]
	}
	return string(b)
}

// NewID has the lengths of the real ids: 14 letters after cus_, prod_, si_ and 24 elsewhere, which start with 1 or 3.
func NewID(prefix string) string {
	switch prefix {
	case "cus", "prod", "si", "req":
		return prefix + "_" + random(14)
	case "pi", "ch", "re", "txn":
		return prefix + "_3S" + random(22)
	default:
		return prefix + "_1S" + random(22)
	}
}

func orNull(s string) any {
	if s == "" {
		return nil
	}
	return s
}

func timeOrNull(t int64) any {
	if t == 0 {
		return nil
	}
	return t
}

func metadataOf(m map[string]string) Object {
	o := Object{}
	for k, v := range m {
		o[k] = v
	}
	return o
}
