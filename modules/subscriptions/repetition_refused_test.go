package subscriptions_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"marquee/testutil/sandbox/stage"
)

// TestARepetitionThatTheGatewayRefusesIsAnAnswer: the order stays open, and the gateway
// does not count as failing. An answer that is none still counts.
func TestARepetitionThatTheGatewayRefusesIsAnAnswer(t *testing.T) {
	t.Parallel()
	for gateway, refusal := range map[string]string{
		"gwa": `{"errors": [{"code": "invalid_action", "description": "Assinatura em processamento."}]}`,
		"gwb": `{"error": {"code": "parameter_invalid", "message": "Not now.", "type": "invalid_request_error"}}`,
	} {
		t.Run(gateway, func(t *testing.T) {
			t.Parallel()
			b := setup(t)
			d := disputesAt[gateway]
			id := d.begin(b, t)
			b.signLater(t)
			verb := http.MethodPut
			if gateway == "gwb" {
				verb = http.MethodPost
			}
			failing := func() int {
				return b.count(t, "SELECT count(*) FROM payments.gateway_state WHERE failing_since IS NOT NULL")
			}
			faults := stages[gateway](b).Faults
			refuse := func(body string) {
				faults.Clear()
				require.NoError(t, faults.Plan(stage.Fault{
					Method: verb, Path: "/v", Kind: stage.FaultStatus, Status: 400, Body: body, Times: manyTimes,
				}))
			}
			refuse(refusal)
			d.open(b, t, id)
			b.runDueStatusChecks(t)
			b.runStatusChecks(t, time.Minute)
			require.Equal(t, "pausing", b.pause(t, id))
			require.Positive(t, b.count(t,
				"SELECT failures FROM payments.intents WHERE kind = 'pause' AND state = 'open'"))
			require.Zero(t, failing(), "it answers")
			refuse("<html>Bad Request</html>")
			counts := false // until a probe, which is answered rightly, between two checks
			for range 36 {
				b.runStatusChecks(t, 5*time.Second)
				counts = counts || failing() == 1
			}
			require.True(t, counts)
			faults.Clear()
			b.runStatusChecks(t, 20*time.Minute)
			require.Equal(t, "paused", b.pause(t, id))
			require.Zero(t, failing())
		})
	}
}
