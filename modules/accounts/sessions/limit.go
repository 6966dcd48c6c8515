package sessions

import (
	"context"
	"time"

	"marquee/platform/fault"
	"marquee/platform/httpapi"
)

// CallerLimit bounds how often something may be done in a minute (UTC), across
// processes.
type CallerLimit struct {
	Kind       string // what is done, such as "promo codes"
	PerCaller  int    // by one account, or by one client address where nobody is signed in
	PerAddress int    // from one client address, by all who come from there
}

// LimitCaller counts one more try of whoever is behind the request; 429 with the
// seconds to wait when they or their address have had as many as allowed. NO_THROTTLE
// lifts both.
func (s *Throttles) LimitCaller(ctx context.Context, l CallerLimit) error {
	if s.deps.Config.Throttle.Off {
		return nil
	}
	network := httpapi.ClientNetwork(ctx)
	caller := httpapi.CallerOf(ctx).ID.String()
	subjects := []struct {
		kind, subject string
		allowed       int
	}{{l.Kind + " by account", caller, l.PerCaller}, {l.Kind + " from address", network, l.PerAddress}}
	if caller == "" {
		subjects = subjects[1:]
		subjects[0].allowed = l.PerCaller
	}
	for _, q := range subjects {
		if q.subject == "" {
			continue
		}
		ok, err := s.TakeQuota(ctx, s.deps.Pool, q.kind, q.subject, q.allowed, time.Minute)
		if err != nil {
			return err
		}
		if !ok {
			now := s.deps.Clock.Now()
			wait := now.Truncate(time.Minute).Add(time.Minute).Sub(now)
			return fault.TooManyRequests(wait, "Too many requests. Try again in %s.", fault.Seconds(wait))
		}
	}
	return nil
}
