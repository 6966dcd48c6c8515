package reports

import (
	"context"

	"github.com/jackc/pgx/v5"

	"marquee/platform/httpapi"
)

// definitions is the answer of GET /admin/finance/definitions: what each figure
// means, from the view that analysts read too.
type definitions struct {
	TimeZone    string       `json:"time_zone" doc:"REPORT_TZ, in which days and months are those of the calendar"`
	Definitions []definition `json:"definitions"`
}

type definition struct {
	Figure  string `json:"figure"`
	Formula string `json:"formula"`
	Edges   string `json:"edges" doc:"What happens at the edges; empty when nothing does"`
}

// GetDefinitions answers GET /admin/finance/definitions.
func (h Handlers) GetDefinitions(ctx context.Context, _ *struct{}) (*httpapi.Output[definitions], error) {
	var out definitions
	err := h.Snapshot(ctx, reportTimeout, func(ctx context.Context, tx pgx.Tx) (err error) {
		if out.TimeZone, err = h.db.ReportZoneGet(ctx, tx); err != nil {
			return err
		}
		rows, err := h.db.DefinitionList(ctx, tx)
		out.Definitions = make([]definition, len(rows))
		for i, r := range rows {
			out.Definitions[i] = definition{Figure: r.Figure, Formula: r.Formula, Edges: r.Edges}
		}
		return err
	})
	return output(out, err)
}
