package reports

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"marquee/modules/finance/internal/financedb"
	"marquee/platform/httpapi"
)

// Grain is how wide the rows of a series are.
type Grain string

// The grains, as GET /admin/finance/revenue names them.
const (
	Monthly Grain = "monthly"
	Daily   Grain = "daily"
)

// RevenuePeriod is what Revenue reads.
type RevenuePeriod struct {
	Grain Grain
	// Start and End are calendar days in the report time zone, given as midnight
	// UTC, both inclusive. Nil Start is the first day of the month six months back,
	// nil End today. By month, every month that holds a day of the period is there,
	// whole.
	Start, End *time.Time
	// ByMethod says that gross is told by payment method too, which reads the payments of the period.
	ByMethod bool
}

// Revenue is the answer of GET /admin/finance/revenue (docs/contract/figures.md, Finance). Money in cents.
type Revenue struct {
	Period Grain         `json:"period"`
	Data   []RevenueRow  `json:"data" doc:"One row a month or day, also those on which nothing happened"`
	Totals RevenueTotals `json:"totals" doc:"Sums of the rows"`
}

// RevenueRow is one month (YYYY-MM) or day (YYYY-MM-DD).
type RevenueRow struct {
	Date             string `json:"date"`
	Gross            int64  `json:"gross" doc:"Subscription payments settled, cents"`
	Refunds          int64  `json:"refunds" doc:"Cents"`
	Chargebacks      int64  `json:"chargebacks" doc:"Cents"`
	Net              int64  `json:"net" doc:"Cents; may be negative"`
	NewSubscriptions int64  `json:"new_subscriptions" doc:"Customers who gained access"`
	Cancellations    int64  `json:"cancellations" doc:"Customers who lost access"`
	GWB              int64  `json:"gwb" doc:"Gross of gateway B, cents"`
	GWA              int64  `json:"gwa" doc:"Gross of gateway A, cents"`

	ByPaymentMethod map[string]int64 `json:"by_payment_method,omitzero" doc:"With by=payment_method alone: gross by credit_card, pix and boleto, cents; those that paid nothing are absent"`
}

// RevenueTotals are the sums of the rows.
type RevenueTotals struct {
	Gross            int64 `json:"gross" doc:"Cents"`
	Refunds          int64 `json:"refunds" doc:"Cents"`
	Chargebacks      int64 `json:"chargebacks" doc:"Cents"`
	Net              int64 `json:"net" doc:"Cents"`
	NewSubscriptions int64 `json:"new_subscriptions"`
	Cancellations    int64 `json:"cancellations"`

	ByPaymentMethod map[string]int64 `json:"by_payment_method,omitzero" doc:"With by=payment_method alone: sums of those of the rows, cents"`
}

// Revenue reads the series of a period.
func (s *Reports) Revenue(ctx context.Context, p RevenuePeriod) (Revenue, error) {
	var r Revenue
	err := s.Snapshot(ctx, reportTimeout, func(ctx context.Context, tx pgx.Tx) error {
		r = Revenue{Period: p.Grain, Data: []RevenueRow{}}
		rows, err := s.revenueRowsTx(ctx, tx, p)
		if err != nil {
			return fmt.Errorf("read %s revenue: %w", p.Grain, err)
		}
		for _, f := range rows {
			r.add(RevenueRow{
				Date: f.Date, Gross: f.GrossCents, Refunds: f.RefundsCents, Chargebacks: f.ChargebacksCents,
				Net:              f.NetCents,
				NewSubscriptions: f.NewSubscriptions, Cancellations: f.Cancellations, GWB: f.GrossGwbCents,
				GWA: f.GrossGwaCents,
			})
		}
		if p.ByMethod {
			return s.addMethodsTx(ctx, tx, &r)
		}
		return nil
	})
	return r, err
}

