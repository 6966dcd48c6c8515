package main_test

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"marquee/platform/mail"
	"marquee/platform/secret"
	"marquee/testutil/pgtest"
	"marquee/testutil/sandbox"
	"marquee/testutil/sandbox/stage"
	"marquee/testutil/secrettest"
	"marquee/testutil/soak"
)

var addresses atomic.Int32

// The processes of the platform die in these tests; the gateways and the
// database, which belong to the test, do not.
type outside struct {
	t        *testing.T
	binary   string // "" is the tree's own
	database string
	pool     *pgxpool.Pool // see db
	sandbox  *sandbox.Sandbox
	mails    *mail.Catcher
	addr     string
	env      []string
	password string
	gwaKey   string
	gwbKey   string
}

// loopback is an address that the processes which come one after the other share, and
// nobody else on this machine takes meanwhile: all of 127/8 is loopback.
func loopback() string {
	pid := os.Getpid()
	return fmt.Sprintf("127.%d.%d.%d:8080", 1+pid/250%250, pid%250, 1+addresses.Add(1))
}

func newOutside(t *testing.T) *outside {
	t.Helper()
	return newOutsideOn(t, pgtest.URL(t))
}

// newOutsideOn is newOutside on a migrated database.
func newOutsideOn(t *testing.T, database string) *outside {
	t.Helper()
	return newOutsideOf(t, database, "")
}

// newOutsideOf is newOutsideOn with a binary of another version, which the database fits.
func newOutsideOf(t *testing.T, database, binary string) *outside {
	t.Helper()
	o := &outside{
		t: t, binary: binary, database: database, password: secret.Random(12), gwaKey: "$aact_hmlg_" + secret.Random(12),
		gwbKey: "sk_test_" + secret.RandomHex(8),
	}
	o.addr = loopback()
	token, signing := secret.Random(32), "whsec_"+secret.RandomHex(16)
	var err error
	o.sandbox, err = sandbox.Start(sandbox.Options{
		GWAWebhookURL: "http://" + o.addr + "/webhooks/gwa", GWAWebhookToken: token, GWAAPIKey: o.gwaKey,
		GWBWebhookURL: "http://" + o.addr + "/webhooks/gwb", GWBWebhookSecret: signing, GWBSecretKey: o.gwbKey,
		RetryLadder: []time.Duration{
			100 * time.Millisecond, 200 * time.Millisecond, 400 * time.Millisecond, time.Second, time.Second,
			time.Second, 2 * time.Second, 2 * time.Second, 4 * time.Second, 8 * time.Second,
		},
	})
	require.NoError(t, err)
	t.Cleanup(func() { _ = o.sandbox.Close() })
	catcher, err := mail.NewCatcher("127.0.0.1:0", secrettest.Logger(t))
	require.NoError(t, err)
	t.Cleanup(func() { _ = catcher.Close() })
	o.mails = catcher
	o.env = append(os.Environ(),
		"DATABASE_URL="+o.database, "ADDR="+o.addr, "METRICS_ADDR=off", "WORK_METRICS_ADDR=off",
		"DRAIN_DELAY=0", "PUBLIC_URL=http://"+o.addr, "LOG_LEVEL=warn",
		"NO_THROTTLE=true",
		"TOKEN_KEYS=a:"+secret.Random(32), "FILE_KEY="+secret.Random(32), "SMTP_URL="+catcher.URL(),
		"GWA_URL="+o.sandbox.GWAURL(), "GWA_API_KEY="+o.gwaKey, "GWA_WEBHOOK_TOKEN="+token,
		"GWB_URL="+o.sandbox.GWBURL(), "GWB_SECRET_KEY="+o.gwbKey, "GWB_PUBLISHABLE_KEY=pk_test_marquee",
		"GWB_WEBHOOK_SECRET="+signing,
		"RECOVERY_DELAY=100ms", "GATEWAY_CALL_TIME=2s", "DATABASE_MAX_CONNS=6", "DATABASE_WAIT=1m",
		"DATABASE_LOCK_WAIT=1m")
	t.Cleanup(func() {
		if t.Failed() {
			t.Log(secrettest.Dump(o.database, "subscriptions", "payments"))
		}
	})
	o.run("seed")
	o.run("user", "create", "--root", "--username", "root", "--email", "root@example.com", "--password-stdin")
	o.run("user", "create", "--customer", "--username", "ana", "--email", "ana@example.com", "--phone",
		"+5511987654321", "--tax-id", "52998224725", "--password-stdin")
	return o
}

