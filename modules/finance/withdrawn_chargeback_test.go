package finance_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"marquee/platform/objectid"
	"marquee/platform/postgres"
)

// figures are all that finance tells, but for what it tells of now.
func (h *history) figures() string {
	h.t.Helper()
	var all []byte
	require.NoError(h.t, asOf(h.t, h.db, h.clock.Now(), func(tx postgres.DB) error {
		return tx.QueryRow(h.t.Context(), `SELECT json_build_object(
			'daily', (SELECT json_agg(d ORDER BY d.day) FROM finance.daily d WHERE (d.entries, d.chargebacks_cents, d.exits_chargeback, d.returned_in_day, d.gross_gwa_cents, d.gross_gwb_cents) <> (0, 0, 0, 0, 0, 0)),
			'returns', (SELECT json_agg(r ORDER BY r) FROM finance.returns r WHERE r.returns <> 0),
			'cohorts', (SELECT json_agg(c ORDER BY c) FROM finance.cohorts c),
			'tenure', (SELECT json_agg(t ORDER BY t) FROM finance.tenure t),
			'movements', (SELECT json_agg(m ORDER BY m.movement_id) FROM finance.movements m))`).Scan(&all)
	}))
	churn, err := json.Marshal(h.churn())
	require.NoError(h.t, err)
	overview, err := h.service.Overview(h.t.Context())
	require.NoError(h.t, err)
	text, err := json.Marshal(overview)
	require.NoError(h.t, err)
	return string(all) + string(churn) + string(text)
}

// TestAWithdrawnChargebackLeavesNoTrace: months of it, folded and not, over a month's end.
func TestAWithdrawnChargebackLeavesNoTrace(t *testing.T) {
	t.Parallel()
	for name, folded := range map[string]bool{"folded": true, "not folded": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newHistory(t, 1)
			customer := h.customers[0]
			h.subscribe(customer, "subscribed")
			s := h.live[customer]
			h.move(s, "active", "payment_settled")
			h.clock.Advance(20 * 24 * time.Hour)
			dispute := objectid.New()
			suspended := h.clock.Now()
			h.clock.Advance(40 * 24 * time.Hour)
			withdrawn := h.clock.Now()
			want := h.figures()

			at := func(when time.Time, sql string, args ...any) {
				h.exec(sql, append(args, when)...)
			}
			at(suspended,
				`INSERT INTO payments.disputes (id, gateway, gateway_dispute_id, payment_ref, purpose, local_id, customer_id, amount_cents, state, native_status, opened_at, reported_at, created_at, updated_at)
				VALUES ($1, 'gwa', $1, $1, 'subscription', $2, $3, 4990, 'open', 'reported_by_admin', $4, $4, $4, $4)`,
				dispute, s.id, s.customer)
			move := func(when time.Time, to, reason string) {
				require.NoError(t, postgres.InTx(t.Context(), h.db, func(tx pgx.Tx) error {
					return moveTx(t.Context(), tx, s, to, reason, when, false)
				}))
				s.status = to
			}
			move(suspended, "suspended", "chargeback")
			if folded {
				_, err := h.service.Fold(t.Context())
				require.NoError(t, err)
			}
			require.NotEqual(t, want, h.figures())
			at(withdrawn, `UPDATE payments.disputes SET state = 'withdrawn', closed_at = $2 WHERE id = $1`, dispute)
			move(withdrawn, "active", "chargeback_withdrawn")
			require.Equal(t, want, h.figures())
			if folded {
				_, err := h.service.Fold(t.Context())
				require.NoError(t, err)
				require.Equal(t, want, h.figures())
			}
			h.require()
			h.exec("SELECT finance.rebuild()")
			require.Equal(t, want, h.figures())
			h.clock.Advance(24 * time.Hour)
			h.move(s, "cancelled", "customer_cancelled")
			h.require()
		})
	}
}