// addMethodsTx tells gross by payment method in the rows of a series and in its totals.
func (s *Reports) addMethodsTx(ctx context.Context, tx pgx.Tx, r *Revenue) error {
	places := map[string]int{}
	r.Totals.ByPaymentMethod = map[string]int64{}
	for i := range r.Data {
		r.Data[i].ByPaymentMethod = map[string]int64{}
		places[r.Data[i].Date] = i
	}
	if len(r.Data) == 0 {
		return nil
	}
	of, err := spanOf(r.Period, r.Data[0].Date, r.Data[len(r.Data)-1].Date)
	if err != nil {
		return err
	}
	rows, err := s.db.RevenueListByMethod(ctx, tx, of)
	if err != nil {
		return fmt.Errorf("read revenue by method: %w", err)
	}
	for _, f := range rows {
		if i, ok := places[f.Date]; ok {
			r.Data[i].ByPaymentMethod[f.PaymentMethod] = f.GrossCents
			r.Totals.ByPaymentMethod[f.PaymentMethod] += f.GrossCents
		}
	}
	return nil
}

// spanOf is the days of a series whose first and last rows these are; its last day is not included.
func spanOf(grain Grain, first, last string) (financedb.RevenueListByMethodParams, error) {
	layout, pattern, months, days := time.DateOnly, "YYYY-MM-DD", 0, 1
	if grain == Monthly {
		layout, pattern, months, days = "2006-01", "YYYY-MM", 1, 0
	}
	from, err := time.Parse(layout, first)
	if err != nil {
		return financedb.RevenueListByMethodParams{}, fmt.Errorf("row %q of a series: %w", first, err)
	}
	to, err := time.Parse(layout, last)
	if err != nil {
		return financedb.RevenueListByMethodParams{}, fmt.Errorf("row %q of a series: %w", last, err)
	}
	to = to.AddDate(0, months, days)
	return financedb.RevenueListByMethodParams{Pattern: pattern, FirstDay: date(&from), EndDay: date(&to)}, nil
}

func (s *Reports) revenueRowsTx(ctx context.Context, tx pgx.Tx,
	p RevenuePeriod,
) ([]financedb.RevenueListByMonthRow, error) {
	first, last := date(p.Start), date(p.End)
	if p.Grain == Monthly {
		return s.db.RevenueListByMonth(ctx, tx, financedb.RevenueListByMonthParams{FirstDay: first, LastDay: last})
	}
	days, err := s.db.RevenueListByDay(ctx, tx, financedb.RevenueListByDayParams{FirstDay: first, LastDay: last})
	rows := make([]financedb.RevenueListByMonthRow, len(days))
	for i, d := range days {
		rows[i] = financedb.RevenueListByMonthRow(d)
	}
	return rows, err
}

func (r *Revenue) add(row RevenueRow) {
	r.Data = append(r.Data, row)
	t := &r.Totals
	t.Gross, t.Refunds, t.Chargebacks, t.Net = t.Gross+row.Gross, t.Refunds+row.Refunds, t.Chargebacks+row.Chargebacks,
		t.Net+row.Net
	t.NewSubscriptions, t.Cancellations = t.NewSubscriptions+row.NewSubscriptions, t.Cancellations+row.Cancellations
}

func date(t *time.Time) pgtype.Date {
	if t == nil {
		return pgtype.Date{}
	}
	return pgtype.Date{Time: *t, Valid: true}
}

type revenueInput struct {
	Period string `query:"period" enum:"monthly,daily" default:"monthly" doc:"Rows of the series"`
	Start  string `query:"start" doc:"First day, YYYY-MM-DD or YYYY-MM; default the first day of the month six months before the end's"`
	By     string `query:"by" enum:"payment_method" doc:"What gross is told by besides its gateways, in by_payment_method"`
	End    string `query:"end" doc:"Last day, included, YYYY-MM-DD, or YYYY-MM for the month's last; default today in REPORT_TZ"`
}

// GetRevenue answers GET /admin/finance/revenue. By month, the months of the first
// and the last day are there whole. 422 for an unknown period, a malformed day, an
// end before the start and a series of more than 1,000 rows.
func (h Handlers) GetRevenue(ctx context.Context, in *revenueInput) (*httpapi.Output[Revenue], error) {
	period, err := h.period(Grain(in.Period), in.Start, in.End)
	if err != nil {
		return nil, err
	}
	period.ByMethod = in.By == "payment_method"
	return output(h.Revenue(ctx, period))
}
