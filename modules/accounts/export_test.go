package accounts

// HashChecks counts the password hashes computed to check a password.
func (s *Service) HashChecks() int64 { return s.hasher.checks.Load() }
