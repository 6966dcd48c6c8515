package gwb_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/stripe/stripe-go/v85"

	"marquee/testutil/sandbox/gwb"
	"marquee/testutil/sandbox/stage"
)

// raw sends a form as another client would.
func (b *bundle) raw(method, path, form, key string) (*http.Response, string) {
	b.t.Helper()
	req, err := http.NewRequestWithContext(b.t.Context(), method, b.url+path, strings.NewReader(form))
	require.NoError(b.t, err)
	req.Header.Set("Authorization", "Bearer "+secretKey)
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	if key != "" {
		req.Header.Set("Idempotency-Key", key)
	}
	resp, err := http.DefaultClient.Do(req)
	require.NoError(b.t, err)
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	require.NoError(b.t, err)
	return resp, string(body)
}

func TestErrorsOfRequests(t *testing.T) {
	t.Parallel()
	b := setup(t)
	_, err := client(b.url, "sk_test_wrong").V1Customers.Create(t.Context(), nil)
	wantError(t, err, 401, "")
	_, err = b.sc.V1Customers.Retrieve(t.Context(), "cus_unknown", nil)
	wantError(t, err, 404, "resource_missing")
	for name, c := range map[string]struct{ method, path, form, want string }{
		"unknown parameter":    {"POST", "/v1/customers", "nmae=x", `"parameter_unknown"`},
		"unknown nested":       {"POST", "/v1/subscriptions", "items[0][prise]=x", `"items[0][prise]"`},
		"missing parameter":    {"POST", "/v1/products", "", `"parameter_missing"`},
		"not a number":         {"POST", "/v1/payment_intents", "amount=x&currency=brl", `"parameter_invalid_integer"`},
		"unknown route":        {"POST", "/v1/nothing", "", "Unrecognized request URL"},
		"unknown method":       {"DELETE", "/v1/charges/ch_1", "", "Unrecognized request URL"},
		"unknown customer":     {"POST", "/v1/subscriptions", "customer=cus_x&items[0][price]=p", `No such customer`},
		"too deep expansion":   {"GET", "/v1/customers/x?expand[]=a.b.c.d.e", "", `"property_expansion_max_depth"`},
		"long metadata":        {"POST", "/v1/customers", "metadata[a]=" + strings.Repeat("x", 501), "500 characters"},
		"unparsable parameter": {"POST", "/v1/customers", "a[b=c", `"parameter_unknown"`},
	} {
		resp, body := b.raw(c.method, c.path, c.form, "")
		require.GreaterOrEqual(t, resp.StatusCode, 400, name)
		require.Less(t, resp.StatusCode, 500, name)
		require.Contains(t, body, c.want, name)
	}
}

func TestFormsWithAndWithoutIndices(t *testing.T) {
	t.Parallel()
	b := setup(t)
	c := b.customer()
	m := b.attach("pm_card_visa", c)
	form := "customer=" + c.ID + "&items[][price]=" + b.price().ID + "&default_payment_method=" + m.ID +
		"&expand[]=latest_invoice.payments&expand[]=customer&metadata[a.b]=1"
	resp, body := b.raw("POST", "/v1/subscriptions", form, "")
	require.Equal(t, 200, resp.StatusCode, body)
	require.Contains(t, body, `"object":"customer"`)
	require.Contains(t, body, `"object":"invoice_payment"`)
	require.Contains(t, body, `"metadata":{"a.b":"1"}`)
}

func TestListsPage(t *testing.T) {
	t.Parallel()
	b := setup(t)
	var made []string
	for range 5 {
		made = append(made, b.customer().ID)
	}
	p := &stripe.CustomerListParams{}
	p.Limit = stripe.Int64(2)
	first := b.sc.V1Customers.List(t.Context(), p)
	require.Equal(t, []string{made[4], made[3]}, []string{first.Data()[0].ID, first.Data()[1].ID})
	require.True(t, first.Meta().HasMore)
	var all []string
	for c, err := range b.sc.V1Customers.List(t.Context(), p).All(t.Context()) {
		require.NoError(t, err)
		all = append(all, c.ID)
	}
	require.Equal(t, []string{made[4], made[3], made[2], made[1], made[0]}, all)
	resp, _ := b.raw("GET", "/v1/customers?limit=101", "", "")
	require.Equal(t, 400, resp.StatusCode)
	_, body := b.raw("GET", "/v1/customers?created[gt]=4102444800", "", "")
	require.Contains(t, body, `"data":[]`)
}

