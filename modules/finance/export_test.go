package finance

import (
	"context"

	"marquee/modules/finance/exports"
	"marquee/platform/objectid"
)

// Insides that tests of exports reach: a worker at work on its own, the sweep,
// and the size of a stored piece.

func (s *Service) RunExport(ctx context.Context, id objectid.ID) error {
	return s.exports.Run(ctx, id)
}

func (s *Service) SweepExports(ctx context.Context) error { return s.exports.Sweep(ctx) }

// Rebuild is what operators call at psql.
func (s *Service) Rebuild(ctx context.Context) error {
	_, err := s.deps.Pool.Exec(ctx, "SELECT finance.rebuild()")
	return err
}

const (
	ChunkBytes        = exports.ChunkBytes
	MaxExportAttempts = exports.MaxAttempts
	MaxSending        = exports.MaxSending
)
