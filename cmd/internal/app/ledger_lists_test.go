package app_test

import (
	"net/http"
	"net/url"
	"testing"

	"github.com/stretchr/testify/require"

	"marquee/cmd/internal/app/platformtest"
	"marquee/platform/objectid"
)

// TestStaffListPaymentsAndDisputes: each of both gateways, the latest first, found by their filters and by staff alone.
func TestStaffListPaymentsAndDisputes(t *testing.T) {
	t.Parallel()
	p := platformtest.New(t)
	user, customer := p.NewCustomer()
	p.Unsound("payments_have_subjects", "disputes_have_subjects") // of subscriptions that are not there
	older, newer := objectid.New(), objectid.New()
	for _, row := range []struct {
		id              objectid.ID
		gateway, ref    string
		amount, daysAgo int
	}{{older, "gwa", "pay_older", 1990, 2}, {newer, "gwb", "in_newer", 2990, 1}} {
		p.Exec(`INSERT INTO payments.payments (id, gateway, gateway_payment_id, purpose, local_id, customer_id, amount_cents,
				method, native_status, settled_at, created_at, updated_at)
			VALUES ($1, $2, $3, 'customer', $4, $4, $5, 'pix', 'RECEIVED', now() - make_interval(days => $6), now(), now())`,
			row.id, row.gateway, row.ref, user.ID, row.amount, row.daysAgo)
	}
	dispute := p.Insert(`INSERT INTO payments.disputes (gateway, gateway_dispute_id, payment_ref, purpose, local_id, customer_id,
			amount_cents, reason, state, native_status, opened_at, reported_at, created_at, updated_at)
		VALUES ('gwb', 'du_1', 'pi_1', 'customer', $1, $1, 2990, 'fraudulent', 'inquiry', 'warning_needs_response',
			now(), now(), now(), now())`, user.ID)

	ids := func(path, filter string) (all []objectid.ID) {
		var list struct {
			Docs []struct {
				ID     objectid.ID `json:"_id"`
				Amount int64       `json:"amount"`
			}
		}
		p.Admin().Get(path + "?" + url.Values{"query": {filter}}.Encode()).Expect(http.StatusOK).JSON(&list)
		for _, doc := range list.Docs {
			require.Positive(t, doc.Amount)
			all = append(all, doc.ID)
		}
		return all
	}
	const payments, disputes = "/admin/finance/payments", "/admin/finance/disputes"
	require.Equal(t, []objectid.ID{newer, older}, ids(payments, `{}`))
	require.Equal(t, []objectid.ID{older}, ids(payments, `{"gateway":"gwa","amount":{"$lt":2000}}`))
	require.Equal(t, []objectid.ID{newer}, ids(payments, `{"gateway_payment_id":"in_newer"}`))
	require.Equal(t, []objectid.ID{dispute}, ids(disputes, `{"state":"inquiry","customer_id":"`+user.ID.String()+`"}`))
	require.Empty(t, ids(disputes, `{"state":"open"}`))
	for _, path := range []string{payments, disputes} {
		customer.Get(path).Expect(http.StatusForbidden)
		p.Guest.Get(path).Expect(http.StatusUnauthorized)
	}
}
