package ledger

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"marquee/modules/payments/gateway"
	"marquee/modules/payments/internal/paymentsdb"
	"marquee/modules/payments/state"
	"marquee/platform/money"
	"marquee/platform/nullable"
	"marquee/platform/objectid"
)

// HandedBack is what staff hand back of an order of the box office; 0 cents of a courtesy.
type HandedBack struct {
	OrderID    objectid.ID
	CustomerID objectid.ID
	Amount     money.Cents
	Reason     string
	Admin      string // username
	AdminID    objectid.ID
	At         time.Time
}

// handedBackType is the event_type of what no gateway tells.
const handedBackType = "BOX_OFFICE.REFUND"

// RecordHandedBackTx writes it: no gateway is asked, and it counts at once. That no more is handed back than was
// paid is for the caller, who has locked the order. An error is the database's.
func (s *Ledger) RecordHandedBackTx(ctx context.Context, tx pgx.Tx, h HandedBack) (objectid.ID, error) {
	id := objectid.At(h.At)
	begin, err := state.Refunds.Move("", state.RefundMade)
	if err != nil {
		return "", err
	}
	err = s.db.RefundInsert(ctx, tx, paymentsdb.RefundInsertParams{
		ID: id, PaymentRef: h.OrderID.String(), Purpose: gateway.ForOrder, LocalID: h.OrderID, CustomerID: h.CustomerID,
		AmountCents: int64(h.Amount), Kind: state.RefundByHand, Status: begin, Source: state.ByAdmin,
		EventID:   fmt.Sprintf("REFUND-%s-%d", h.OrderID, h.At.UnixMilli()),
		EventType: handedBackType, Reason: nullable.Ptr(h.Reason), Admin: &h.Admin, AdminID: &h.AdminID,
		RequestedAt: h.At, RefundedAt: &h.At, At: h.At, Action: string(state.RefundMade),
	})
	if err != nil {
		return "", fmt.Errorf("write what was handed back: %w", err)
	}
	return id, nil
}
