package payments_test

import (
	"context"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/riverqueue/river"
	"github.com/stretchr/testify/require"

	"marquee/modules/payments"
	"marquee/modules/payments/gateway"
	"marquee/modules/payments/ledger"
	"marquee/modules/payments/paymentstest"
	"marquee/modules/payments/refund"
	"marquee/platform/clock"
	"marquee/platform/httpapi"
	"marquee/platform/jobs"
	"marquee/platform/money"
	"marquee/platform/objectid"
	"marquee/platform/postgres"
	"marquee/testutil/apitest"
	"marquee/testutil/pgtest"
	"marquee/testutil/sandbox/stage"
	"marquee/testutil/secrettest"
)

// order applies what the gateways report of ticket orders, as an upper module
// does.
type order struct {
	svc   *payments.Service
	local objectid.ID
	buyer objectid.ID
}

func (o *order) ApplyEventTx(ctx context.Context, tx pgx.Tx, e gateway.Event) (gateway.Result, error) {
	applied := gateway.Result{Status: gateway.ResultApplied}
	switch p := e.Payload.(type) {
	case gateway.SettledPayment:
		_, err := o.svc.RecordPaymentTx(ctx, tx, payments.Record{
			Owner: gateway.Owner{
				Gateway: e.Gateway, Purpose: gateway.ForOrder, LocalID: o.local, CustomerID: o.buyer,
			},
			Payment: p.Payment,
		})
		return applied, err
	case gateway.RefundChange:
		if e.Known == nil {
			return gateway.Result{Unclaimed: true}, nil
		}
		_, err := o.svc.RecordRefundTx(ctx, tx, payments.RefundRecord{
			Owner: e.Known.At(e.Gateway), Report: p.Report,
		})
		return applied, err
	case gateway.DisputeChange:
		if e.Known == nil {
			return gateway.Result{Unclaimed: true}, nil
		}
		_, err := o.svc.RecordDisputeTx(ctx, tx, payments.DisputeRecord{
			Owner: e.Known.At(e.Gateway), Report: p.Report,
		})
		return applied, err
	}
	return gateway.Result{Status: gateway.ResultIgnored, Unclaimed: e.Known == nil}, nil
}

// shop is the module with both gateways before it, calling it, and its jobs.
type shop struct {
	*order
	t     *testing.T
	g     *paymentstest.Gateways
	pool  *pgxpool.Pool
	clock *clock.Fake
	url   string
}

func openShop(t *testing.T) *shop {
	t.Helper()
	return openShopThrough(t, nil)
}

// openShopThrough sends the calls of gateway B through a transport.
func openShopThrough(t *testing.T, transport http.RoundTripper) *shop {
	t.Helper()
	s := &shop{
		order: &order{local: objectid.New(), buyer: objectid.New()}, t: t,
		g: paymentstest.NewGatewaysThrough(t, transport), pool: pgtest.DB(t),
	}
	quiet := secrettest.Logger(t)
	client, err := jobs.New(s.pool, jobs.Options{Log: quiet})
	require.NoError(t, err)
	s.clock = clock.NewFake(paymentstest.Now())
	s.svc = payments.New(payments.Deps{
		Pool: s.pool, Jobs: client, Clock: s.clock, Log: quiet, Adapters: s.g.Adapters(),
	})
	s.svc.Connect(payments.Hooks{Applier: s.order})
	api := httpapi.New(httpapi.Config{Log: quiet})
	s.svc.Routes(api)
	s.url = apitest.Serve(t, api)
	t.Cleanup(func() { paymentstest.RequireMovesOfTheTable(context.Background(), t, s.pool) })
	workers := river.NewWorkers()
	s.svc.Workers(workers)
	worker, err := jobs.New(s.pool, jobs.Options{Workers: workers, Log: quiet, PollOnly: true})
	require.NoError(t, err)
	require.NoError(t, worker.Start(context.WithoutCancel(t.Context())))
	t.Cleanup(func() { require.NoError(t, worker.Stop(context.Background())) })
	return s
}

func (s *shop) listen() {
	s.g.Sandbox.GWA.SetWebhook(s.url+"/webhooks/gwa", paymentstest.GWAToken)
	s.g.Sandbox.GWB.SetWebhook(s.url+"/webhooks/gwb", paymentstest.GWBSecret)
}

