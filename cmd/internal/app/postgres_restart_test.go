package app_test

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"marquee/cmd/internal/app"
	"marquee/cmd/internal/app/platformtest"
	"marquee/migrations/schema"
	"marquee/modules/accounts/accountstest"
	"marquee/modules/payments/paymentstest"
	"marquee/modules/subscriptions/subscriptionstest"
	"marquee/testutil/localpg"
	"marquee/testutil/pgtest"
	"marquee/testutil/soak"
)

const (
	webhooksPerSecond = 200
	webhookSenders    = 8
	// payersEach is how many subscriptions of each gateway the events are about.
	payersEach = 4
)

// TestPostgresRestartsUnderWebhooksSoak stops and kills the database while both
// gateways send events. One that was answered 200 stands in the log and has had
// its effect, once; also when the gateway sends it again, be it for want of an
// answer or although it got one. The others may have had theirs, once.
func TestPostgresRestartsUnderWebhooksSoak(t *testing.T) {
	t.Parallel()
	p := newMortalPostgres(t)
	s := newStorm(t, p.url())
	for _, resends := range []bool{true, false} {
		if !resends && !soak.On() {
			break
		}
		for range soak.Rounds(1, 10) {
			done := s.send(resends, time.Duration(soak.Rounds(1000, 5000))*time.Millisecond)
			for _, end := range []func(){p.stop, p.kill} {
				time.Sleep(time.Duration(soak.Rounds(250, 1500)) * time.Millisecond) // the senders work meanwhile
				end()
				p.start()
			}
			<-done
			s.requireEffects(resends)
		}
	}
}

// mortalPostgres is a server of the test's own that can die. A commit has left the
// server's memory before it is confirmed, as in production; that it has reached the
// disk, too, would only matter if the machine died.
type mortalPostgres struct {
	t      *testing.T
	dir    string
	server *localpg.Server
	port   int
	addr   string
}

func newMortalPostgres(t *testing.T) *mortalPostgres {
	t.Helper()
	dir, err := os.MkdirTemp("", "restart")
	require.NoError(t, err)
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	require.NoError(t, os.Chmod(dir, 0o755)) //nolint:gosec // the server's account has to get there
	p := &mortalPostgres{t: t, dir: dir}
	p.start()
	t.Cleanup(p.stop)
	p.port = p.server.Port()
	p.addr, err = p.server.EnsureDatabase(t.Context(), "marquee")
	require.NoError(t, err)
	_, err = schema.Up(t.Context(), p.addr)
	require.NoError(t, err)
	return p
}

func (p *mortalPostgres) url() string { return p.addr }

// start starts the server, each time on the port of the first.
func (p *mortalPostgres) start() {
	settings := map[string]string{"fsync": "off", "shared_buffers": "32MB", "autovacuum": "off"}
	if p.port != 0 {
		settings["port"] = strconv.Itoa(p.port)
	}
	var err error
	p.server, err = localpg.Start(context.Background(), localpg.Options{DataDir: p.dir, Settings: settings})
	require.NoError(p.t, err)
}

// stop is a fast shutdown: sessions are cut off, commits under way are finished.
func (p *mortalPostgres) stop() {
	require.NoError(p.t, p.server.Stop(context.Background()))
}

// kill is kill -9 of the server: the next start replays its log.
func (p *mortalPostgres) kill() {
	found, err := filepath.Glob(filepath.Join(p.dir, "*", "postmaster.pid"))
	require.NoError(p.t, err)
	require.Len(p.t, found, 1)
	raw, err := os.ReadFile(found[0])
	require.NoError(p.t, err)
	pid, err := strconv.Atoi(strings.SplitN(string(raw), "\n", 2)[0])
	require.NoError(p.t, err)
	require.NoError(p.t, syscall.Kill(pid, syscall.SIGKILL))
	<-p.server.Done()
	p.stop() // gives up the data; there is nothing to shut down any more
}

