package replica

import (
	"context"
	"fmt"
	"time"
)

// catchUpTime is how long a replica may take to come where the primary is, before the primary is read itself.
const catchUpTime = 5 * time.Second

// CatchUp has what is read for the context be no older than now. It waits some seconds until a replica is as far, for
// work that has the time. The error is the primary's.
func (s *Set) CatchUp(ctx context.Context) (context.Context, error) {
	if len(s.replicas) == 0 {
		return ctx, nil
	}
	var place LSN
	err := s.cfg.Primary.QueryRow(ctx, "SELECT pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0')::bigint").Scan(&place)
	if err != nil {
		return ctx, fmt.Errorf("ask how far the primary is: %w", err)
	}
	tick, over := time.NewTicker(pace/2), time.After(catchUpTime)
	defer tick.Stop()
	for s.choose(place) == nil {
		select {
		case <-tick.C:
			continue
		case <-over:
		case <-ctx.Done():
		}
		break
	}
	return After(ctx, place), nil
}