// sold is an order of 240.00 paid by card and in the ledger.
func (s *shop) sold(name gateway.Name) gateway.LedgerPayment {
	s.t.Helper()
	gw, err := s.svc.Gateway(name)
	require.NoError(s.t, err)
	payer := paymentstest.Payer()
	payer.GatewayID, err = gw.EnsureCustomer(s.t.Context(), payer)
	require.NoError(s.t, err)
	instrument := paymentstest.Card(paymentstest.CardApproved)
	if name == gateway.GWB {
		instrument = paymentstest.Token(paymentstest.TokenApproved)
	}
	charge, err := gw.ChargeCard(s.t.Context(), gateway.CardTerms{
		Reference: s.local, Kind: gateway.KindTicketOrder, Payer: payer, Amount: 24000, Instrument: instrument,
	})
	require.NoError(s.t, err)
	require.NoError(s.t, postgres.InTx(s.t.Context(), s.pool, func(tx pgx.Tx) error {
		_, err := s.svc.RecordPaymentTx(s.t.Context(), tx, payments.Record{
			Owner: gateway.Owner{
				Gateway: name, Purpose: gateway.ForOrder, LocalID: s.local, CustomerID: s.buyer,
			},
			Payment: charge.Payment,
		})
		return err
	}))
	known, err := s.svc.FindPayment(s.t.Context(), s.pool, name, charge.Payment.ID)
	require.NoError(s.t, err)
	return *known
}

func (s *shop) refunded() money.Cents {
	s.t.Helper()
	sum, err := s.svc.RefundedTotal(s.t.Context(), s.pool, gateway.ForOrder, s.local)
	require.NoError(s.t, err)
	return sum
}

func (s *shop) refunds() []payments.Refund {
	s.t.Helper()
	all, err := s.svc.RefundsOf(s.t.Context(), s.pool, gateway.ForOrder, s.local)
	require.NoError(s.t, err)
	return all
}

// history are the moves of all refunds, each with its action and reason.
func (s *shop) history() []string {
	s.t.Helper()
	rows, err := s.pool.Query(s.t.Context(), `SELECT concat_ws(' ', concat(from_state, '>', to_state), action, reason)
		FROM payments.refund_transitions ORDER BY refund_id, id`)
	require.NoError(s.t, err)
	moves, err := pgx.CollectRows(rows, pgx.RowTo[string])
	require.NoError(s.t, err)
	return moves
}

func (s *shop) count(sql string, args ...any) (n int) {
	s.t.Helper()
	require.NoError(s.t, s.pool.QueryRow(s.t.Context(), sql, args...).Scan(&n))
	return n
}

func eachName(t *testing.T, run func(t *testing.T, s *shop, name gateway.Name)) {
	for _, name := range []gateway.Name{gateway.GWA, gateway.GWB} {
		t.Run(string(name), func(t *testing.T) {
			t.Parallel()
			run(t, openShop(t), name)
		})
	}
}

func TestAdminRefundAndItsWebhookCountOnce(t *testing.T) {
	t.Parallel()
	eachName(t, func(t *testing.T, s *shop, name gateway.Name) {
		s.listen()
		paid := s.sold(name)
		admin := objectid.New()
		ran := 0
		done, err := s.svc.RefundPayment(t.Context(), payments.RefundRequest{
			Payment: paid, Amount: 2000, Reason: "A courtesy", Admin: "root", AdminID: &admin,
		},
			func(context.Context, pgx.Tx, payments.Refund) error { ran++; return nil })
		require.NoError(t, err)
		require.Equal(t, 1, ran)
		require.Equal(t, gateway.RefundStatusDone, done.Refund.Status)
		require.NotEmpty(t, done.Response)
		s.clock.Advance(time.Second) // by which the history tells them apart
		rest, err := s.svc.RefundPayment(t.Context(), payments.RefundRequest{Payment: paid, Reason: "The rest"}, nil)
		require.NoError(t, err)
		require.EqualValues(t, 22000, rest.Refund.Amount, "no amount is all that is left")
		_, err = s.svc.RefundPayment(t.Context(), payments.RefundRequest{Payment: paid, Reason: "Once more"}, nil)
		require.ErrorIs(t, err, payments.ErrRefundTooMuch)

		require.Eventually(t, func() bool {
			return s.count("SELECT count(*) FROM payments.webhook_logs WHERE processed AND event_type IN ('charge.refunded', 'PAYMENT_REFUNDED', 'PAYMENT_PARTIALLY_REFUNDED')") == 2
		}, time.Minute, 20*time.Millisecond)
		require.EqualValues(t, 24000, s.refunded())
		rows := s.refunds()
		require.Len(t, rows, 2, "the webhooks found the same refunds")
		first := rows[1]
		require.True(t, first.ByAdmin)
		require.Equal(t, "root", first.Admin)
		require.Equal(t, admin, *first.AdminID)
		require.Equal(t, []string{
			">requested asked", "requested>done made", ">requested asked", "requested>done made",
		}, s.history())
		require.Regexp(t, "^REFUND-"+s.local.String()+`-\d{13}$`, first.EventID)
		want := map[gateway.Name]string{
			gateway.GWA: "ADMIN.REFUND.GWA_REFUND",
			gateway.GWB: "ADMIN.REFUND.GWB_REFUND",
		}[name]
		require.Equal(t, want, first.EventType)
		require.Equal(t, 2,
			s.count("SELECT count(*) FROM payments.webhook_logs WHERE event_type = $1 AND processed AND payload->>'reason' IS NOT NULL", want), "logged as webhooks")
	})
}

