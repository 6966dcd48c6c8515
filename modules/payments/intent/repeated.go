package intent

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"marquee/modules/payments/gateway"
	"marquee/modules/payments/internal/paymentsdb"
	"marquee/platform/postgres"
)

// Repeated is one kind of order whose repetition is harmless: to end, to pause, to move. It is kept in a row of its
// user, and a job carries it out. From its first failure on it has an intent: the checks repeat it, within their share
// of the quota, and tell people of it after a day. While that is open nobody else does.
type Repeated struct {
	Kind    Kind
	Intents *Service
	// Do asks the gateway, and settles its answer.
	Do func(ctx context.Context, r Ref) error
}

// ErrUnderWay is what Do answers while another worker has the order, or a call of it may not show at the gateway yet:
// no fault of the gateway's.
var ErrUnderWay = errors.New("the order is under way")

// Run carries the order out, unless the checks have it. A gateway's error, or ErrUnderWay, is handed over to the
// checks, so that the order is repeated within their share of the quota; nil then. Any other error of Do is returned
// as it is, and the user's job comes again.
func (r *Repeated) Run(ctx context.Context, o Opening) error {
	o.Kind = r.Kind
	if open, err := r.Intents.IsOpen(ctx, r.Intents.deps.Pool, o.Ref); err != nil || open {
		return err
	}
	cause := r.Do(ctx, o.Ref)
	if cause == nil || !errors.Is(cause, ErrUnderWay) && !gateway.IsError(cause) {
		return cause
	}
	if err := r.HandOver(ctx, o, cause); err != nil {
		return errors.Join(cause, err)
	}
	return nil
}

// HandOver leaves an order that was not carried out to the checks, which repeat it from now on. One that is open
// already (*ErrOpen) is no error: another try has failed meanwhile. Other errors are the database's.
func (r *Repeated) HandOver(ctx context.Context, o Opening, cause error) error {
	ctx, s := context.WithoutCancel(ctx), r.Intents
	o.Kind, o.CallTime = r.Kind, s.CallTime()
	s.log(o.Ref).WarnContext(ctx, "not carried out at the gateway yet", "gateway", o.Gateway, "error", cause)
	underWay := errors.Is(cause, ErrUnderWay)
	err := postgres.InTx(ctx, s.deps.Pool, func(tx pgx.Tx) error {
		if err := s.OpenTx(ctx, tx, o); err != nil || !underWay {
			return err
		}
		return s.waitTx(ctx, tx, o.Ref)
	})
	if err == nil && !underWay {
		err = s.notKnown(ctx, o.Ref, cause)
	}
	if AlreadyOpen(err) {
		return nil
	}
	return err
}

// Sweep takes up an order whose own job is silent; one that the checks have, only later. Else both would make it. Its
// errors are those of do or later, and the database's.
func (r *Repeated) Sweep(ctx context.Context, ref Ref, do, later func() error) error {
	ref.Kind = r.Kind
	if open, err := r.Intents.IsOpen(ctx, r.Intents.deps.Pool, ref); err != nil {
		return err
	} else if open {
		return later()
	}
	return do()
}

// Checker is what the schedule of checks has to know of the kind.
func (r *Repeated) Checker() Checker {
	c := Repeat(r.Do)
	c.repeats = false // it was carried out before
	return c
}

// Repeat is the Checker of an order whose repetition is harmless: to pause, to move. RequestTx opens it with the row in
// which it stands, and the checks carry it out. Do asks the gateway for what the row wants by then, and settles the
// answer; there may be nothing left to do. ErrUnderWay has it wait; any other error is not known.
func Repeat(do func(ctx context.Context, r Ref) error) Checker {
	return Checker{repeats: true, check: func(ctx context.Context, c *check) (finding, error) {
		err := do(gateway.Background(ctx), c.Ref)
		if errors.Is(err, ErrUnderWay) {
			return waiting, nil
		}
		return settled, err
	}}
}

// RequestTx has the checks carry out an order of Repeat at once, in the transaction that writes what its row wants. One
// that is open is made due: what a check that is under way asks for is of before, and does not end it. An error is
// the database's.
func (s *Service) RequestTx(ctx context.Context, tx pgx.Tx, o Opening) error {
	for {
		n, err := s.db.IntentRequest(ctx, tx, paymentsdb.IntentRequestParams{
			Now: s.deps.Clock.Now(), SubjectID: o.Subject, Kind: o.Kind, Item: o.Item,
		})
		if err != nil {
			return fmt.Errorf("request intent: %w", err)
		}
		if n > 0 {
			return nil
		}
		if err := s.OpenTx(ctx, tx, o); !AlreadyOpen(err) {
			return err
		}
	}
}
