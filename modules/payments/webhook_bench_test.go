package payments_test

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
)

// BenchmarkWebhook is one event from the gateway's call to our answer, with an
// applier of one statement.
func BenchmarkWebhook(b *testing.B) {
	bundle := setupIn(b)
	body := sample(b, "gwb.invoice.paid.first.dahlia")
	const id = "evt_1SVaC06LkdIwHu7ixEv000006"
	require.Contains(b, string(body), id)
	n := 0
	for b.Loop() {
		n++
		a := bundle.deliver("gwb", bytes.ReplaceAll(body, []byte(id), fmt.Appendf(nil, "evt_%d", n)))
		require.Equal(b, 200, a.status)
	}
}
