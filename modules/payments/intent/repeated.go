package intent

import (
	"context"
	"errors"

	"github.com/jackc/pgx/v5"

	"marquee/modules/payments/gateway"
	"marquee/modules/payments/internal/paymentsdb"
	"marquee/platform/postgres"
)

// ErrUnderWay is what the work of Repeat answers while its order has to wait for another, or a call of it may not show
// at the gateway yet: no fault of the gateway's.
var ErrUnderWay = errors.New("the order is under way")

// Repeat is the Checker of an order whose repetition is harmless: to end, to pause, to move. The checks alone carry it
// out: do asks the gateway for what its row wants by then, and settles the answer; there may be nothing left to do.
// ErrUnderWay has it wait; any other error is not known.
func Repeat(do func(ctx context.Context, r Ref) error) Checker {
	return Checker{repeats: true, check: func(ctx context.Context, c *check) (finding, error) {
		err := do(gateway.Background(ctx), c.Ref)
		if errors.Is(err, ErrUnderWay) {
			return waiting, nil
		}
		return settled, err
	}}
}

// RequestTx has an order of Repeat carried out, in the transaction that writes what its row wants. One that is open is
// due at once: a check that is under way asks for what was wanted before, and ends it not. Errors are the database's.
func (s *Service) RequestTx(ctx context.Context, tx pgx.Tx, o Opening) error {
	for {
		if n, err := s.request(ctx, tx, o.Ref, false); err != nil || n > 0 {
			return err
		}
		if err := s.OpenTx(ctx, tx, o); !AlreadyOpen(err) {
			return err
		}
	}
}

// Request carries out an order of Repeat now. One that is open is left to its checks; one that is being checked has
// another, which sees what its row wants by now. What the gateway answers is no error, as of CheckNow.
func (s *Service) Request(ctx context.Context, o Opening) error {
	for {
		err := postgres.InTx(ctx, s.deps.Pool, func(tx pgx.Tx) error { return s.OpenTx(ctx, tx, o) })
		if err == nil {
			return s.CheckOne(ctx, o.Kind, o.Subject)
		}
		if !AlreadyOpen(err) {
			return err
		}
		if _, err := s.request(ctx, s.deps.Pool, o.Ref, true); err != nil {
			return err
		}
		if _, open, err := s.open(ctx, s.deps.Pool, o.Ref); err != nil || open {
			return err
		}
	}
}

func (s *Service) request(ctx context.Context, db postgres.DB, r Ref, underWay bool) (int64, error) {
	return s.db.IntentRequest(ctx, db, paymentsdb.IntentRequestParams{
		Now: s.deps.Clock.Now(), SubjectID: r.Subject, Kind: r.Kind, Item: r.Item, UnderWay: underWay,
	})
}
