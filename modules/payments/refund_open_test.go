package payments_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"marquee/modules/payments"
	"marquee/modules/payments/gateway"
	"marquee/modules/payments/refund"
	"marquee/platform/jobs"
	"marquee/platform/money"
	"marquee/platform/objectid"
	sandboxa "marquee/testutil/sandbox/gwa/account"
	"marquee/testutil/sandbox/stage"
	"marquee/testutil/secrettest"
)

// refundsAt are the refunds that the payment's gateway has.
func (s *shop) refundsAt(p gateway.LedgerPayment) []gateway.RemoteRefund {
	s.t.Helper()
	gw, err := s.svc.Gateway(p.Gateway)
	require.NoError(s.t, err)
	all, err := gw.ListRefunds(s.t.Context(), gateway.PaymentRef{PaymentID: p.Payment.ID})
	require.NoError(s.t, err)
	return all
}

// refundFault is a fault of the calls that make refunds of the payment.
func (s *shop) refundFault(p gateway.LedgerPayment, f stage.Fault) *stage.Faults {
	s.t.Helper()
	st := s.g.Sandbox.GWA.Stage()
	f.Method, f.Path, f.Times = http.MethodPost, "/v3/payments/"+p.Payment.ID+"/refund", 50
	if p.Gateway == gateway.GWB {
		st, f.Path = s.g.Sandbox.GWB.Stage(), "/v1/refunds"
	}
	require.NoError(s.t, st.Faults.Plan(f))
	return st.Faults
}

func (s *shop) refund(p gateway.LedgerPayment, amount money.Cents) error {
	_, err := s.svc.RefundPayment(s.t.Context(), payments.RefundRequest{
		Payment: p, Amount: amount, Reason: "A courtesy",
	}, nil)
	return err
}

// lostRefund sells something, and asks for a refund of it whose call is not answered.
func (s *shop) lostRefund(name gateway.Name, amount money.Cents, kind stage.FaultKind) gateway.LedgerPayment {
	s.t.Helper()
	paid := s.sold(name)
	faults := s.refundFault(paid, stage.Fault{Kind: kind})
	require.ErrorIs(s.t, s.refund(paid, amount), gateway.ErrOutcomeUnknown)
	faults.Clear()
	return paid
}

// atConsole gives back a part of a payment without any of our rows.
func (s *shop) atConsole(p gateway.LedgerPayment, amount money.Cents) {
	s.t.Helper()
	gw, err := s.svc.Gateway(p.Gateway)
	require.NoError(s.t, err)
	_, err = gw.Refund(s.t.Context(), gateway.RefundTerms{
		RefundID: objectid.New(), Payment: gateway.PaymentRef{PaymentID: p.Payment.ID}, Amount: amount,
		Reason: "At the console",
	})
	require.NoError(s.t, err)
}

func TestARefundThatIsNotAnsweredKeepsOthersWaiting(t *testing.T) {
	t.Parallel()
	eachName(t, func(t *testing.T, s *shop, name gateway.Name) {
		paid := s.lostRefund(name, 2000, stage.FaultResetAfter)
		var open *refund.OpenError
		require.ErrorAs(t, s.refund(paid, 2000), &open)
		require.Equal(t, s.refunds()[0].ID, open.Refund.ID)
		require.Contains(t, open.Fault().Error(), s.refunds()[0].ID.String())
		require.Len(t, s.refundsAt(paid), 1, "paid once")
		require.Len(t, s.refunds(), 1)
	})
}

// sameRefundAtOnce asks twice at once for the same part of a payment.
func sameRefundAtOnce(t *testing.T, s *shop, paid gateway.LedgerPayment) (refused []error) {
	t.Helper()
	s.refundFault(paid, stage.Fault{Kind: stage.FaultDelay, Delay: stage.Duration(300 * time.Millisecond)})
	var wg sync.WaitGroup
	var mu sync.Mutex
	for range 2 {
		wg.Go(func() {
			if err := s.refund(paid, 2000); err != nil {
				mu.Lock()
				defer mu.Unlock()
				refused = append(refused, err)
			}
		})
	}
	wg.Wait()
	return refused
}

// oneIsRefused reports whether one of the two was told of the other.
func oneIsRefused(t *testing.T, refused []error) {
	t.Helper()
	require.Len(t, refused, 1)
	var open *refund.OpenError
	require.ErrorAs(t, refused[0], &open)
}

