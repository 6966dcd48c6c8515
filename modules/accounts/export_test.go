package accounts

import (
	"context"

	"github.com/jackc/pgx/v5"

	"marquee/modules/accounts/codes"
	"marquee/platform/objectid"
)

// HashChecks counts the password hashes computed to check a password.
func HashChecks(s *Service) int64 { return s.hasher.Checks() }

// HashesMade counts the password hashes computed to keep a password.
func HashesMade(s *Service) int64 { return s.hasher.Made() }

// ForgetOld is what the sweep of codes does to sessions and throttles.
func ForgetOld(ctx context.Context, s *Service) error { return s.sessions.ForgetOld(ctx) }

// SweepCodes is the job that removes what is over.
func SweepCodes(ctx context.Context, s *Service) error {
	return s.codes.Sweep(ctx, codes.SweepCodesArgs{})
}

// EraseAuditTx is what the deletion of a person does to the trail.
func EraseAuditTx(ctx context.Context, s *Service, tx pgx.Tx, recordID objectid.ID) error {
	return s.trail.EraseAuditTx(ctx, tx, recordID)
}
