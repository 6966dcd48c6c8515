package accounts

import (
	"context"

	"github.com/jackc/pgx/v5"

	"marquee/modules/accounts/codes"
	"marquee/platform/objectid"
)

// HashChecks counts the password hashes computed to check a password.
func (s *Service) HashChecks() int64 { return s.hasher.Checks() }

// HashesMade counts the password hashes computed to keep a password.
func (s *Service) HashesMade() int64 { return s.hasher.Made() }

// ForgetOld is what the sweep of codes does to sessions and throttles.
func (s *Service) ForgetOld(ctx context.Context) error { return s.sessions.ForgetOld(ctx) }

// SweepCodes is the job that removes what is over.
func (s *Service) SweepCodes(ctx context.Context) error {
	return s.codes.Sweep(ctx, codes.SweepCodesArgs{})
}

// EraseAuditTx is what the deletion of a person does to the trail.
func (s *Service) EraseAuditTx(ctx context.Context, tx pgx.Tx, recordID objectid.ID) error {
	return s.trail.EraseAuditTx(ctx, tx, recordID)
}