func TestRefundByTheGatewayAlone(t *testing.T) {
	t.Parallel()
	eachName(t, func(t *testing.T, s *shop, name gateway.Name) {
		s.listen()
		paid := s.sold(name)
		gw, err := s.svc.Gateway(name)
		require.NoError(t, err)
		_, err = gw.Refund(t.Context(), gateway.RefundTerms{
			RefundID: objectid.New(), Payment: gateway.PaymentRef{PaymentID: paid.Payment.ID}, Amount: 500,
			Reason: "At the panel",
		})
		require.NoError(t, err)
		require.Eventually(t, func() bool { return s.refunded() == 500 }, time.Minute, 20*time.Millisecond)
		require.False(t, s.refunds()[0].ByAdmin)
		require.NotEmpty(t, s.refunds()[0].EventID)
		require.Equal(t, ">done made", s.history()[0])
	})
}

func TestRefundWhoseAnswerWasLostIsOneRefund(t *testing.T) {
	t.Parallel()
	eachName(t, func(t *testing.T, s *shop, name gateway.Name) {
		paid := s.sold(name)
		st, path := s.g.Sandbox.GWA.Stage(), "/v3/payments/"+paid.Payment.ID+"/refund"
		if name == gateway.GWB {
			st, path = s.g.Sandbox.GWB.Stage(), "/v1/refunds"
		}
		require.NoError(t, st.Faults.Plan(stage.Fault{
			Method: "POST", Path: path, Kind: stage.FaultResetAfter, Times: 50,
		}))
		_, err := s.svc.RefundPayment(t.Context(), payments.RefundRequest{
			Payment: paid, Amount: 2000, Reason: "A courtesy",
		}, nil)
		require.ErrorIs(t, err, gateway.ErrOutcomeUnknown)
		require.Equal(t, gateway.RefundStatusRequested, s.refunds()[0].Status, "unknown is not failed")
		_, err = s.svc.RefundPayment(t.Context(), payments.RefundRequest{
			Payment: paid, Amount: 2000, Reason: "A courtesy",
		}, nil)
		var open *refund.OpenError
		require.ErrorAs(t, err, &open, "nobody knows what is left")
		require.Equal(t, s.refunds()[0].ID, open.Refund.ID)
		st.Faults.Clear()

		s.runStatusChecks(name, 5*time.Second)
		require.EqualValues(t, 2000, s.refunded())
		require.Len(t, s.refunds(), 1)
		gw, err := s.svc.Gateway(name)
		require.NoError(t, err)
		all, err := gw.ListRefunds(t.Context(), gateway.PaymentRef{PaymentID: paid.Payment.ID})
		require.NoError(t, err)
		require.Len(t, all, 1, "one refund at the gateway")
		require.Equal(t, []string{">requested asked", "requested>done made"}, s.history())
	})
}

func TestRefusedRefundIsFailed(t *testing.T) {
	t.Parallel()
	eachName(t, func(t *testing.T, s *shop, name gateway.Name) {
		paid := s.sold(name)
		paid.Payment.Amount = 99999 // the gateway knows better
		_, err := s.svc.RefundPayment(t.Context(), payments.RefundRequest{
			Payment: paid, Amount: 50000, Reason: "Too much",
		}, nil)
		var rejected *gateway.Rejected
		require.ErrorAs(t, err, &rejected)
		failed := s.refunds()[0]
		require.Equal(t, gateway.RefundStatusFailed, failed.Status)
		require.Zero(t, s.refunded())
		require.NotEmpty(t, failed.Failure)
		require.Equal(t, []string{">requested asked", "requested>failed refused " + failed.Failure}, s.history())
		for _, change := range []string{
			"UPDATE payments.refund_transitions SET reason = 'x'", "DELETE FROM payments.refund_transitions",
		} {
			_, err := s.pool.Exec(t.Context(), change)
			require.ErrorContains(t, err, "payments.refund_transitions is append-only")
		}
		_, err = s.pool.Exec(t.Context(), "UPDATE payments.refunds SET status = 'requested', failure = NULL")
		require.NoError(t, err)
		require.Equal(t, "failed>requested not_recorded", s.history()[2], "a move past its history")
	})
}

