package refund

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"marquee/modules/payments/gateway"
	"marquee/modules/payments/ledger"
	"marquee/platform/fault"
	"marquee/platform/money"
	"marquee/platform/objectid"
)

// FoundError says that the gateway had given back, or is giving back, what was not
// known here until its list was compared just now, and what may be the very refund that
// is asked for: its row was lost with the restore of a database. It is booked, nothing
// was asked of the gateway, and the same request made again goes through.
type FoundError struct{ Refunds []ledger.Refund }

// Error implements error.
func (e *FoundError) Error() string {
	return fmt.Sprintf("payments: the gateway lists %d refunds of the payment that were not known", len(e.Refunds))
}

// Fault words it for the admin who asked.
func (e *FoundError) Fault() error {
	told := make([]string, len(e.Refunds))
	for i, r := range e.Refunds {
		at := r.RequestedAt
		if r.RefundedAt != nil {
			at = *r.RefundedAt
		}
		told[i] = fmt.Sprintf("R$ %s at %s", r.Amount, at.UTC().Format(time.RFC3339))
	}
	return fault.Conflict("The gateway has already given back %s of this payment, which was not known here when this was asked. It is booked now, and nothing more was given back: repeat the request if one more refund is meant.",
		strings.Join(told, " and ")).WithCause(e)
}

// foundRefunds is what counts since the list was compared and may be what is asked for:
// it bears the mark of a request of ours, or is of the amount. Rows that do not count for
// long are none: each is told once.
func foundRefunds(before, after []*ledger.Refund, all []gateway.RemoteRefund, amount money.Cents) []ledger.Refund {
	known := map[objectid.ID]bool{}
	for _, row := range before {
		known[row.ID] = row.Status != gateway.RefundFailed
	}
	ours := slices.ContainsFunc(all, func(r gateway.RemoteRefund) bool {
		return r.RefundID != "" && r.Status != gateway.RefundFailed && !known[r.RefundID]
	})
	var found []ledger.Refund
	for _, row := range after {
		if row.Status != gateway.RefundFailed && !known[row.ID] && (ours || row.Amount == amount) {
			found = append(found, *row)
		}
	}
	return found
}
