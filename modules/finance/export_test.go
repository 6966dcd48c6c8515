package finance

import (
	"context"

	"marquee/platform/objectid"
)

// Insides that tests of exports reach: a worker at work on its own, the sweep,
// and the size of a stored piece.

func (s *Service) RunExport(ctx context.Context, id objectid.ID) error { return s.runExport(ctx, id) }

func (s *Service) SweepExports(ctx context.Context) error { return s.sweepExports(ctx) }

const (
	ChunkBytes        = chunkBytes
	MaxExportAttempts = maxExportAttempts
	MaxSending        = maxSending
)
