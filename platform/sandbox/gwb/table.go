package gwb

import (
	"crypto/rand"
	"slices"
)

// object is a JSON object of the API.
type object = map[string]any

// table holds one kind of object by id, in order of creation.
type table[T any] struct {
	Items map[string]*T `json:"items"`
	Order []string      `json:"order"`
}

func (t *table[T]) get(id string) *T { return t.Items[id] }

func (t *table[T]) put(id string, v *T) {
	if t.Items == nil {
		t.Items = map[string]*T{}
	}
	if _, known := t.Items[id]; !known {
		t.Order = append(t.Order, id)
	}
	t.Items[id] = v
}

// newest lists newest first those that match.
func (t *table[T]) newest(match func(*T) bool) []*T {
	var out []*T
	for i := len(t.Order) - 1; i >= 0; i-- {
		if v := t.Items[t.Order[i]]; v != nil && (match == nil || match(v)) {
			out = append(out, v)
		}
	}
	return out
}

// dropOldest forgets the oldest beyond keep.
func (t *table[T]) dropOldest(keep int) {
	for len(t.Order) > keep {
		delete(t.Items, t.Order[0])
		t.Order = t.Order[1:]
	}
}

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

// newID has the lengths of the real ids: 14 letters after cus_, prod_, si_ and 24 elsewhere, which start with 1 or 3.
func newID(prefix string) string {
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

func metadataOf(m map[string]string) object {
	o := object{}
	for k, v := range m {
		o[k] = v
	}
	return o
}

func (t *table[T]) remove(id string) {
	if _, known := t.Items[id]; !known {
		return
	}
	delete(t.Items, id)
	t.Order = slices.DeleteFunc(t.Order, func(o string) bool { return o == id })
}
