package main_test

import (
	"bytes"
	"encoding/json"
	"net"
	"net/http"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"marquee/platform/secret"
	"marquee/testutil/collector"
	"marquee/testutil/secrettest"
)

// The trace that a proxy has begun, and its span.
const (
	proxysTrace = "4bf92f3577b34da6a3ce929d0e0e4736"
	proxysSpan  = "00f067aa0ba902b7"
)

// bought is the span of a guest's purchase.
const bought = "POST /api/v1/store/purchase/checkout/gwb/card"

// purchase is a guest's, who gives an address, a name and a tax id.
func (o *outside) purchase(event string) (order map[string]any) {
	o.t.Helper()
	body, err := json.Marshal(map[string]any{
		"event_id": event, "quantity": 2, "payment_method_id": "pm_card_visa",
		"buyer": map[string]any{"full_name": "Cine Clube Ltda", "email": "clube@example.com", "tax_id": "12ABC34501DE35"},
	})
	require.NoError(o.t, err)
	r, err := http.NewRequest(http.MethodPost, o.api("/store/purchase/checkout/gwb/card"), bytes.NewReader(body))
	require.NoError(o.t, err)
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Traceparent", "00-"+proxysTrace+"-"+proxysSpan+"-01")
	r.Header.Set("Tracestate", "vendor=of-the-proxy")
	r.Header.Set("Baggage", "user=of-the-proxy")
	res, err := http.DefaultClient.Do(r)
	require.NoError(o.t, err)
	defer res.Body.Close()
	require.Equal(o.t, 200, res.StatusCode)
	var answer struct{ Order map[string]any }
	require.NoError(o.t, json.NewDecoder(res.Body).Decode(&answer))
	return answer.Order
}

// event is one that is sold.
func (o *outside) event() string {
	o.t.Helper()
	made := expect(o.t, 200, http.MethodPost, o.api("/events"), o.loginAs("root"), []map[string]any{{
		"title": "Noite de Estreia", "event_date": "2099-04-20T22:00:00Z", "location": "Cine Ipiranga", "capacity": 400,
		"ticket_value": 60, "is_sale_box_office": true,
	}})
	return made["docs"].([]any)[0].(map[string]any)["_id"].(string)
}

// named is the one span of that name; false where it is not delivered yet.
func named(spans []collector.Span, name string) (collector.Span, bool) {
	i := slices.IndexFunc(spans, func(s collector.Span) bool { // of what is sent together the span names each
		return slices.Contains(strings.Split(s.Name, ", "), name)
	})
	if i < 0 {
		return collector.Span{}, false
	}
	return spans[i], true
}

// TestOnePurchaseIsOneTrace: the request, its statements, what the gateway was called for, and the jobs that another
// process works, each below what it was done for. Nothing of anybody is in it.
func TestOnePurchaseIsOneTrace(t *testing.T) {
	t.Parallel()
	o, to, key := newOutside(t), collector.Start(t), secret.Random(24)
	secrettest.Of(t).Add("the collector's key", key)
	o.env = append(o.env, "TRACES_URL="+to.URL, "TRACES_HEADERS=x-key="+key, "TRUSTED_PROXIES=127.0.0.0/8", "LOG_LEVEL=info",
		"OTEL_RESOURCE_ATTRIBUTES=deployment.environment.name=of-the-operator,service.name=of-nobody")
	serving := o.serve("")
	o.start("work", "")
	event := o.event()
	// An event that overtakes the answer settles the order, and what follows from that is in the event's trace.
	o.sandbox.GWB.Stage().Webhooks.Hold()
	order := o.purchase(event)
	o.sandbox.GWB.Stage().Webhooks.Release()
	card := expect(t, 201, http.MethodPost, o.api("/gwa/subscribe"), o.login(), map[string]any{
		"plan_id": "plus", "credit_card": gatewayACard, "credit_card_holder_info": cardHolder("52998224725"),
	})
	require.NotEmpty(t, card["docs"])
	eventually(t, "the purchase, its jobs or its event is in no span", func() bool {
		spans := to.Spans() // of a process those that are within another come before it
		for _, name := range []string{bought, "job tickets_mail", "job accounts_send_code"} {
			if _, ok := named(spans, name); !ok {
				return false
			}
		}
		return slices.ContainsFunc(spans, func(s collector.Span) bool {
			return s.Name == "POST /webhooks/gwb" && s.Attributes["webhook.event_type"] == "payment_intent.succeeded" &&
				s.Attributes["webhook.result"] == "processed"
		})
	})
	purchase := slices.DeleteFunc(to.Spans(), func(s collector.Span) bool { return s.Trace != proxysTrace })
	requireOneTrace(t, purchase)

	require.Contains(t, serving.log.String(), `"route":"/api/v1/store/purchase/checkout/gwb/card"`)
	for line := range strings.Lines(serving.log.String()) {
		require.Equal(t, strings.Contains(line, "/checkout/gwb/card"), strings.Contains(line, `"trace_id":"`+proxysTrace+`"`), line)
	}
	require.Equal(t, key, to.Header().Get("X-Key"))
	var metadata string
	require.NoError(t, o.db().QueryRow(t.Context(),
		"SELECT (metadata - 'traceparent')::text FROM jobs.river_job WHERE kind = 'tickets_mail'").Scan(&metadata))
	require.Equal(t, "{}", metadata, "a job is given the trace alone")

	require.NoError(t, serving.command.Process.Signal(syscall.SIGTERM)) // which delivers what is left
	<-serving.exited
	text := to.Text()
	require.Contains(t, text, "of-the-operator")
	secrettest.Text(t, "the spans", text) // passwords, tokens and cards that went through
	for _, personal := range []string{
		"clube", "12ABC34501DE35", "52998224725", "ana@", "ANA SOUZA", "01310100", "11987654321", "Estreia", "pm_card", "pi_",
		"cus_", "sub_", o.gwaKey, o.gwbKey, o.password, key, event, order["_id"].(string), "of-the-proxy", "of-nobody", "$1", "WHERE",
	} {
		require.NotContains(t, text, personal)
	}
}

