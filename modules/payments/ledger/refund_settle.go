package ledger

import (
	"slices"
	"strings"
	"time"

	"marquee/modules/payments/gateway"
	"marquee/modules/payments/state"
	"marquee/platform/money"
	"marquee/platform/objectid"
)

// Kinds of refund reports.
const (
	reportTotal  state.RefundReport = "total"
	reportSingle state.RefundReport = "single"
	reportFailed state.RefundReport = "failed"
)

// reportLine is one line of what a gateway said of a payment's refunds.
type reportLine struct {
	kind     state.RefundReport
	refundID string
	at       time.Time
	amount   money.Cents
}

// linesOf is the report as lines to be kept. A refund that is neither done nor
// failed says nothing yet.
func linesOf(r gateway.RefundReport) []reportLine {
	var all []reportLine
	if r.HasTotal {
		all = append(all, reportLine{kind: reportTotal, at: r.At, amount: r.Total})
	}
	for _, single := range r.Singles {
		line := reportLine{refundID: keyOfRefund(single), at: single.At, amount: single.Amount}
		switch {
		case line.refundID == "":
			continue
		case single.Status == gateway.RefundStatusDone:
			line.kind = reportSingle
		case single.Status == gateway.RefundStatusFailed && single.ID != "":
			line.kind = reportFailed // gateway A counts only what is done, so nothing has to be taken back there
		default:
			continue
		}
		all = append(all, line)
	}
	return all
}

func keyOfRefund(s gateway.SingleRefund) string {
	if s.ID != "" {
		return s.ID
	}
	return s.RefundID.String()
}

// refundedTotal is what has been given back of a payment, by all that was ever
// said of it. It is a function of the set of lines: a cumulative total is added
// to nothing, an older one lowers nothing, and a refund that failed after it had
// been counted is taken off totals from before its failure.
func refundedTotal(lines []reportLine) money.Cents {
	failed, singles := map[string]reportLine{}, map[string]money.Cents{}
	for _, l := range lines {
		switch l.kind {
		case reportFailed:
			if known, ok := failed[l.refundID]; !ok || l.at.Before(known.at) {
				failed[l.refundID] = l
			}
		case reportSingle:
			singles[l.refundID] = max(singles[l.refundID], l.amount)
		}
	}
	var gross, lost, named money.Cents
	for _, f := range failed {
		lost += f.amount
	}
	for _, l := range lines {
		if l.kind != reportTotal {
			continue
		}
		until := l.amount
		for _, f := range failed {
			if f.at.Before(l.at) {
				until += f.amount
			}
		}
		gross = max(gross, until)
	}
	for id, amount := range singles {
		if _, ok := failed[id]; !ok {
			named += amount
		}
	}
	return max(gross-lost, named, 0)
}

// FailedDisputed is why a refund failed that the gateway refuses while the payer's bank
// holds the money, or has taken it.
const FailedDisputed = state.RefundFailedDisputed

// FailedByDispute reports whether the gateway refused the refund since the payment is
// disputed: asking again brings the same.
func (r Refund) FailedByDispute() bool {
	return r.Status == gateway.RefundStatusFailed && r.Failure == FailedDisputed
}

// FailedUnasked begins why a refund failed that its gateway was not there to take.
const FailedUnasked = state.RefundFailedUnasked

// FailedUnasked reports whether the gateway was not there when the refund was asked for:
// asking again may bring another answer.
func (r Refund) FailedUnasked() bool {
	return r.Status == gateway.RefundStatusFailed && strings.HasPrefix(r.Failure, FailedUnasked)
}

// Refund is a row of the ledger of refunds.
type Refund struct {
	ID              objectid.ID
	Gateway         gateway.Name
	PaymentID       string // pay_… at gateway A, pi_… (else ch_…) at gateway B
	GatewayRefundID string // gateway B, once known
	Purpose         gateway.Purpose
	LocalID         objectid.ID
	CustomerID      objectid.ID
	Amount          money.Cents
	Kind            state.RefundKind
	Status          gateway.RefundStatus
	// ByAdmin: asked for here, by an admin or by the platform; else learned from
	// the gateway.
	ByAdmin     bool
	EventID     string // REFUND-<local id>-<unix milliseconds>, or the gateway's event
	EventType   string // ADMIN.REFUND.GWB_REFUND, ADMIN.REFUND.GWA_REFUND, or the gateway's
	Reason      string
	Admin       string
	AdminID     *objectid.ID
	Failure     string
	RequestedAt time.Time
	RefundedAt  *time.Time // when the money counted, by the gateway's clock
	UpdatedAt   time.Time  // when the row was last changed, by ours

	stored         gateway.RefundStatus // as it was read
	by             state.RefundAction   // that moved it last since then
	isNew, changed bool
	unlisted       error // a move that the table does not have
}

