package ledger

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"marquee/modules/payments/gateway"
	"marquee/modules/payments/state"
	"marquee/platform/money"
	"marquee/platform/objectid"
)

var epoch = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

func at(second int) time.Time { return epoch.Add(time.Duration(second) * time.Second) }

func total(second int, cents money.Cents) reportLine {
	return reportLine{kind: reportTotal, at: at(second), amount: cents}
}

func single(id string, second int, cents money.Cents) reportLine {
	return reportLine{kind: reportSingle, refundID: id, at: at(second), amount: cents}
}

func failure(id string, second int, cents money.Cents) reportLine {
	return reportLine{kind: reportFailed, refundID: id, at: at(second), amount: cents}
}

func TestRefundedTotal(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		lines []reportLine
		want  money.Cents
	}{
		"nothing":                                 {nil, 0},
		"totals are cumulative":                   {[]reportLine{total(1, 1000), total(2, 3500), total(3, 4990)}, 4990},
		"an older total lowers nothing":           {[]reportLine{total(2, 3500), total(1, 1000)}, 3500},
		"the first event was lost":                {[]reportLine{total(2, 3500)}, 3500},
		"totals and the refunds they are made of": {[]reportLine{total(1, 1000), single("a", 1, 1000)}, 1000},
		"a single refund whose total was lost": {
			[]reportLine{total(1, 1000), single("a", 1, 1000), single("b", 2, 500)},
			1500,
		},
		"a refund that failed after it was counted": {
			[]reportLine{total(1, 1000), single("a", 1, 1000), failure("a", 60, 1000)},
			0,
		},
		"a failure and then another refund": {
			[]reportLine{total(1, 1000), failure("a", 60, 1000), total(90, 1000)},
			1000,
		},
		"a failure whose refund was never counted": {[]reportLine{failure("a", 60, 1000)}, 0},
		"one of two failed": {
			[]reportLine{total(1, 1000), total(2, 1500), failure("b", 60, 500)},
			1000,
		},
		"a failure told twice": {[]reportLine{total(1, 1000), failure("a", 60, 1000), failure("a", 61, 1000)}, 0},
	} {
		require.Equal(t, tc.want, refundedTotal(tc.lines), name)
	}
}

// story is what happens to one payment at its gateway, with the reports of it.
func story(r *rand.Rand) (lines []reportLine, truth money.Cents) {
	left, second := money.Cents(10000), 1
	type made struct {
		id     string
		amount money.Cents
	}
	var alive []made
	for i := range 1 + r.IntN(6) {
		second += 1 + r.IntN(100)
		if len(alive) > 0 && r.IntN(4) == 0 {
			n := r.IntN(len(alive))
			lines = append(lines, failure(alive[n].id, second, alive[n].amount))
			truth -= alive[n].amount
			left += alive[n].amount
			alive = append(alive[:n], alive[n+1:]...)
			continue
		}
		amount := money.Cents(1 + r.IntN(2000))
		if amount > left {
			continue
		}
		left -= amount
		truth += amount
		id := fmt.Sprintf("re_%d", i)
		alive = append(alive, made{id, amount})
		lines = append(lines, total(second, truth), single(id, second, amount))
	}
	return lines, truth
}

func TestRefundedTotalOfAnyOrder(t *testing.T) {
	t.Parallel()
	for seed := range uint64(2000) {
		r := rand.New(rand.NewPCG(seed, 7)) //nolint:gosec // a test's randomness
		lines, truth := story(r)
		require.Equal(t, truth, refundedTotal(lines), "seed %d", seed)
		lines = append(lines, lines[:r.IntN(len(lines)+1)]...)
		r.Shuffle(len(lines), func(i, j int) { lines[i], lines[j] = lines[j], lines[i] })
		require.Equal(t, truth, refundedTotal(lines), "seed %d", seed)
	}
}

// settle runs reports one after the other as RecordRefundTx does. What each does to a row as a whole is a move of the
// table by the action that its history tells.
func settle(t *testing.T, rows []*Refund, lines *[]reportLine, r gateway.RefundReport) []*Refund {
	t.Helper()
	*lines = append(*lines, linesOf(r)...)
	for _, row := range rows {
		row.stored, row.by = row.Status, ""
	}
	rows = settleRefunds(rows, r, *lines, false)
	for _, row := range rows {
		if row.Status != row.stored {
			to, err := state.Refunds.Move(row.stored, row.by)
			require.NoError(t, err)
			require.Equal(t, to, row.Status)
		}
		row.isNew, row.changed = false, false
	}
	return rows
}

