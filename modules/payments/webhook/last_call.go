package webhook

import (
	"context"
	"fmt"
	"maps"
	"sync"
	"time"

	"marquee/modules/payments/gateway"
	"marquee/modules/payments/internal/paymentsdb"
	"marquee/platform/postgres"
)

const (
	// lastCalls bounds how many calls are read to find the last one of each gateway. A process reads so many once;
	// after that the few that came since it last looked.
	lastCalls = 50_000
	// commitTime is how long after its receipt a call may appear in the log.
	commitTime = time.Minute
)

// known is when each gateway last called, as far as this process has looked.
type known struct {
	mu sync.Mutex
	at map[gateway.Name]time.Time
}

// LastCalls tells when each gateway last called, with an event that was its own. One that is missing is not among
// the newest calls before this process first looked.
func (s *Log) LastCalls(ctx context.Context, db postgres.DB) (map[gateway.Name]time.Time, error) {
	s.last.mu.Lock()
	defer s.last.mu.Unlock()
	var since time.Time
	for _, at := range s.last.at {
		if at.After(since) {
			since = at
		}
	}
	found, err := s.db.WebhookLogListLast(ctx, db,
		paymentsdb.WebhookLogListLastParams{Since: since.Add(-commitTime), Newest: lastCalls})
	if err != nil {
		return nil, fmt.Errorf("find the gateways' last calls: %w", err)
	}
	if s.last.at == nil {
		s.last.at = map[gateway.Name]time.Time{}
	}
	for _, call := range found {
		if call.ReceivedAt.After(s.last.at[call.Gateway]) {
			s.last.at[call.Gateway] = call.ReceivedAt
		}
	}
	return maps.Clone(s.last.at), nil
}