// program is the binary whose commands are run.
func (o *outside) program() string {
	o.t.Helper()
	if o.binary != "" {
		return o.binary
	}
	return build(o.t, "faultpoints")
}

// run runs a command to its end.
func (o *outside) run(args ...string) {
	o.t.Helper()
	c := exec.Command(o.program(), args...)
	c.Env, c.Stdin = o.env, strings.NewReader(o.password+"\n")
	out, err := c.CombinedOutput()
	require.NoError(o.t, err, "%s", out)
}

// process is one process of the platform.
type process struct {
	command *exec.Cmd
	log     *secrettest.Log
	exited  chan struct{}
}

// start starts a command that dies at the fault point, if one is named.
func (o *outside) start(command, faultpoint string) *process {
	o.t.Helper()
	p := &process{
		command: exec.Command(o.program(), command), log: &secrettest.Log{},
		exited: make(chan struct{}),
	}
	p.command.Env = append(o.env, "FAULTPOINT="+faultpoint)
	p.command.Stderr = p.log
	require.NoError(o.t, p.command.Start())
	go func() {
		_ = p.command.Wait()
		close(p.exited)
	}()
	o.t.Cleanup(func() {
		_ = p.command.Process.Signal(syscall.SIGTERM)
		<-p.exited
		secrettest.Text(o.t, "the log", p.log.String())
		if o.t.Failed() {
			o.t.Logf("%s: %s", command, p.log)
		}
	})
	return p
}

// serve starts the API and waits until it answers.
func (o *outside) serve(faultpoint string) *process {
	o.t.Helper()
	p := o.start("serve", faultpoint)
	eventually(o.t, "serve does not answer", func() bool {
		status, _, err := tryCall(http.MethodGet, o.api("/health"), "", nil)
		return err == nil && status == 200
	})
	return p
}

func (o *outside) api(path string) string { return "http://" + o.addr + "/api/v1" + path }

func (o *outside) login() string {
	o.t.Helper()
	return o.loginAs("ana")
}

func (o *outside) loginAs(username string) string {
	o.t.Helper()
	a := expect(o.t, 200, http.MethodPost, o.api("/token"), "", url.Values{
		"username": {username},
		"password": {o.password},
	})
	return a["access_token"].(string)
}

// db is of the database that the processes work on, which a restore puts another in the place of.
func (o *outside) db() *pgxpool.Pool {
	o.t.Helper()
	if o.pool == nil || o.pool.Config().ConnString() != o.database {
		pool, err := pgxpool.New(context.Background(), o.database)
		require.NoError(o.t, err)
		o.t.Cleanup(pool.Close)
		o.pool = pool
	}
	return o.pool
}

// count asks the database.
func (o *outside) count(query string) (n int) {
	o.t.Helper()
	require.NoError(o.t, o.db().QueryRow(context.Background(), query).Scan(&n))
	return n
}

// gateway asks a sandbox's own API.
func (o *outside) gateway(address string) map[string]any {
	o.t.Helper()
	req, err := http.NewRequest(http.MethodGet, address, http.NoBody)
	require.NoError(o.t, err)
	req.Header.Set("Authorization", "Bearer "+o.gwbKey)
	req.Header.Set("access_token", o.gwaKey)
	req.Header.Set("User-Agent", "test")
	res, err := http.DefaultClient.Do(req)
	require.NoError(o.t, err)
	defer res.Body.Close()
	require.Equal(o.t, 200, res.StatusCode)
	var m map[string]any
	require.NoError(o.t, json.NewDecoder(res.Body).Decode(&m))
	return m
}