func TestRowsAddUpInAnyOrder(t *testing.T) {
	t.Parallel()
	for seed := range uint64(2000) {
		r := rand.New(rand.NewPCG(seed, 11)) //nolint:gosec // a test's randomness
		lines, truth := story(r)
		var reports []gateway.RefundReport
		for _, l := range lines {
			report := gateway.RefundReport{PaymentID: "pi_1", At: l.at}
			switch l.kind {
			case reportTotal:
				report.Total, report.HasTotal = l.amount, true
			case reportSingle:
				report.Singles = []gateway.SingleRefund{
					{ID: l.refundID, Amount: l.amount, Status: gateway.RefundStatusDone, At: l.at},
				}
			case reportFailed:
				report.Singles = []gateway.SingleRefund{
					{ID: l.refundID, Amount: l.amount, Status: gateway.RefundStatusFailed, At: l.at},
				}
			}
			reports = append(reports, report)
			if r.IntN(3) == 0 {
				reports = append(reports, report)
			}
		}
		r.Shuffle(len(reports), func(i, j int) { reports[i], reports[j] = reports[j], reports[i] })
		var rows []*Refund
		var known []reportLine
		if len(lines) > 0 && r.IntN(2) == 0 { // an admin's request that the first refund answers
			rows = append(rows, &Refund{
				ID: objectid.New(), ByAdmin: true, Amount: lines[0].amount, Status: gateway.RefundStatusRequested,
			})
		}
		for i, report := range reports {
			rows = settle(t, rows, &known, report)
			require.Equal(t, refundedTotal(known), DoneSum(rows), "seed %d after %d reports", seed, i+1)
		}
		require.Equal(t, truth, DoneSum(rows), "seed %d", seed)
	}
}

func TestARequestIsSettledByTheWebhookOfTheSameRefund(t *testing.T) {
	t.Parallel()
	request := &Refund{ID: objectid.New(), ByAdmin: true, Amount: 1000, Status: gateway.RefundStatusRequested}
	var known []reportLine
	rows := settle(t, []*Refund{request}, &known, gateway.RefundReport{
		PaymentID: "pi_1", Total: 1000, HasTotal: true, At: at(1), EventID: "evt_1",
	})
	require.Len(t, rows, 1, "no second row")
	require.Equal(t, gateway.RefundStatusDone, request.Status)
	report := gateway.RefundReport{
		PaymentID: "pi_1", Total: 1000, HasTotal: true, At: at(2),
		Singles: []gateway.SingleRefund{{
			ID: "re_1", RefundID: request.ID, Amount: 1000, Status: gateway.RefundStatusDone, At: at(1),
		}},
	}
	rows = settle(t, rows, &known, report)
	require.Len(t, rows, 1)
	require.Equal(t, "re_1", request.GatewayRefundID)
	require.Equal(t, money.Cents(1000), DoneSum(rows))
}

func TestAStrangersRefundDoesNotSettleALargerRequest(t *testing.T) {
	t.Parallel()
	request := &Refund{ID: objectid.New(), ByAdmin: true, Amount: 1000, Status: gateway.RefundStatusRequested}
	var known []reportLine
	rows := settle(t, []*Refund{request}, &known, gateway.RefundReport{
		PaymentID: "pi_1", Total: 400, HasTotal: true, At: at(1),
	})
	require.Len(t, rows, 2)
	require.Equal(t, gateway.RefundStatusRequested, request.Status)
	require.Equal(t, money.Cents(400), DoneSum(rows))
}

func TestGatewayAPendingRefundIsNotSettledByAnother(t *testing.T) {
	t.Parallel()
	request := &Refund{ID: objectid.New(), ByAdmin: true, Amount: 1000, Status: gateway.RefundStatusRequested}
	var known []reportLine
	rows := settle(t, []*Refund{request}, &known, gateway.RefundReport{
		PaymentID: "pay_1", Total: 2000, HasTotal: true, At: at(1),
		Singles: []gateway.SingleRefund{
			{RefundID: request.ID, Amount: 1000, Status: gateway.RefundStatusPending, At: at(1)},
		},
	})
	require.Equal(t, gateway.RefundStatusPending, request.Status, "the 20.00 that are done are somebody else's")
	require.Equal(t, money.Cents(2000), DoneSum(rows))
	rows = settle(t, rows, &known, gateway.RefundReport{
		PaymentID: "pay_1", Total: 3000, HasTotal: true, At: at(9),
		Singles: []gateway.SingleRefund{
			{RefundID: request.ID, Amount: 1000, Status: gateway.RefundStatusDone, At: at(9)},
		},
	})
	require.Equal(t, gateway.RefundStatusDone, request.Status)
	require.Equal(t, money.Cents(3000), DoneSum(rows))
}
