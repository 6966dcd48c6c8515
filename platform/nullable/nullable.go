// Package nullable goes between values and the pointers that stand for nullable columns and
// for fields that may be left out. The zero value is what is not known.
package nullable

// Ptr is nil for the zero value, else a pointer to a copy.
func Ptr[T comparable](v T) *T {
	var zero T
	if v == zero {
		return nil
	}
	return &v
}

// Value is the zero value for nil, else what p points to.
func Value[T any](p *T) T {
	if p == nil {
		var zero T
		return zero
	}
	return *p
}