// parallelRefunds asks for two refunds of 150.00 of 240.00 at once.
func parallelRefunds(t *testing.T, s *shop, paid gateway.LedgerPayment) (made int) {
	var wg sync.WaitGroup
	var mu sync.Mutex
	for range 2 {
		wg.Go(func() {
			_, err := s.svc.RefundPayment(t.Context(), payments.RefundRequest{
				Payment: paid, Amount: 15000, Reason: "At once",
			}, nil)
			mu.Lock()
			defer mu.Unlock()
			if err == nil {
				made++
			}
		})
	}
	wg.Wait()
	return made
}

func TestParallelRefundsAreCappedByWhatWasPaid(t *testing.T) {
	t.Parallel()
	eachName(t, func(t *testing.T, s *shop, name gateway.Name) {
		require.Equal(t, 1, parallelRefunds(t, s, s.sold(name)))
		require.Len(t, s.refunds(), 1, "the second was never written, let alone sent")
		require.EqualValues(t, 15000, s.refunded())
	})
}

func TestReportsInAnyOrderWriteOneStory(t *testing.T) {
	t.Parallel()
	b := setup(t)
	r := payments.RefundRecord{
		Owner: gateway.Owner{
			Gateway: gateway.GWB, Purpose: gateway.ForSubscription, LocalID: objectid.New(), CustomerID: objectid.New(),
		},
	}
	record := func(cents money.Cents, second int) ledger.RefundChange {
		var change ledger.RefundChange
		require.NoError(t, postgres.InTx(t.Context(), b.pool, func(tx pgx.Tx) (err error) {
			r.Report = gateway.RefundReport{
				PaymentID: "pi_1", Total: cents, HasTotal: true,
				At:      b.clock.Now().Add(time.Duration(second) * time.Second),
				EventID: "evt_1", Type: "charge.refunded",
			}
			change, err = b.svc.RecordRefundTx(t.Context(), tx, r)
			return err
		}))
		return change
	}
	require.Equal(t, ledger.RefundChange{Total: 3500, Change: 3500}, record(3500, 2))
	require.Equal(t, ledger.RefundChange{Total: 3500}, record(1000, 1))
	require.Equal(t, ledger.RefundChange{Total: 3500}, record(3500, 2))
	require.Equal(t, ledger.RefundChange{Total: 4990, Change: 1490}, record(4990, 3))
	require.Equal(t, 4990, b.count("SELECT sum(amount_cents) FROM payments.refunds WHERE status = 'done'"))
}

// atOnce records the same cumulative report twenty times at the same time and
// returns the rows that were written, and how often it failed.
func atOnce(t *testing.T, b *bundle) (rows int, failures int32) {
	t.Helper()
	r := payments.RefundRecord{
		Owner: gateway.Owner{
			Gateway: gateway.GWB, Purpose: gateway.ForSubscription, LocalID: objectid.New(), CustomerID: objectid.New(),
		},
	}
	r.Report = gateway.RefundReport{
		PaymentID: "pi_1", Total: 1000, HasTotal: true, At: b.clock.Now(), EventID: "evt_1", Type: "charge.refunded",
	}
	var (
		wg     sync.WaitGroup
		failed atomic.Int32
	)
	for range 20 {
		wg.Go(func() {
			err := postgres.InTx(t.Context(), b.pool, func(tx pgx.Tx) error {
				_, err := b.svc.RecordRefundTx(t.Context(), tx, r)
				return err
			})
			if err != nil {
				failed.Add(1)
			}
		})
	}
	wg.Wait()
	return b.count("SELECT count(*) FROM payments.refunds"), failed.Load()
}

func TestSameReportAtOnceIsOneRefund(t *testing.T) {
	t.Parallel()
	b := setup(t)
	rows, failures := atOnce(t, b)
	require.Equal(t, 1, rows)
	require.Zero(t, failures)
	require.Equal(t, 1000, b.count("SELECT sum(amount_cents) FROM payments.refunds WHERE status = 'done'"))
}

func TestSameReportAtOnceWithoutTheLock(t *testing.T) {
	t.Parallel()
	b := setup(t)
	withoutRefundLock(t, b.pool, "payments.refund_reports")
	rows, _ := atOnce(t, b) // who changes a row that another has changed is refused
	require.Greater(t, rows, 1, "the sum heals by the next report, the history does not")
}