// oneOfTwoIsRefused asks twice at once, again when the machine stood still for as long as the gateway takes, so that
// one came after the other.
func oneOfTwoIsRefused(t *testing.T, s *shop, name gateway.Name) (*shop, gateway.LedgerPayment) {
	t.Helper()
	for range 4 {
		paid := s.sold(name)
		if refused := sameRefundAtOnce(t, s, paid); len(refused) > 0 {
			oneIsRefused(t, refused)
			return s, paid
		}
		s = openShop(t)
	}
	require.Fail(t, "none is refused")
	return nil, gateway.LedgerPayment{}
}

func TestTheSameRefundAtOnceIsPaidOnce(t *testing.T) {
	t.Parallel()
	eachName(t, func(t *testing.T, s *shop, name gateway.Name) {
		s, paid := oneOfTwoIsRefused(t, s, name)
		require.Len(t, s.refundsAt(paid), 1)
	})
}

// TestTheSameRefundAtOnceWithoutTheLock: either guard holds alone.
func TestTheSameRefundAtOnceWithoutTheLock(t *testing.T) {
	t.Parallel()
	s := openShop(t)
	paid := s.sold(gateway.GWA)
	withoutRefundLock(t, s.pool, "payments.refunds") // whose waiting has both in hand at once
	oneIsRefused(t, sameRefundAtOnce(t, s, paid))    // by the intent
	require.Len(t, s.refundsAt(paid), 1)
}

func TestTheSameRefundAtOnceWithoutLockAndIntent(t *testing.T) {
	t.Parallel()
	s := openShop(t)
	paid := s.sold(gateway.GWA)
	_, err := s.pool.Exec(t.Context(), "DROP INDEX payments.intents_one_at_a_time")
	require.NoError(t, err)
	withoutRefundLock(t, s.pool, "payments.refunds")
	sameRefundAtOnce(t, s, paid)
	require.Len(t, s.refundsAt(paid), 2, "paid twice")
}

// withoutRefundLock shadows the lock of a payment's refunds by a function that locks
// nothing, and holds what lies between reading and writing open for a moment.
func withoutRefundLock(t *testing.T, pool *pgxpool.Pool, table string) {
	t.Helper()
	_, err := pool.Exec(t.Context(), `
		CREATE FUNCTION public.pg_advisory_xact_lock(bigint) RETURNS void LANGUAGE sql AS 'SELECT';
		CREATE FUNCTION public.wait() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN PERFORM pg_sleep(0.2); RETURN NEW; END';
		CREATE TRIGGER wait BEFORE INSERT ON `+table+` FOR EACH ROW EXECUTE FUNCTION public.wait()`)
	require.NoError(t, err)
	_, err = pool.Exec(t.Context(),
		`DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET search_path = public, pg_catalog', current_database()); END $$`)
	require.NoError(t, err)
	pool.Reset()
	var open []*pgxpool.Conn // all connections, so that none has to be made while they race
	for range pool.Config().MaxConns {
		conn, err := pool.Acquire(t.Context())
		require.NoError(t, err)
		open = append(open, conn)
	}
	for _, conn := range open {
		conn.Release()
	}
}

func TestARefundAtTheConsoleLowersWhatIsLeft(t *testing.T) {
	t.Parallel()
	eachName(t, func(t *testing.T, s *shop, name gateway.Name) {
		paid := s.sold(name)
		s.atConsole(paid, 3000)
		require.ErrorIs(t, s.refund(paid, 22000), payments.ErrRefundTooMuch)
		require.EqualValues(t, 3000, s.refunded(), "it is recorded, although its webhook never came")
		require.False(t, s.refunds()[0].ByAdmin)
		require.NoError(t, s.refund(paid, 0))
		require.EqualValues(t, 24000, s.refunded())
		require.Len(t, s.refunds(), 2)
	})
}

