package reports

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"marquee/platform/httpapi"
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