// storm is both gateways sending events about renewals, each a payment of its own.
type storm struct {
	t            *testing.T
	pool         *pgxpool.Pool
	url          string
	sampleA      []byte
	sampleB      []byte
	payers       []payer
	sent         int
	mu           sync.Mutex
	acknowledged map[string]bool // payment, and whether an event of it was answered 200
	doubled      int
}

type payer struct{ id, remote string }

func newStorm(t *testing.T, database string) *storm {
	t.Helper()
	p := platformtest.New(t, func(c *app.Config) { c.Database.URL = database })
	p.Work()
	s := &storm{t: t, pool: p.DB, url: p.Guest.URL(), acknowledged: map[string]bool{}}
	for name, into := range map[string]*[]byte{
		"gwa.PAYMENT_CONFIRMED.card-subscription": &s.sampleA, "gwb.invoice.paid.renewal.dahlia": &s.sampleB,
	} {
		var err error
		*into, err = os.ReadFile(filepath.Join("../../../modules/payments/testdata/webhooks", name+".json"))
		require.NoError(t, err)
	}
	for n := range 2 * payersEach {
		id := subscriptionstest.Active(t, p.DB, accountstest.Customer(t, p.DB).ID)
		one := payer{id: id.String(), remote: "sub_" + id.String()}
		if n%2 == 0 {
			p.Exec(`UPDATE subscriptions.subscriptions SET gateway = 'gwa', gwa_subscription_id = gwb_subscription_id, gwb_subscription_id = NULL WHERE id = $1`, id)
		}
		s.payers = append(s.payers, one)
	}
	return s
}

// event is one renewal: its payment, and how its gateway tells of it.
type event struct {
	gateway, payment string
	body             []byte
}

func (s *storm) event(n int) event {
	p := s.payers[n%len(s.payers)]
	if n%2 == 0 {
		// Each is charged for a day of its own: a second one for a day would be a duplicate, which counts for nothing.
		due := time.Date(2026, time.November, 20, 0, 0, 0, 0, time.UTC).AddDate(0, 0, -n).Format(time.DateOnly)
		e := event{gateway: "gwa", payment: fmt.Sprintf("pay_%012d", n)}
		e.body = replaced(s.sampleA, "evt_15e444ff9b9ab9ec29294aa1abe68025&41870213", fmt.Sprintf("evt_%032x&%d", n, n),
			"pay_a1b2c3d4e5f6g7h8", e.payment, "sub_k3v9x1m7q2t8w4z6", p.remote, "66f0a1b2c3d4e5f607182a01", p.id,
			`ueDate": "2026-11-20"`, `ueDate": "`+due+`"`)
		return e
	}
	e := event{gateway: "gwb", payment: fmt.Sprintf("in_%012d", n)}
	e.body = replaced(s.sampleB, "evt_1SVaC07LkdIwHu7ixEv000007", fmt.Sprintf("evt_b%d", n),
		"in_1Sg5ZzLkdIwHu7ixAsDfGhJk", e.payment, "sub_1SVaBcLkdIwHu7ix0aBcDeFg", p.remote, "66f0a1b2c3d4e5f607182c01",
		p.id)
	return e
}

func replaced(sample []byte, pairs ...string) []byte {
	return []byte(strings.NewReplacer(pairs...).Replace(string(sample)))
}

// send sends events for some time; done is closed when the last is over.
func (s *storm) send(resends bool, span time.Duration) (done <-chan struct{}) {
	total := int(span * webhooksPerSecond / time.Second)
	queue := make(chan event)
	var senders sync.WaitGroup
	for range webhookSenders {
		senders.Go(func() {
			for e := range queue {
				s.deliver(e, resends)
			}
		})
	}
	over := make(chan struct{})
	go func() {
		defer close(over)
		tick := time.NewTicker(time.Second / webhooksPerSecond)
		defer tick.Stop()
		for range total {
			<-tick.C
			queue <- s.event(s.sent)
			s.sent++
		}
		close(queue)
		senders.Wait()
	}()
	return over
}

