package reports

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"marquee/modules/finance/internal/financedb"
	"marquee/platform/fault"
	"marquee/platform/httpapi"
	"marquee/platform/objectid"
)

type boxOfficeInput struct {
	ID    string `path:"id" doc:"The event's _id"`
	Start string `query:"start" doc:"First day, YYYY-MM-DD, in REPORT_TZ; default the first of the event"`
	End   string `query:"end" doc:"Last day, included; default the last"`
}

// BoxOffice is the answer of GET /events/{id}/box-office (docs/contract/figures.md, Box office). Money in reais.
type BoxOffice struct {
	EventID objectid.ID      `json:"event_id"`
	Title   string           `json:"title"`
	Days    []boxOfficeDay   `json:"days" maxItems:"1000" doc:"Days on which the counter sold or handed back, the latest first"`
	Totals  BoxOfficeFigures `json:"totals" doc:"Of the days asked for"`
}

// BoxOfficeFigures are what a till, or a part of it, took; exported, since huma reads no other embedded fields.
type BoxOfficeFigures struct {
	Sales           int64 `json:"sales" doc:"Orders sold"`
	TicketsSold     int64 `json:"tickets_sold"`
	TicketsRefunded int64 `json:"tickets_refunded"`
	Sold            reais `json:"sold" doc:"Reais"`
	Refunded        reais `json:"refunded" doc:"Handed back, reais"`
	Net             reais `json:"net" doc:"sold - refunded; may be negative"`
}

type boxOfficeDay struct {
	Day string `json:"day" format:"date" doc:"Of REPORT_TZ"`
	BoxOfficeFigures
	Rows []boxOfficeRow `json:"rows" doc:"By method and who sold, or handed back; they add up to the day"`
}

type boxOfficeRow struct {
	Method  string      `json:"method" enum:"cash,card_machine,courtesy"`
	StaffID objectid.ID `json:"staff_id"`
	Staff   string      `json:"staff" doc:"Username of that time"`
	BoxOfficeFigures
}

// GetBoxOffice answers GET /events/{id}/box-office: 422 for a malformed id or day, 404 for an unknown event.
func (h Handlers) GetBoxOffice(ctx context.Context, in *boxOfficeInput) (*document, error) {
	id, err := objectid.Parse(in.ID)
	if err != nil {
		return nil, fault.InvalidAt(err.Error(), "path", "id")
	}
	for name, text := range map[string]string{"start": in.Start, "end": in.End} {
		at, err := time.Parse(time.DateOnly, text)
		if text != "" && (err != nil || at.Year() < FirstYear) {
			return nil, fault.InvalidAt("has to be a day such as 2026-03-15", "query", name)
		}
	}
	if in.End == "" && in.Start > h.today().Format(time.DateOnly) {
		return nil, fault.InvalidAt("has to be no later than today", "query", "start")
	}
	if in.End != "" && in.Start > in.End {
		return nil, fault.InvalidAt("has to be no earlier than start", "query", "end")
	}
	p := financedb.EventGetBoxOfficeParams{EventID: id, FirstDay: in.Start, LastDay: in.End}
	return h.document(httpapi.InFull(ctx), "Event",
		func(ctx context.Context, tx pgx.Tx) ([]byte, error) { return h.db.EventGetBoxOffice(ctx, tx, p) })
}
