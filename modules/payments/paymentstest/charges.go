package paymentstest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"marquee/modules/payments/gateway"
	"marquee/platform/objectid"
)

// Charge is a charge as the sandbox has it, whatever we believe.
type Charge struct {
	Gateway   gateway.Name
	ID        string      // as orders and the ledger name it: a payment, or a payment intent
	LocalID   objectid.ID // that we told the gateway
	Cents     int64
	Succeeded bool // the payer's money moved, returned or not
	Refunded  bool // all of it is back
}

// Charges are all charges of both sandboxes, those that nobody has paid yet too.
func (g *Gateways) Charges(t testing.TB) []Charge {
	t.Helper()
	return append(g.chargesA(t), g.chargesB(t)...)
}

// Paid are the charges whose money moved and has not come back.
func (g *Gateways) Paid(t testing.TB) []Charge {
	t.Helper()
	var paid []Charge
	for _, c := range g.Charges(t) {
		if c.Succeeded && !c.Refunded {
			paid = append(paid, c)
		}
	}
	return paid
}

const chargesPage = 100

func (g *Gateways) chargesA(t testing.TB) (all []Charge) {
	t.Helper()
	for {
		var page struct {
			HasMore bool `json:"hasMore"`
			Data    []struct {
				ID                string
				Status            string
				Value             float64
				ExternalReference string
			}
		}
		read(t, fmt.Sprintf("%s/payments?limit=%d&offset=%d", g.Sandbox.GWAURL(), chargesPage, len(all)),
			"access_token", "$aact_hmlg_sandbox", &page)
		for _, p := range page.Data {
			refunded := p.Status == "REFUNDED"
			all = append(all, Charge{
				Gateway: gateway.GWA, ID: p.ID, LocalID: objectid.ID(p.ExternalReference),
				Cents: int64(p.Value*100 + 0.5),
				Succeeded: refunded || p.Status == "CONFIRMED" || p.Status == "RECEIVED" ||
					strings.Contains(p.Status, "CHARGEBACK"), Refunded: refunded,
			})
		}
		if !page.HasMore {
			return all
		}
	}
}

func (g *Gateways) chargesB(t testing.TB) (all []Charge) {
	t.Helper()
	after := ""
	for {
		var page struct {
			HasMore bool `json:"has_more"`
			Data    []struct {
				ID            string
				PaymentIntent string `json:"payment_intent"`
				Amount        int64
				Paid          bool
				Refunded      bool
				Metadata      map[string]string
			}
		}
		read(t, fmt.Sprintf("%s/v1/charges?limit=%d%s", g.Sandbox.GWBURL(), chargesPage, after), "Authorization",
			"Bearer sk_test_sandbox", &page)
		for _, c := range page.Data {
			local := c.Metadata["local_order_id"] + c.Metadata["local_subscription_id"]
			all = append(all, Charge{
				Gateway: gateway.GWB, ID: c.PaymentIntent, LocalID: objectid.ID(local), Cents: c.Amount,
				Succeeded: c.Paid, Refunded: c.Refunded,
			})
			after = "&starting_after=" + c.ID
		}
		if !page.HasMore {
			return all
		}
	}
}

func read(t testing.TB, url, header, value string, into any) {
	t.Helper()
	req, err := http.NewRequest(http.MethodGet, url, nil)
	require.NoError(t, err)
	req.Header.Set(header, value)
	res, err := http.DefaultClient.Do(req)
	require.NoError(t, err)
	defer res.Body.Close()
	require.Equal(t, http.StatusOK, res.StatusCode, url)
	require.NoError(t, json.NewDecoder(res.Body).Decode(into))
}
