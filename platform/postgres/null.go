package postgres

// Text is "" for null.
func Text(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

// Filled is null for "".
func Filled(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}