func (o *outside) listed(address string) []any {
	o.t.Helper()
	return o.gateway(address)["data"].([]any)
}

// way is one of the three ways to pay.
type way struct {
	subscribe func(o *outside, token string) (status int, body []byte, err error)
	calls     func(o *outside) (path string) // of the gateway call that makes the payment
	gateway   func(o *outside) *stage.Stage
	pix       bool                                       // the payer pays a code afterwards
	made      func(o *outside) (subscriptions, paid int) // at the gateway
}

var ways = map[string]way{
	"gwb card": {
		subscribe: func(o *outside, token string) (int, []byte, error) {
			return tryCall(http.MethodPost, o.api("/gwb/subscribe"), token, map[string]any{
				"plan_id": "plus", "payment_method_id": "pm_card_visa",
			})
		},
		calls:   func(*outside) string { return "/v1/subscriptions" },
		gateway: func(o *outside) *stage.Stage { return o.sandbox.GWB.Stage() },
		made: func(o *outside) (int, int) {
			return len(o.listed(o.sandbox.GWBURL() + "/v1/subscriptions?status=active")),
				len(o.listed(o.sandbox.GWBURL() + "/v1/charges"))
		},
	},
	"gwa card": {
		subscribe: func(o *outside, token string) (int, []byte, error) {
			return tryCall(http.MethodPost, o.api("/gwa/subscribe"), token, map[string]any{
				"plan_id": "plus", "credit_card": gatewayACard, "credit_card_holder_info": cardHolder("52998224725"),
			})
		},
		calls:   func(*outside) string { return "/v3/subscriptions" },
		gateway: func(o *outside) *stage.Stage { return o.sandbox.GWA.Stage() },
		made: func(o *outside) (int, int) {
			return len(o.listed(o.sandbox.GWAURL() + "/subscriptions")),
				len(o.listed(o.sandbox.GWAURL() + "/payments?status=CONFIRMED"))
		},
	},
	"gwa pix": {
		subscribe: func(o *outside, token string) (int, []byte, error) {
			return tryCall(http.MethodPost, o.api("/gwa/subscribe/pix"), token, map[string]any{"plan_id": "plus"})
		},
		calls:   func(*outside) string { return "/v3/payments" },
		gateway: func(o *outside) *stage.Stage { return o.sandbox.GWA.Stage() },
		pix:     true,
		made: func(o *outside) (int, int) { // a PIX is no subscription there
			return 1, len(o.listed(o.sandbox.GWAURL() + "/payments?status=RECEIVED"))
		},
	},
}

// steps are those of a subscription: fault points, and the call itself.
var steps = []string{
	"subscribe.after_intent", "during the call", "subscribe.after_call", "subscribe.before_commit",
	"webhook.before_commit", "webhook.applied",
}