// settleRefunds brings the rows of one payment, oldest first, in line with a
// report, which is the last of all lines: the done rows add up to what the lines
// say. Rows are changed in place, new ones are appended; none for what a dispute
// took that was lost, and that the gateway counts among the refunds.
func settleRefunds(rows []*Refund, r gateway.RefundReport, lines []reportLine, disputed bool) []*Refund {
	pending := map[*Refund]bool{}
	for _, single := range r.Singles {
		if failedBefore(lines, single.ID) {
			single.Status = gateway.RefundStatusFailed // the news that it was made comes late
		}
		rows = settleSingle(rows, r, single, pending, disputed)
	}
	target := refundedTotal(lines)
	missing := target - DoneSum(rows)
	for _, row := range rows {
		if row.GatewayRefundID == "" && !pending[row] && row.Amount <= missing &&
			(row.Status == gateway.RefundStatusPending || mayBeDone(row, r)) {
			row.move(state.RefundMade, &r.At)
			missing -= row.Amount
		}
	}
	takeBack(rows, DoneSum(rows)-target)
	if !disputed {
		rows = restoreMarked(rows, r, state.RefundMade, target-DoneSum(rows))
	}
	if missing = target - DoneSum(rows); missing > 0 && !disputed {
		rows = append(rows, newRefund(r, missing, state.RefundMade, &r.At))
	}
	if disputed {
		for _, row := range rows {
			if !row.ByAdmin && row.Status == gateway.RefundStatusPending {
				row.move(state.RefundAsDispute, nil)
			}
		}
		return rows
	}
	return settleListed(rows, r)
}

// restoreMarked makes the rows of refunds that bear the mark of a request of ours and
// that no row knows: they were lost with the restore of a database, and come back under
// their own id. Together they are of missing at most, what no row explains.
func restoreMarked(rows []*Refund, r gateway.RefundReport, by state.RefundAction, missing money.Cents) []*Refund {
	status, _ := state.Refunds.Next("", by)
	for _, single := range r.Singles {
		if single.RefundID == "" || single.ID != "" || single.Status != status || single.Amount > missing ||
			rowOf(rows, single) != nil {
			continue
		}
		row := newRefund(r, single.Amount, by, nil)
		row.ID, row.Reason, row.RequestedAt = single.RefundID, single.Reason, single.At
		if status == gateway.RefundStatusDone {
			row.RefundedAt = new(single.At)
		}
		rows, missing = append(rows, row), missing-single.Amount
	}
	return rows
}

// lostMarked is what a report tells of refunds that bear the mark of a request of ours
// and have no row: the platform gave that money back, not the payer's bank.
func lostMarked(rows []*Refund, r gateway.RefundReport) (sum money.Cents) {
	for _, single := range r.Singles {
		if single.RefundID != "" && single.Status == gateway.RefundStatusDone && rowOf(rows, single) == nil {
			sum += single.Amount
		}
	}
	return sum
}

// mayBeDone reports whether a request that nobody has answered may be behind what is
// done beyond the known rows. In a full list its refund would carry its id, or no
// description at all should the gateway not have kept it.
func mayBeDone(row *Refund, r gateway.RefundReport) bool {
	if !row.ByAdmin || row.Status != gateway.RefundStatusRequested {
		return false
	}
	return !r.Listed || slices.ContainsFunc(r.Singles, func(single gateway.SingleRefund) bool {
		return single.RefundID == "" && single.Reason == "" && single.Amount == row.Amount &&
			single.Status == gateway.RefundStatusDone
	})
}

// settleListed compares the refunds that a full list holds, given back or under way,
// with the rows: what no row explains is recorded as under way, and lowers what is
// left; of what is under way at the gateway alone, that which an older or equal row
// has too many is no longer.
func settleListed(rows []*Refund, r gateway.RefundReport) []*Refund {
	if !r.Listed {
		return rows
	}
	unexplained := money.Cents(0)
	for _, single := range r.Singles {
		if single.Status != gateway.RefundStatusFailed {
			unexplained += single.Amount
		}
	}
	for _, row := range rows {
		if row.Status == gateway.RefundStatusDone || row.Status == gateway.RefundStatusPending {
			unexplained -= row.Amount
		}
	}
	marked := len(rows)
	rows = restoreMarked(rows, r, state.RefundUnderWay, unexplained)
	for _, row := range rows[marked:] {
		unexplained -= row.Amount
	}
	if unexplained > 0 {
		return append(rows, newRefund(r, unexplained, state.RefundUnderWay, nil))
	}
	for _, row := range slices.Backward(rows) {
		if unexplained == 0 || row.ByAdmin || row.Status != gateway.RefundStatusPending || row.RequestedAt.After(r.At) {
			continue
		}
		if row.Amount <= -unexplained {
			unexplained += row.Amount
			row.move(state.RefundUncounted, nil)
			continue
		}
		row.Amount, row.changed, unexplained = row.Amount+unexplained, true, 0
	}
	return rows
}