func TestExpansionOfLists(t *testing.T) {
	t.Parallel()
	b := setup(t)
	s := b.subscribe("pm_card_visa")
	p := &stripe.InvoiceListParams{Subscription: &s.ID}
	p.AddExpand("data.payments")
	invoices := b.sc.V1Invoices.List(t.Context(), p).Data()
	require.Len(t, invoices, 1)
	intent := invoices[0].Payments.Data[0].Payment.PaymentIntent.ID
	payments := b.sc.V1InvoicePayments.List(t.Context(), &stripe.InvoicePaymentListParams{
		Payment: &stripe.InvoicePaymentListPaymentParams{Type: stripe.String("payment_intent"), PaymentIntent: &intent},
	}).Data()
	require.Len(t, payments, 1)
	require.Equal(t, invoices[0].ID, payments[0].Invoice.ID)
	_, body := b.raw("GET", "/v1/invoices/"+invoices[0].ID+"?expand[]=number", "", "")
	require.Contains(t, body, "cannot be expanded")
}

func TestIdempotencyReplays(t *testing.T) {
	t.Parallel()
	b := setup(t)
	one, first := b.raw("POST", "/v1/customers", "name=Ana", "k1")
	two, second := b.raw("POST", "/v1/customers", "name=Ana", "k1")
	require.Equal(t, first, second)
	require.Empty(t, one.Header.Get("Idempotent-Replayed"))
	require.Equal(t, "true", two.Header.Get("Idempotent-Replayed"))
	other, body := b.raw("POST", "/v1/customers", "name=Eva", "k1")
	require.Equal(t, 400, other.StatusCode)
	require.Contains(t, body, "idempotency_error")
	// An answer of validation is not kept: the corrected request may use the key.
	refused, _ := b.raw("POST", "/v1/customers", "nmae=Ana", "k2")
	require.Equal(t, 400, refused.StatusCode)
	corrected, _ := b.raw("POST", "/v1/customers", "name=Ana", "k2")
	require.Equal(t, 200, corrected.StatusCode)
	// A decline is kept.
	p, err := b.buy("pm_card_visa", nil)
	require.NoError(t, err)
	form := "amount=1000&currency=brl&confirm=true&payment_method=pm_card_chargeCustomerFail"
	declined, _ := b.raw("POST", "/v1/payment_intents", form, "k3")
	again, _ := b.raw("POST", "/v1/payment_intents", form, "k3")
	require.Equal(t, []int{402, 402}, []int{declined.StatusCode, again.StatusCode})
	require.Equal(t, "true", again.Header.Get("Idempotent-Replayed"))
	require.NotEmpty(t, p.ID)
	// After 24 h the key is free.
	b.advance(25 * time.Hour)
	fresh, third := b.raw("POST", "/v1/customers", "name=Ana", "k1")
	require.Empty(t, fresh.Header.Get("Idempotent-Replayed"))
	require.NotEqual(t, first, third)
}

func TestStored500IsReplayedAndItsEffectStays(t *testing.T) {
	t.Parallel()
	b := setup(t)
	require.NoError(t, b.g.Stage().Faults.Plan(stage.Fault{
		Method: "POST", Path: "/v1/customers", Kind: stage.FaultStatusAfter,
	}))
	broken, _ := b.raw("POST", "/v1/customers", "name=Ana", "k")
	again, body := b.raw("POST", "/v1/customers", "name=Ana", "k")
	require.Equal(t, []int{500, 500}, []int{broken.StatusCode, again.StatusCode})
	require.Contains(t, body, "api_error")
	require.Equal(t, "true", again.Header.Get("Idempotent-Replayed"))
	require.Len(t, b.sc.V1Customers.List(t.Context(), nil).Data(), 1)
	// A 429 comes before the call begins, so nothing is kept.
	require.NoError(t, b.g.Stage().Faults.Plan(stage.Fault{Kind: stage.FaultStatus, Status: 429}))
	limited, _ := b.raw("POST", "/v1/customers", "name=Ana", "k4")
	after, _ := b.raw("POST", "/v1/customers", "name=Ana", "k4")
	require.Equal(t, []int{429, 200}, []int{limited.StatusCode, after.StatusCode})
}