func TestARefundUnderWayAtGatewayAAloneLowersWhatIsLeft(t *testing.T) {
	t.Parallel()
	for _, denied := range []bool{false, true} {
		s := openShop(t)
		paid := s.sold(gateway.GWA)
		_, err := s.g.Sandbox.GWA.ChangeSettings(func(s *sandboxa.Settings) { s.RefundsInProgress = true })
		require.NoError(t, err)
		s.atConsole(paid, 3000)
		require.ErrorIs(t, s.refund(paid, 22000), payments.ErrRefundTooMuch)
		require.Equal(t, gateway.RefundStatusPending, s.refunds()[0].Status)
		require.EqualValues(t, 3000, s.refunds()[0].Amount)
		require.Zero(t, s.refunded(), "not yet")
		require.ErrorIs(t, s.refund(paid, 22000), payments.ErrRefundTooMuch)
		require.Len(t, s.refunds(), 1, "recorded once")

		_, err = s.g.Sandbox.GWA.EndRefund(paid.Payment.ID, denied)
		require.NoError(t, err)
		require.ErrorIs(t, s.refund(paid, 24001), payments.ErrRefundTooMuch)
		require.Len(t, s.refunds(), 1)
		want, status := money.Cents(3000), gateway.RefundStatusDone
		if denied {
			want, status = 0, gateway.RefundStatusFailed
		}
		require.Equal(t, status, s.refunds()[0].Status)
		require.Equal(t, want, s.refunded())
	}
}

// changedRefunds changes the answers that tell of a new refund.
type changedRefunds struct{ change func(body map[string]any) }

// RoundTrip implements http.RoundTripper.
func (c changedRefunds) RoundTrip(r *http.Request) (*http.Response, error) {
	res, err := http.DefaultTransport.RoundTrip(r)
	if err != nil || r.Method != http.MethodPost || r.URL.Path != "/v1/refunds" {
		return res, err
	}
	defer res.Body.Close()
	document := map[string]any{}
	if err := json.NewDecoder(res.Body).Decode(&document); err != nil {
		return nil, err
	}
	c.change(document)
	body, err := json.Marshal(document)
	res.Body, res.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	return res, err
}

func TestAnAnswerOfAnotherRefundIsNotBooked(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(document map[string]any){
		"id":             func(body map[string]any) { body["id"] = "re_ofsomebodyelse" },
		"payment intent": func(body map[string]any) { body["payment_intent"] = "pi_ofsomebodyelse" },
		"reference":      func(body map[string]any) { body["metadata"] = map[string]any{} },
		"amount":         func(body map[string]any) { body["amount"] = 1 },
		"object":         func(body map[string]any) { body["object"] = "charge" },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := openShopThrough(t, changedRefunds{change})
			s.listen()
			paid := s.sold(gateway.GWB)
			require.ErrorIs(t, s.refund(paid, 2000), gateway.ErrOutcomeUnknown)
			require.Eventually(t, func() bool { return s.refunded() == 2000 }, time.Minute, 20*time.Millisecond,
				"told by its webhook")
			id := s.refundsAt(paid)[0].ID
			require.Eventually(t, func() bool { return s.refunds()[0].GatewayRefundID == id }, time.Minute,
				20*time.Millisecond)
			require.Len(t, s.refunds(), 1)
			require.EqualValues(t, 2000, s.refunded())
		})
	}
}

// unforeseen is a gateway that makes a refund and then fails in a way that nobody
// thought of.
type unforeseen struct{ gateway.Adapter }

// Refund implements gateway.Refunder.
func (g unforeseen) Refund(ctx context.Context, t gateway.RefundTerms) (gateway.RemoteRefund, error) {
	if _, err := g.Adapter.Refund(ctx, t); err != nil {
		return gateway.RemoteRefund{}, err
	}
	return gateway.RemoteRefund{}, errors.New("nobody foresaw this")
}

func TestAnErrorThatNobodyForesawIsNotKnown(t *testing.T) {
	t.Parallel()
	eachName(t, func(t *testing.T, s *shop, name gateway.Name) {
		adapters := s.g.Adapters()
		for i, a := range adapters {
			adapters[i] = unforeseen{a}
		}
		client, err := jobs.New(s.pool, jobs.Options{Log: secrettest.Logger(t)})
		require.NoError(t, err)
		failing := payments.New(payments.Deps{
			Pool: s.pool, Jobs: client, Clock: s.clock, Log: secrettest.Logger(t), Adapters: adapters,
		})
		paid := s.sold(name)
		_, err = failing.RefundPayment(t.Context(), payments.RefundRequest{
			Payment: paid, Amount: 2000, Reason: "A courtesy",
		}, nil)
		require.ErrorIs(t, err, gateway.ErrOutcomeUnknown)
		require.Equal(t, gateway.RefundStatusRequested, s.refunds()[0].Status, "it was made, and may not be made again")
	})
}
