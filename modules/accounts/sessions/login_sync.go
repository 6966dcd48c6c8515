package sessions

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/riverqueue/river"
	"github.com/sony/gobreaker/v2"

	"marquee/modules/accounts/internal/accountsdb"
	"marquee/platform/httpapi"
	"marquee/platform/jobs"
	"marquee/platform/objectid"
)

// SubscriptionSync brings a customer's subscription to what its gateway says. The
// module subscriptions fills it.
type SubscriptionSync interface {
	// SyncSubscription asks the gateway about the customer's live subscription and
	// settles the answer; nil when there is nothing to ask. It gives up when ctx
	// ends.
	SyncSubscription(ctx context.Context, customerID objectid.ID) error
}

// SyncLimits bound what logins ask of the gateways: 10 questions of two calls
// each a minute are 14,400 of the 25,000 calls that gateway A allows in 12 h.
// The zero value of a field means its default.
type SyncLimits struct {
	Wait        time.Duration // LOGIN_SYNC_WAIT, the longest that a login waits; default 1.5 s
	PerMinute   int           // LOGIN_SYNC_PER_MINUTE, of all customers together; default 10
	PerCustomer int           // in a minute; default 3
	Rest        time.Duration // of a gateway that has failed three times in a row; default 30 s
}

func (l SyncLimits) withDefaults() SyncLimits {
	l.Wait = cmp.Or(l.Wait, 1500*time.Millisecond)
	l.PerMinute = cmp.Or(l.PerMinute, 10)
	l.PerCustomer = cmp.Or(l.PerCustomer, 3)
	l.Rest = cmp.Or(l.Rest, 30*time.Second)
	return l
}

// SyncSubscriptionArgs is the job that a login leaves when the gateway was slow or
// failed.
type SyncSubscriptionArgs struct {
	CustomerID objectid.ID `json:"customer_id"`
}

// Kind names the job.
func (SyncSubscriptionArgs) Kind() string { return "accounts_sync_subscription" }

// InsertOpts: one job a customer waits at a time, and it does not try long, since
// webhooks tell the same.
func (SyncSubscriptionArgs) InsertOpts() river.InsertOpts {
	return river.InsertOpts{
		Queue: jobs.QueueGateway, MaxAttempts: 3,
		UniqueOpts: river.UniqueOpts{ByArgs: true, ByState: jobs.WaitingStates},
	}
}

// SyncAgain asks the gateway once more. Only the last attempt's error is no error of the job.
func (s *Sessions) SyncAgain(ctx context.Context, job *river.Job[SyncSubscriptionArgs]) error {
	if s.sync == nil {
		return nil
	}
	err := s.sync.SyncSubscription(ctx, job.Args.CustomerID)
	if job.Attempt < job.MaxAttempts {
		return err
	}
	// A gateway may rest for hours. Its webhooks and the next login tell the same,
	// so that nobody has to look at a job that was given up.
	s.logSync(ctx, job.Args.CustomerID, err)
	return nil
}

// syncAtLogin brings the subscription up to date (docs/contract/accounts.md, Tokens). Nothing that goes wrong in it
// concerns the login: it waits for a moment at most, then goes on and leaves a job.
func (s *Sessions) syncAtLogin(ctx context.Context, u accountsdb.User) {
	if s.sync == nil || u.UserType != httpapi.TypeCustomer || u.CurrentSubscriptionID == nil {
		return
	}
	if allowed, err := s.maySync(ctx, u.ID); err != nil || !allowed {
		s.logSync(ctx, u.ID, err)
		return
	}
	_, err := s.breaker.Execute(func() (struct{}, error) { return struct{}{}, s.syncFor(ctx, u.ID) })
	if err == nil {
		return
	}
	s.logSync(ctx, u.ID, err)
	_, err = s.deps.Jobs.Insert(context.WithoutCancel(ctx), SyncSubscriptionArgs{CustomerID: u.ID}, nil)
	if err != nil {
		s.logSync(ctx, u.ID, err)
	}
}

var errGatewaySlow = errors.New("the gateway has not answered in time")

// maySync takes a question to the gateway from the customer's and from
// everybody's share of this minute.
func (s *Sessions) maySync(ctx context.Context, customerID objectid.ID) (bool, error) {
	ok, err := s.Throttles.TakeQuota(ctx, s.deps.Pool, "sync of customer", customerID.String(),
		s.deps.Config.Sync.PerCustomer, time.Minute)
	if err != nil || !ok {
		return false, err
	}
	return s.Throttles.TakeQuota(ctx, s.deps.Pool, "sync", "all", s.deps.Config.Sync.PerMinute, time.Minute)
}

// syncFor waits no longer than the limit, whatever the module above does with its
// context.
func (s *Sessions) syncFor(ctx context.Context, customerID objectid.ID) error {
	limited, cancel := context.WithTimeout(context.WithoutCancel(ctx), s.deps.Config.Sync.Wait)
	done := make(chan error, 1)
	go func() {
		defer cancel()
		done <- s.sync.SyncSubscription(limited, customerID)
	}()
	select {
	case err := <-done:
		return err
	case <-limited.Done():
	}
	select {
	case err := <-done: // an answer ends the wait as well, and may be seen after that
		return err
	default:
		return errGatewaySlow
	}
}

func (s *Sessions) logSync(ctx context.Context, customerID objectid.ID, err error) {
	if err != nil {
		s.deps.Log.WarnContext(ctx, "subscription not synchronised at login",
			slog.String("customer_id", customerID.String()), slog.Any("error", err))
	}
}

// newBreaker leaves a gateway alone that fails three times in a row, so that not every login waits for
// nothing. When its rest is over one caller tries. It is of one process.
func newBreaker(rest time.Duration) *gobreaker.CircuitBreaker[struct{}] {
	return gobreaker.NewCircuitBreaker[struct{}](gobreaker.Settings{
		Timeout:     rest,
		ReadyToTrip: func(c gobreaker.Counts) bool { return c.ConsecutiveFailures >= 3 },
	})
}
