package reports

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"marquee/modules/finance/internal/financedb"
	"marquee/platform/httpapi"
	"marquee/platform/objectid"
)

// Movements is the answer of GET /admin/finance/movements (docs/contract/figures.md, Finance). Amounts are cents.
type Movements struct {
	Monthly []MovementMonth `json:"monthly" doc:"Oldest first; the last is the present month"`
}

// MovementMonth is one month: closing = opening + new + expansion + reactivation - contraction - churn.
type MovementMonth struct {
	Month        string `json:"month" doc:"YYYY-MM"`
	Opening      int64  `json:"opening" doc:"Cents"`
	New          int64  `json:"new" doc:"Cents, of customers who were active for the first time ever"`
	Expansion    int64  `json:"expansion" doc:"Cents, by higher prices while active"`
	Reactivation int64  `json:"reactivation" doc:"Cents, of customers who came back after an exit"`
	Contraction  int64  `json:"contraction" doc:"Cents, by lower prices while active"`
	Churn        int64  `json:"churn" doc:"Cents, of customers who left"`
	Closing      int64  `json:"closing" doc:"Cents; of the present month the MRR of now"`
}

// Movements reads how MRR moved in the last months, the present one among them.
func (s *Reports) Movements(ctx context.Context, months int) (Movements, error) {
	var m Movements
	err := s.Snapshot(ctx, reportTimeout, func(ctx context.Context, tx pgx.Tx) error {
		m = Movements{Monthly: make([]MovementMonth, 0, months)}
		rows, err := s.db.MovementListByMonth(ctx, tx, int32(months)) //nolint:gosec // the route allows 24
		if err != nil {
			return fmt.Errorf("read movements: %w", err)
		}
		for _, r := range rows {
			m.Monthly = append(m.Monthly, MovementMonth{
				Month: r.Month, Opening: r.OpeningCents, New: r.NewCents, Expansion: r.ExpansionCents,
				Reactivation: r.ReactivationCents, Contraction: r.ContractionCents, Churn: r.ChurnCents,
				Closing: r.ClosingCents,
			})
		}
		return nil
	})
	return m, err
}

// GetMovements answers GET /admin/finance/movements.
func (h Handlers) GetMovements(ctx context.Context, in *monthsInput) (*httpapi.Output[Movements], error) {
	return output(h.Movements(ctx, in.Months))
}

type movementRowsInput struct {
	Start string `query:"start" doc:"Month YYYY-MM, or a day of it; six months before end by default"`
	End   string `query:"end" doc:"Month YYYY-MM, or a day of it, included; the present one by default"`
	Kind  string `query:"kind" enum:"new,expansion,reactivation,contraction,churn,gained" doc:"Of that kind alone; gained: new and reactivation, whom GET /admin/finance/churn counts as new"`
	Page  int32  `query:"page" default:"0" minimum:"0" maximum:"1000000" doc:"Zero-based"`
	Limit int32  `query:"limit" default:"20" minimum:"1" maximum:"100"`
}

// MovementRows is the answer of GET /admin/finance/movements/rows: the page, the newest first, and totals of all pages,
// which equal the figures of Movements.
type MovementRows struct {
	Total       int64         `json:"total"`
	TotalAmount int64         `json:"total_amount" doc:"Cents: the sum of all amounts"`
	Movements   []movementRow `json:"movements"`
}

// movementRow is one change of MRR with its customer. Of a deleted customer the name and the address are empty.
type movementRow struct {
	At             httpapi.Time `json:"at" doc:"When access began or stopped, or another price came"`
	Kind           string       `json:"kind" enum:"new,expansion,reactivation,contraction,churn"`
	CustomerID     objectid.ID  `json:"customer_id"`
	Username       string       `json:"username"`
	SubscriptionID objectid.ID  `json:"subscription_id"`
	SubscriberFigures
	Reason *string `json:"reason" nullable:"true" enum:"payment_failure,customer_cancelled,admin_cancelled,chargeback,expired" doc:"Of churn; null for others"`
	Before int64   `json:"before" doc:"Price a month before it, cents; 0 of new and reactivation"`
	After  int64   `json:"after" doc:"Price a month after it, cents; 0 of churn"`
	Amount int64   `json:"amount" doc:"Cents: after - before, negative of contraction and churn"`
}

// GetMovementRows answers GET /admin/finance/movements/rows; a page beyond the end is empty.
func (h Handlers) GetMovementRows(ctx context.Context, in *movementRowsInput) (*document, error) {
	p, err := h.period(Monthly, in.Start, in.End)
	if err != nil {
		return nil, err
	}
	return h.document(ctx, "Movements", func(ctx context.Context, tx pgx.Tx) ([]byte, error) {
		return h.db.MovementRowsGet(ctx, tx, financedb.MovementRowsGetParams{
			FirstDay: date(p.Start), LastDay: date(p.End), Kind: in.Kind,
			Size: int64(in.Limit), Start: int64(in.Page) * int64(in.Limit),
		})
	})
}