// TestKilledAtEachStepSoak kills the process that serves at each step of a
// subscription: of one way to pay a step, in a soak of all. After a restart there is
// exactly one subscription, one charge at the gateway, one row in the ledger, and
// the customer may watch.
func TestKilledAtEachStepSoak(t *testing.T) {
	t.Parallel()
	for i, wayName := range slices.Sorted(maps.Keys(ways)) {
		w := ways[wayName]
		for j, step := range steps {
			// Gateway A needs four checks, a minute, to prove that nothing was made: the first step is another's.
			if !soak.On() && (j+2)%len(ways) != i || !soak.Has(i*len(steps)+j) {
				continue
			}
			t.Run(wayName+" "+step, func(t *testing.T) {
				t.Parallel()
				o := newOutside(t)
				paid := o.dieAt(w, step)
				o.serve("")
				o.start("work", "")
				token := o.login()
				intents := o.count(`SELECT count(*) FROM subscriptions.subscriptions`) // none: an early webhook was faster
				atGateway, _ := w.made(o)                                              // none: the webhook of the payer was faster than the call
				if step == "subscribe.after_intent" || intents == 0 || atGateway == 0 {
					// Nothing was made at the gateway: the intent is dropped, the customer tries again.
					eventually(t, "the lost intent was not closed", func() bool {
						return o.count(`SELECT count(*) FROM subscriptions.subscriptions WHERE status = 'cancelled'`) == intents
					})
					status, raw, err := w.subscribe(o, token)
					require.NoError(t, err)
					require.Equal(t, 201, status, "%s", raw)
				}
				if w.pix && (!paid || intents == 0) {
					o.payPix(token)
				}
				eventually(t, "the subscription did not become active", func() bool {
					return o.count(`SELECT count(*) FROM subscriptions.subscriptions WHERE status = 'active'`) == 1
				})
				eventually(t, "the payment did not reach the ledger", func() bool {
					return o.count(`SELECT count(*) FROM payments.payments`) == 1
				})
				expect(t, 200, http.MethodGet, o.api("/videos"), token, nil)
				ctx, cancel := context.WithTimeout(context.Background(), patience)
				defer cancel()
				require.NoError(t, o.sandbox.Settle(ctx)) // every event has been taken
				subscriptions, charges := w.made(o)
				require.Equal(t, 1, subscriptions, "subscriptions at the gateway")
				require.Equal(t, 1, charges, "charges at the gateway")
				require.Equal(t, 1,
					o.count(`SELECT count(*) FROM subscriptions.subscriptions WHERE status IN ('active', 'pending', 'suspended')`))
				require.Equal(t, 1, o.count(`SELECT count(*) FROM payments.payments`))
				requireInvariants(t, o.database)
			})
		}
	}
}

// dieAt subscribes so that the serving process is killed at the step, and
// reports whether a PIX code has been paid already.
func (o *outside) dieAt(w way, step string) (paid bool) {
	o.t.Helper()
	if step == "during the call" {
		o.dieDuringTheCall(w)
		return false
	}
	p := o.serve(step)
	status, raw, err := w.subscribe(o, o.login())
	if !strings.HasPrefix(step, "webhook.") {
		require.Error(o.t, err, "the process was to die before it answers")
	} else if err == nil { // the webhook may be faster than the answer
		require.Equal(o.t, 201, status, "%s", raw)
		var response struct {
			Info struct{ Pix struct{ Payload string } }
		}
		require.NoError(o.t, json.Unmarshal(raw, &response))
		if paid = w.pix; paid {
			_, err := o.sandbox.GWA.PayPIX(response.Info.Pix.Payload)
			require.NoError(o.t, err)
		}
	}
	<-p.exited
	return paid
}

// payPix pays the code that the platform shows.
func (o *outside) payPix(token string) {
	o.t.Helper()
	var qr struct {
		Pix struct {
			QRCode string `json:"qr_code"`
		} `json:"pix"`
	}
	eventually(o.t, "no PIX code to pay", func() bool {
		status, raw, err := tryCall(http.MethodGet, o.api("/customers/me/pix-qr"), token, nil)
		return err == nil && status == 200 && json.Unmarshal(raw, &qr) == nil && qr.Pix.QRCode != ""
	})
	_, err := o.sandbox.GWA.PayPIX(qr.Pix.QRCode)
	require.NoError(o.t, err)
}

// dieDuringTheCall kills the process after the gateway has acted and before it
// answers.
func (o *outside) dieDuringTheCall(w way) {
	o.t.Helper()
	p := o.serve("")
	token := o.login()
	s := w.gateway(o)
	require.NoError(o.t, s.Faults.Plan(stage.Fault{
		Kind: stage.FaultTimeoutAfter, Method: http.MethodPost, Path: w.calls(o), Times: 1,
	}))
	responded := make(chan error, 1)
	go func() {
		_, _, err := w.subscribe(o, token)
		responded <- err
	}()
	eventually(o.t, "the gateway was not called", func() bool { return len(s.Faults.Planned()) == 0 })
	eventually(o.t, "the gateway did not act", func() bool {
		subscriptions, paid := w.made(o)
		open := len(o.listed(o.sandbox.GWAURL() + "/payments"))
		return paid+open > 0 || (!w.pix && subscriptions > 0)
	})
	require.NoError(o.t, p.command.Process.Kill())
	<-p.exited
	require.Error(o.t, <-responded)
}
