package reports

import (
	"context"

	"github.com/jackc/pgx/v5"
)

// OrderTotals is the answer of GET /admin/events-dashboard/orders. The three maps
// are over all orders, so the counts of each add up to total_orders; revenue and
// averages are of paid ones. Money in reais.
type OrderTotals struct {
	TotalOrders        int64                 `json:"total_orders"`
	TotalRevenue       reais                 `json:"total_revenue" doc:"Of paid orders (CONFIRMED, RECEIVED, succeeded), minus what was refunded of them; none of called off events"`
	ByStatus           map[string]orderShare `json:"by_status" doc:"By payment status, the gateway's own word"`
	ByGateway          map[string]orderShare `json:"by_gateway" doc:"gwa, gwb; free for orders without a price"`
	ByPaymentMethod    map[string]orderShare `json:"by_payment_method" doc:"credit_card, pix; unknown where none is recorded"`
	AvgOrderValue      reais                 `json:"avg_order_value" doc:"Revenue by paid order"`
	AvgTicketsPerOrder float64               `json:"avg_tickets_per_order" doc:"Tickets of paid orders by paid order, two decimals"`
}

type orderShare struct {
	Count       int64 `json:"count"`
	TotalAmount reais `json:"total_amount" doc:"Of all orders, also unpaid ones, minus what was refunded of them; none of CHARGEBACK_LOST"`
}

// GetOrderTotals answers GET /admin/events-dashboard/orders.
func (h Handlers) GetOrderTotals(ctx context.Context, _ *struct{}) (*document, error) {
	return h.document(ctx, "Orders", func(tx pgx.Tx) ([]byte, error) { return h.db.OrderTotals(ctx, tx) })
}