// deliver posts an event: once, or as gateways do, until it is answered 200, and
// then at times once more.
func (s *storm) deliver(e event, resends bool) {
	s.mu.Lock()
	s.acknowledged[e.payment] = false
	s.mu.Unlock()
	limit := time.Now().Add(time.Minute)
	for time.Now().Before(limit) {
		ok := s.post(e)
		if ok {
			s.mu.Lock()
			again := resends && s.acknowledged[e.payment] == false && len(s.acknowledged)%10 == 0
			s.acknowledged[e.payment] = true
			if again {
				s.doubled++
			}
			s.mu.Unlock()
			if again {
				s.post(e)
			}
			return
		}
		if !resends {
			return
		}
		time.Sleep(50 * time.Millisecond) // a gateway waits longer
	}
	s.t.Errorf("%s was not taken within a minute", e.payment)
}

func (s *storm) post(e event) bool {
	r, err := http.NewRequestWithContext(context.Background(), http.MethodPost, s.url+"/webhooks/"+e.gateway,
		bytes.NewReader(e.body))
	if err != nil {
		s.t.Error(err)
		return false
	}
	r.Header.Set("Content-Type", "application/json")
	if e.gateway == "gwa" {
		r.Header.Set("Asaas-Access-Token", paymentstest.GWAToken)
	} else {
		at := time.Now().Unix()
		mac := hmac.New(sha256.New, []byte(paymentstest.GWBSecret))
		fmt.Fprintf(mac, "%d.%s", at, e.body)
		r.Header.Set("Stripe-Signature", fmt.Sprintf("t=%d,v1=%s", at, hex.EncodeToString(mac.Sum(nil))))
	}
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		s.t.Errorf("the platform itself has to answer: %v", err)
		return false
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK && res.StatusCode != http.StatusServiceUnavailable {
		s.t.Errorf("%s was answered %d", e.payment, res.StatusCode)
	}
	return res.StatusCode == http.StatusOK
}

// requireEffects compares what was answered with what is there.
func (s *storm) requireEffects(resends bool) {
	s.t.Helper()
	require.Eventually(s.t, func() bool {
		return s.count(`SELECT count(*) FROM payments.processed_events WHERE state <> 'done'`) == 0
	},
		time.Minute, 50*time.Millisecond, "events that were queued are applied by job")
	ledger := s.counts(`SELECT gateway_payment_id, count(*) FROM payments.payments GROUP BY 1`)
	logged := s.counts(`SELECT coalesce(payload->'payment'->>'id', payload->'data'->'object'->>'id'), count(*) FROM payments.webhook_logs WHERE processed GROUP BY 1`)
	lost := 0
	for payment, ok := range s.acknowledged {
		if ok {
			require.Equal(s.t, 1, ledger[payment], "payments of %s", payment)
			require.Positive(s.t, logged[payment], "logs of %s", payment)
			continue
		}
		lost++
		require.False(s.t, resends, "%s was never answered 200", payment)
		require.LessOrEqual(s.t, ledger[payment], 1, "payments of %s", payment)
	}
	require.Len(s.t, ledger, s.count(`SELECT count(*) FROM payments.processed_events`), "one effect an event")
	moved := s.count(`SELECT count(*) FROM subscriptions.transitions`)
	require.Len(s.t, s.payers, moved, "nothing but payments has happened to the subscriptions")
	pgtest.RequireInvariants(s.t, s.pool, time.Now())
	s.t.Logf("%d events, %d of them never answered 200, %d answered and sent again", s.sent, lost, s.doubled)
}

func (s *storm) count(query string) (n int) {
	// The pool may still hold connections of a server that has died.
	if err := s.pool.QueryRow(s.t.Context(), query).Scan(&n); err != nil {
		return -1
	}
	return n
}

func (s *storm) counts(query string) map[string]int {
	s.t.Helper()
	rows, err := s.pool.Query(s.t.Context(), query)
	require.NoError(s.t, err)
	all := map[string]int{}
	var name string
	var n int
	_, err = pgx.ForEachRow(rows, []any{&name, &n}, func() error {
		all[name] = n
		return nil
	})
	require.NoError(s.t, err)
	return all
}
