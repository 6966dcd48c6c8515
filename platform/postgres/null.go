package postgres

// Text is "" for null.
func Text[T ~string](s *T) T {
	if s == nil {
		return ""
	}
	return *s
}

// Filled is null for "".
func Filled[T ~string](s T) *T {
	if s == "" {
		return nil
	}
	return &s
}