// TestStatusAfterKeepsTheKey: whatever is answered after the effect, a repeat with the key is answered as the first
// and has no second effect; a proxy's page is not the gateway's answer, so the repeat learns of the effect. Of what
// had no effect no key is kept.
func TestStatusAfterKeepsTheKey(t *testing.T) {
	t.Parallel()
	b := setup(t)
	made := 0
	for status, page := range map[int]string{
		500: "", 503: "", 429: "", 409: "", 404: "", 402: `{"error":{"type":"card_error"}}`,
		502: "<html>Bad Gateway</html>", 408: "late",
	} {
		key := fmt.Sprint("k", status)
		require.NoError(t, b.g.Stage().Faults.Plan(stage.Fault{
			Method: "POST", Path: "/v1/customers", Kind: stage.FaultStatusAfter, Status: status, Body: page,
		}))
		first, second := b.raw("POST", "/v1/customers", "name=Ana", key)
		require.Equal(t, status, first.StatusCode)
		again, body := b.raw("POST", "/v1/customers", "name=Ana", key)
		require.Equal(t, "true", again.Header.Get("Idempotent-Replayed"), status)
		if status == 502 || status == 408 {
			require.Equal(t, 200, again.StatusCode)
			require.Contains(t, body, `"id":"cus_`)
		} else {
			require.Equal(t, []any{status, second}, []any{again.StatusCode, body})
		}
		made++
		require.Len(t, b.sc.V1Customers.List(t.Context(),
			&stripe.CustomerListParams{ListParams: stripe.ListParams{Limit: stripe.Int64(100)}}).Data(), made, status)
		other, _ := b.raw("POST", "/v1/customers", "name=Bia", key)
		require.Equal(t, 400, other.StatusCode, "the key is taken for what was asked")
	}
	require.NoError(t, b.g.Stage().Faults.Plan(stage.Fault{
		Method: "POST", Path: "/v1/customers", Kind: stage.FaultStatusAfter, Status: 429,
	}))
	_, _ = b.raw("POST", "/v1/customers", "unknown=1", "wrong")
	wrong, _ := b.raw("POST", "/v1/customers", "unknown=1", "wrong")
	require.Empty(t, wrong.Header.Get("Idempotent-Replayed"))
}

// TestRunningKeyIsRefused sends two calls at once, of which one is held; without a key both take effect. With a key the
// other may come before the one that is held, or after it: then it is answered.
func TestRunningKeyIsRefused(t *testing.T) {
	t.Parallel()
	var refused bool
	for try := 0; !refused && try < 10; try++ {
		statuses, made := twoAtOnce(t, "k")
		require.Equal(t, 1, made)
		require.Contains(t, statuses, 200)
		refused = slices.Contains(statuses, 409)
	}
	require.True(t, refused)
	statuses, made := twoAtOnce(t, "")
	require.Equal(t, []int{200, 200}, statuses)
	require.Equal(t, 2, made)
}

func twoAtOnce(t *testing.T, key string) (got []int, made int) {
	t.Helper()
	b := setup(t)
	require.NoError(t, b.g.Stage().Faults.Plan(stage.Fault{
		Kind: stage.FaultDelay, Delay: stage.Duration(300 * time.Millisecond),
	}))
	statuses := make(chan int, 2)
	var wg sync.WaitGroup
	for range 2 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			resp, _ := b.raw("POST", "/v1/customers", "name=Ana", key)
			statuses <- resp.StatusCode
		}()
	}
	wg.Wait()
	return []int{<-statuses, <-statuses}, len(b.sc.V1Customers.List(t.Context(), nil).Data())
}

