package app_test

import (
	"maps"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"time"

	dto "github.com/prometheus/client_model/go"
	"github.com/stretchr/testify/require"

	"marquee/cmd/internal/app/platformtest"
	"marquee/modules/payments/paymentstest"
	"marquee/modules/subscriptions/subscriptionstest"
)

// series are the values of all figures by name and labels, as {a="b"}; of a histogram how often it was observed.
func series(t *testing.T, p *platformtest.Platform) map[string]float64 {
	t.Helper()
	families, err := p.Metrics().Gather()
	require.NoError(t, err)
	all := map[string]float64{}
	for _, f := range families {
		for _, m := range f.GetMetric() {
			var labels []string
			for _, l := range m.GetLabel() {
				labels = append(labels, l.GetName()+"="+strconv.Quote(l.GetValue()))
			}
			name := f.GetName() + "{" + strings.Join(labels, ",") + "}"
			switch f.GetType() {
			case dto.MetricType_HISTOGRAM:
				all[name] = float64(m.GetHistogram().GetSampleCount())
			case dto.MetricType_COUNTER:
				all[name] = m.GetCounter().GetValue()
			default:
				all[name] = m.GetGauge().GetValue()
			}
		}
	}
	return all
}

// TestMetricsTellOfMoneyJobsAndMails: what a customer does can be seen, whoever of the processes did it.
func TestMetricsTellOfMoneyJobsAndMails(t *testing.T) {
	t.Parallel()
	p := platformtest.WithGateways(t)
	subscriptionstest.Plan(t, p.DB, subscriptionstest.PlanID, 4990)
	event := p.Make(p.Admin(), "/events", platformtest.Object{
		"title": "Premiere", "event_date": "2099-01-01T20:00:00.000Z", "capacity": 10, "is_sale_box_office": true,
		"ticket_value": 20,
	})
	p.Work()
	_, client := p.NewCustomer()
	client.Post("/gwb/subscribe", platformtest.Object{
		"plan_id": subscriptionstest.PlanID, "payment_method_id": paymentstest.TokenApproved,
	}).Expect(201)
	client.Post("/store/purchase/gwb/card", platformtest.Object{
		"event_id": event["_id"], "quantity": 2, "payment_method_id": paymentstest.TokenApproved,
	}).Expect(200)
	refused, err := http.Post(p.Guest.URL()+"/webhooks/gwb", "application/json", strings.NewReader("{}"))
	require.NoError(t, err)
	require.NoError(t, refused.Body.Close())
	p.SignUp("ana", nil).Expect(200)
	p.Settle()
	var all map[string]float64
	require.Eventually(t, func() bool { // a mail is counted after it was delivered, and what is read of jobs stands for 5 s
		all = series(t, p)
		return all[`marquee_mails_total{result="sent"}`] > 0 && all[`marquee_jobs{queue="mail",state="available"}`] == 0
	}, time.Minute, 20*time.Millisecond)
	for name, least := range map[string]float64{
		`marquee_payments_last_hour{gateway="gwb",result="settled"}`: 2,
		`marquee_webhooks_total{gateway="gwb",result="processed"}`:   1,
		`marquee_webhooks_total{gateway="gwb",result="refused"}`:     1,
		`marquee_webhook_seconds{gateway="gwb"}`:                     1,

		`marquee_webhook_ignored_total{gateway="gwb",reason="no consequence"}`: 1,

		`marquee_gateway_request_seconds{gateway="gwb",result="2xx"}`: 2,
		`marquee_mails_total{result="sent"}`:                          1,
		`marquee_job_delay_seconds{queue="mail"}`:                     1,
		`marquee_db_wait_seconds{pool="main"}`:                        1,
		`marquee_db_pool_connections{pool="lists",state="most"}`:      1,
		`marquee_webhook_last_timestamp_seconds{gateway="gwb"}`:       1_700_000_000,
		`marquee_event_places{state="sold"}`:                          2,
		`marquee_event_places{state="free"}`:                          8,
		`marquee_events_on_sale{state="open"}`:                        1,
		`marquee_page_cache_limit_bytes{}`:                            1,
		`marquee_database_up{}`:                                       1,
	} {
		value, there := all[name]
		require.True(t, there, "%s: %v", name, all)
		require.GreaterOrEqual(t, value, least, name)
	}
	for name, value := range map[string]float64{
		`marquee_payments_last_hour{gateway="gwa",result="failed"}`: 0,
		`marquee_webhook_events_open{gateway="gwa",state="queued"}`: 0,
		`marquee_webhook_queued_oldest_seconds{gateway="gwb"}`:      0,
		`marquee_jobs_oldest_ready_seconds{queue="gateway"}`:        0,
		`marquee_jobs{queue="mail",state="available"}`:              0,
		`marquee_orders_overdue{}`:                                  0,
		`marquee_webhooks_total{gateway="gwb",result="not_stored"}`: 0,
		`marquee_mails_total{result="failed"}`:                      0,
	} {
		require.Contains(t, all, name)
		require.InDelta(t, value, all[name], 0, name)
	}
}

// TestNobodyMakesUpLabels: whatever clients send, there are no more figures than before.
func TestNobodyMakesUpLabels(t *testing.T) {
	t.Parallel()
	p := platformtest.New(t)
	attack := func(n int) {
		for _, target := range []string{"/", "/api/v1/videos", "/api/v1/videos/", "/webhooks/", "/api/v1/nowhere/"} {
			id := strconv.Itoa(n)
			for _, method := range []string{http.MethodGet, http.MethodPost, "M" + id} {
				r := httptest.NewRequest(method, target+id, strings.NewReader(id))
				r.Header.Set("Host", id)
				r.Header.Set("X-Request-Id", "made-up-request-id-"+id)
				r.Header.Set("User-Agent", id)
				p.API().Handler().ServeHTTP(httptest.NewRecorder(), r)
			}
		}
	}
	attack(1)
	before := series(t, p)
	for n := range 20 {
		attack(100 + n)
	}
	after := series(t, p)
	maps.DeleteFunc(after, func(name string, _ float64) bool {
		_, known := before[name]
		// All platforms of a process have this one in common: what other tests ask is counted, too, by collection.
		return known || strings.HasPrefix(name, "marquee_query_unknown_fields_total{")
	})
	require.Empty(t, after)
}
