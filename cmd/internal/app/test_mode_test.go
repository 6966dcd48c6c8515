package app

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestTestMode: a sandbox's address or a test key is told of each gateway, and nothing of one that takes real money.
func TestTestMode(t *testing.T) {
	t.Parallel()
	const liveA, liveB = "https://api.asaas.com/v3", "https://api.stripe.com"
	for name, c := range map[string]struct {
		a    GatewayA
		b    GatewayB
		want []string
	}{
		"live":             {GatewayA{URL: liveA, APIKey: "$aact_prod_1"}, GatewayB{URL: liveB, SecretKey: "sk_live_1"}, []string{}},
		"live by default":  {GatewayA{APIKey: "$aact_YTU5"}, GatewayB{SecretKey: "rk_live_1"}, []string{}},
		"live, with slash": {GatewayA{URL: liveA + "/"}, GatewayB{URL: "https://API.stripe.com/"}, []string{}},
		"keys":             {GatewayA{APIKey: "$aact_hmlg_1"}, GatewayB{SecretKey: "sk_test_1"}, []string{"gwa", "gwb"}},
		"a restricted key": {GatewayA{}, GatewayB{SecretKey: "rk_test_1"}, []string{"gwb"}},
		"addresses": {
			GatewayA{URL: "https://api-sandbox.asaas.com/v3", APIKey: "$aact_prod_1"},
			GatewayB{URL: "http://127.0.0.1:9999", SecretKey: "sk_live_1"},
			[]string{"gwa", "gwb"},
		},
		"one address": {GatewayA{URL: "https://api-sandbox.asaas.com/v3"}, GatewayB{SecretKey: "sk_live_1"}, []string{"gwa"}},
	} {
		require.Equal(t, c.want, Config{GatewayA: c.a, GatewayB: c.b}.testMode(), name)
	}
}