func failedBefore(lines []reportLine, refundID string) bool {
	return slices.ContainsFunc(lines,
		func(l reportLine) bool { return l.kind == reportFailed && l.refundID == refundID })
}

// settleSingle finds the row of a refund that the gateway names, or makes it.
func settleSingle(rows []*Refund, r gateway.RefundReport, single gateway.SingleRefund, pending map[*Refund]bool,
	disputed bool,
) []*Refund {
	row := rowOf(rows, single)
	if row == nil {
		if single.Status != gateway.RefundStatusDone || single.ID == "" || disputed {
			return rows
		}
		row = &Refund{
			ID: single.RefundID, EventID: r.EventID, EventType: r.Type, RequestedAt: single.At, Amount: single.Amount,
			isNew: true,
		}
		rows = append(rows, row)
	}
	if single.ID != "" && row.GatewayRefundID != single.ID {
		row.GatewayRefundID, row.changed = single.ID, true
	}
	if row.Reason == "" && single.Reason != "" {
		row.Reason, row.changed = single.Reason, true
	}
	switch {
	case single.Status == gateway.RefundStatusFailed:
		row.move(state.RefundFailed, nil)
	case single.Status == gateway.RefundStatusDone && row.Status != gateway.RefundStatusDone:
		row.move(state.RefundMade, &single.At)
	case single.Status == gateway.RefundStatusPending:
		pending[row] = true
		if row.Status == gateway.RefundStatusRequested {
			row.move(state.RefundUnderWay, nil)
		}
	}
	return rows
}

// rowOf is the row of a named refund: by the gateway's id, by ours, else one of
// the same amount that a report without names made.
func rowOf(rows []*Refund, single gateway.SingleRefund) *Refund {
	for _, row := range rows {
		if single.ID != "" && row.GatewayRefundID == single.ID || single.RefundID != "" && row.ID == single.RefundID {
			return row
		}
	}
	for _, row := range rows {
		if single.ID != "" && single.RefundID == "" && !row.ByAdmin && row.GatewayRefundID == "" &&
			row.Status == gateway.RefundStatusDone && row.Amount == single.Amount {
			return row
		}
	}
	return nil
}

// takeBack lowers what is done by an excess: first rows that no name vouches
// for, the newest first; a request that was taken for done waits again.
func takeBack(rows []*Refund, excess money.Cents) {
	for _, byAdmin := range []bool{false, true} {
		for i := len(rows) - 1; i >= 0 && excess > 0; i-- {
			row := rows[i]
			if row.Status != gateway.RefundStatusDone || row.GatewayRefundID != "" || row.ByAdmin != byAdmin {
				continue
			}
			switch {
			case byAdmin:
				row.move(state.RefundReopened, nil)
				excess -= row.Amount
			case row.Amount <= excess:
				excess -= row.Amount
				row.move(state.RefundUncounted, nil)
			default:
				row.Amount, row.changed = row.Amount-excess, true
				excess = 0
			}
		}
	}
}

// FailedAtGateway reports whether the gateway took the refund on and it failed later.
func (r *Refund) FailedAtGateway() bool {
	return r.Status == gateway.RefundStatusFailed && r.Failure == state.Refunds.ReasonOf(state.RefundFailed)
}

// newRefund is a row that a report makes.
func newRefund(r gateway.RefundReport, amount money.Cents, by state.RefundAction, at *time.Time) *Refund {
	row := &Refund{Amount: amount, EventID: r.EventID, EventType: r.Type, RequestedAt: r.At, isNew: true}
	row.move(by, at)
	return row
}

// move takes a row where the action leads, since at where its money counts then.
func (r *Refund) move(by state.RefundAction, at *time.Time) {
	to, err := state.Refunds.Move(r.Status, by)
	if err != nil {
		r.unlisted = err
	} else if to != r.Status {
		r.Status, r.RefundedAt, r.Failure, r.by, r.changed = to, at, state.Refunds.ReasonOf(by), by, true
	}
}

// DoneSum is what has been given back, by the rows of a payment.
func DoneSum(rows []*Refund) money.Cents {
	var sum money.Cents
	for _, row := range rows {
		if row.Status == gateway.RefundStatusDone {
			sum += row.Amount
		}
	}
	return sum
}
