package accounts

// HashChecks counts the password hashes computed to check a password.
func (s *Service) HashChecks() int64 { return s.hasher.checks.Load() }

// HashTurns is how many hashes are computed at once.
func (s *Service) HashTurns() int { return cap(s.hasher.slots) }