func TestTimeoutAfterTheEffectIsCuredByTheKey(t *testing.T) {
	t.Parallel()
	b := setup(t)
	require.NoError(t, b.g.Stage().Faults.Plan(stage.Fault{
		Method: "POST", Path: "/v1/customers", Kind: stage.FaultTimeoutAfter,
	}))
	ctx, hangUp := context.WithCancel(t.Context())
	defer hangUp()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, b.url+"/v1/customers", strings.NewReader("name=Ana"))
	require.NoError(t, err)
	req.Header.Set("Authorization", "Bearer "+secretKey)
	req.Header.Set("Idempotency-Key", "k")
	ended := make(chan error, 1)
	go func() {
		resp, err := http.DefaultClient.Do(req)
		if err == nil {
			resp.Body.Close()
		}
		ended <- err
	}()
	require.Eventually(t, func() bool { return slices.Contains(b.types(), "customer.created") }, time.Minute,
		time.Millisecond, "the event does not wait for an answer that never comes")
	hangUp()
	require.ErrorIs(t, <-ended, context.Canceled)
	again, _ := b.raw("POST", "/v1/customers", "name=Ana", "k")
	require.Equal(t, "true", again.Header.Get("Idempotent-Replayed"))
	require.Len(t, b.sc.V1Customers.List(t.Context(), nil).Data(), 1)
}

func TestClientRetriesResetsAndProxyPages(t *testing.T) {
	t.Parallel()
	for _, kind := range []stage.FaultKind{stage.FaultResetBefore, stage.FaultResetAfter, stage.FaultBadGateway} {
		b := setup(t)
		require.NoError(t, b.g.Stage().Faults.Plan(stage.Fault{Method: "POST", Kind: kind}))
		_, err := b.sc.V1Customers.Create(t.Context(), nil)
		require.NoError(t, err, kind)
		require.Len(t, b.sc.V1Customers.List(t.Context(), nil).Data(), 1, "one effect with %s", kind)
	}
}

func TestStateSurvivesARestart(t *testing.T) {
	t.Parallel()
	file := t.TempDir() + "/gwb.json"
	open := func(hook string) (*gwb.Gateway, *stripe.Client) {
		g, err := gwb.New(gwb.Options{StateFile: file, WebhookURL: hook, WebhookSecret: webhookSecret})
		require.NoError(t, err)
		server := newServer(t, g)
		return g, client(server, secretKey)
	}
	g, sc := open("")
	one := &bundle{t: t, g: g, sc: sc, events: &receiver{t: t}}
	s := one.subscribe("pm_card_visa")
	p := one.pix("fill_never@example.com")
	_, err := g.Stage().Clock.Advance(time.Hour)
	require.NoError(t, err)
	waiting := g.Stage().Webhooks.Status().Waiting
	require.NotZero(t, waiting)
	require.NoError(t, g.Close())

	events := &receiver{t: t}
	g, sc = open(newServer(t, events))
	two := &bundle{t: t, g: g, sc: sc, events: events}
	require.Len(t, two.types(), waiting, "waiting events are sent after the restart")
	require.Equal(t, stripe.SubscriptionStatusActive, two.subscription(s.ID).Status)
	require.WithinDuration(t, time.Now().Add(time.Hour), g.Stage().Clock.Now(), time.Minute)
	two.advance(32 * day)
	require.Len(t, sc.V1Invoices.List(t.Context(), &stripe.InvoiceListParams{Subscription: &s.ID}).Data(), 2,
		"the renewal was planned before")
	got, err := sc.V1PaymentIntents.Retrieve(t.Context(), p.ID, nil)
	require.NoError(t, err)
	require.Equal(t, stripe.PaymentIntentStatusRequiresPaymentMethod, got.Status)
	require.NoError(t, g.Close())
}

// TestStateOfVersion1IsRead: a file that an older marquee dev left, one document, is read whole and written in the
// present form.
func TestStateOfVersion1IsRead(t *testing.T) {
	t.Parallel()
	old, err := os.ReadFile("testdata/state_version_1.json")
	require.NoError(t, err)
	file := filepath.Join(t.TempDir(), "gwb.json")
	require.NoError(t, os.WriteFile(file, old, 0o600))
	for n := range 2 {
		b := setupWith(t, gwb.Options{StateFile: file})
		if n == 0 {
			require.Len(t, b.types(), 3, "what waited is sent")
		}
		subs := b.sc.V1Subscriptions.List(t.Context(), &stripe.SubscriptionListParams{}).Data()
		require.Len(t, subs, 1)
		require.Equal(t, stripe.SubscriptionStatusActive, subs[0].Status)
		b.advance(32 * day)
		require.Contains(t, b.types(), "invoice.paid", "the renewal was planned before")
		require.NoError(t, b.g.Close())
		raw, err := os.ReadFile(file)
		require.NoError(t, err)
		require.Contains(t, string(raw[:40]), `{"version":2,"sandbox":"gwb"}`)
	}
}