// requireOneTrace: the spans of the purchase hang together.
func requireOneTrace(t *testing.T, spans []collector.Span) {
	t.Helper()
	byID := map[string]collector.Span{}
	for _, s := range spans {
		byID[s.ID] = s
	}
	root, _ := named(spans, bought)
	require.Equal(t, proxysSpan, root.Parent)
	require.Equal(t, "200", root.Attributes["http.response.status_code"])
	for _, s := range spans {
		if s.ID == root.ID {
			continue
		}
		parent, ok := byID[s.Parent]
		require.True(t, ok, "%s is below what was not delivered", s.Name)
		require.False(t, s.Start.Before(parent.Start), "%s begins before %s", s.Name, parent.Name)
	}
	for name, want := range map[string]struct{ service, parent string }{
		bought:                         {"marquee-serve", ""},
		"OrderReserve":                 {"marquee-serve", bought},
		"gwb POST /v1/payment_intents": {"marquee-serve", bought},
		"PaymentInsertNew":             {"marquee-serve", bought},
		"job tickets_mail":             {"marquee-work", bought},
		"EventGet":                     {"marquee-serve", bought}, // and once more in the job
		"OrderGet":                     {"marquee-work", "job tickets_mail"},
		"job accounts_send_code":       {"marquee-work", bought},
		"CodeGetForMail":               {"marquee-work", "job accounts_send_code"},
	} {
		s, ok := named(spans, name)
		require.True(t, ok, "no span %q", name)
		require.Equal(t, want.service, s.Service, name)
		require.Equal(t, want.parent, byID[s.Parent].Name, name)
	}
	for _, s := range spans {
		if s.Name == "send mail" {
			require.Contains(t, []string{"job tickets_mail", "job accounts_send_code"}, byID[s.Parent].Name)
		}
	}
}

// TestTracesAreOffUnlessTheyAreConfigured: then nothing runs for them, and whatever a caller says of a trace is nowhere.
func TestTracesAreOffUnlessTheyAreConfigured(t *testing.T) {
	t.Parallel()
	o, inside := newOutside(t), loopback()
	o.env = append(o.env, "METRICS_ADDR="+inside, "TRUSTED_PROXIES=127.0.0.0/8", "LOG_LEVEL=info")
	runs := func() bool {
		_, stacks := call(t, http.MethodGet, "http://"+inside+"/debug/pprof/goroutine?debug=2", "", nil)
		require.Contains(t, string(stacks), "net/http.(*Server).Serve")
		return strings.Contains(string(stacks), "opentelemetry")
	}
	off := o.serve("")
	o.purchase(o.event())
	require.False(t, runs())
	require.Zero(t, o.count("SELECT count(*) FROM jobs.river_job WHERE metadata::text LIKE '%trace%'"))
	require.NoError(t, off.command.Process.Signal(syscall.SIGTERM))
	<-off.exited
	require.NotContains(t, off.log.String(), "trace")

	o.env = append(o.env, "TRACES_URL="+collector.Start(t).URL)
	o.serve("")
	require.True(t, runs())
}

// TestAProcessDoesNotWaitForItsCollector: one that hangs costs no request anything, and a process that ends little.
func TestAProcessDoesNotWaitForItsCollector(t *testing.T) {
	t.Parallel()
	hanging, err := net.Listen("tcp", "127.0.0.1:0") // which accepts, and says nothing
	require.NoError(t, err)
	t.Cleanup(func() { _ = hanging.Close() })
	o := newOutside(t)
	o.env = append(o.env, "TRACES_URL=http://"+hanging.Addr().String())
	serving, working := o.serve(""), o.start("work", "")
	o.purchase(o.event())
	for _, p := range []*process{serving, working} {
		begun := time.Now()
		require.NoError(t, p.command.Process.Signal(syscall.SIGTERM))
		<-p.exited
		require.True(t, p.command.ProcessState.Success(), "%s", p.log)
		require.Less(t, time.Since(begun), 20*time.Second, "it waits two seconds for the collector")
	}
}
