package finance

import (
	"context"

	"marquee/platform/httpapi"
)

// getOverview answers GET /admin/finance/overview.
func (h handlers) getOverview(ctx context.Context, _ *struct{}) (*httpapi.Output[Overview], error) {
	return output(h.Overview(ctx))
}

type revenueInput struct {
	Period string `query:"period" enum:"monthly,daily" default:"monthly" doc:"Rows of the series"`
	Start  string `query:"start" doc:"First day, YYYY-MM-DD or YYYY-MM; default the first day of the month six months before the end's"`
	End    string `query:"end" doc:"Last day, included, YYYY-MM-DD, or YYYY-MM for the month's last; default today in REPORT_TZ"`
}

// getRevenue answers GET /admin/finance/revenue. By month, the months of the first
// and the last day are there whole. 422 for an unknown period, a malformed day, an
// end before the start and a series of more than 1,000 rows.
func (h handlers) getRevenue(ctx context.Context, in *revenueInput) (*httpapi.Output[Revenue], error) {
	period, err := h.period(Grain(in.Period), in.Start, in.End)
	if err != nil {
		return nil, err
	}
	return output(h.Revenue(ctx, period))
}

// monthsInput is the parameter of what is told for the last months.
type monthsInput struct {
	Months int `query:"months" default:"6" minimum:"1" maximum:"24" doc:"Calendar months of REPORT_TZ, the present one among them"`
}

// getChurn answers GET /admin/finance/churn.
func (h handlers) getChurn(ctx context.Context, in *monthsInput) (*httpapi.Output[Churn], error) {
	return output(h.Churn(ctx, in.Months))
}

// output wraps a body; 503 when it took too long.
func output[T any](body T, err error) (*httpapi.Output[T], error) {
	if err != nil {
		return nil, reported(err)
	}
	return httpapi.OK(body)
}
