package finance

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"time"

	"github.com/jackc/pgx/v5"

	"marquee/platform/home"
	"marquee/platform/httpapi"
	"marquee/sql/invariants"
)

// invariantList is the route that shows what the last check found.
const invariantList = "invariant_list"

// Routes registers the monitor's operations.
func (m *InvariantMonitor) Routes(api *httpapi.API) {
	h := handlers{m}
	httpapi.Route(api, http.MethodGet, "/admin/invariants", invariantList, httpapi.Admin, h.list,
		httpapi.Summary("What the last check of the invariants found"))
}

type handlers struct{ m *InvariantMonitor }

// invariantReport is the last check.
type invariantReport struct {
	CheckedAt  *httpapi.Time     `json:"checked_at" nullable:"true" doc:"Null before the first check"`
	Invariants []invariantResult `json:"invariants" doc:"By name"`
}

type invariantResult struct {
	Name      string                `json:"name"`
	Meaning   string                `json:"meaning" doc:"What must hold"`
	Findings  int64                 `json:"findings" doc:"What breaks it; 0: it holds"`
	Offenders []invariants.Offender `json:"offenders" doc:"The first 20 of them"`
}

// list answers GET /admin/invariants.
func (h handlers) list(ctx context.Context, _ *struct{}) (*httpapi.Output[invariantReport], error) {
	if err := httpapi.HeadEnds(ctx); err != nil {
		return nil, err
	}
	results, checked, err := h.m.last(ctx)
	if err != nil {
		return nil, err
	}
	return httpapi.OK(invariantReport{CheckedAt: httpapi.TimePtr(checked), Invariants: results})
}

// last reads what the last check found, by name, and when it was; nil: there was none. Invariants that this version
// does not know are left out.
func (m *InvariantMonitor) last(ctx context.Context) (results []invariantResult, checked *time.Time, err error) {
	meanings := map[string]string{}
	for _, inv := range invariants.All() {
		meanings[inv.Name] = inv.Meaning
	}
	rows, err := m.pool.Query(ctx,
		`SELECT name, findings, offenders, checked_at FROM finance.invariant_results ORDER BY name COLLATE "C"`)
	if err != nil {
		return nil, nil, fmt.Errorf("read results of invariants: %w", err)
	}
	results = []invariantResult{}
	var r invariantResult
	var offenders []byte
	var at time.Time
	_, err = pgx.ForEachRow(rows, []any{&r.Name, &r.Findings, &offenders, &at}, func() error {
		if r.Meaning = meanings[r.Name]; r.Meaning == "" {
			return nil
		}
		r.Offenders = nil
		if err := json.Unmarshal(offenders, &r.Offenders); err != nil {
			return err
		}
		if checked == nil || at.After(*checked) {
			newest := at
			checked = &newest
		}
		results = append(results, r)
		return nil
	})
	if err != nil {
		return nil, nil, fmt.Errorf("read results of invariants: %w", err)
	}
	return results, checked, nil
}

// HomeSource is how many invariants the last check found broken; none is checked for it.
func (m *InvariantMonitor) HomeSource() home.Source {
	return home.Source{
		Figures: []home.Figure{{Name: "invariants", Unit: home.Count, Route: invariantList}},
		Read: func(ctx context.Context) (map[string]home.Reading, error) {
			results, checked, err := m.last(ctx)
			if err != nil {
				return nil, err
			}
			found := home.Reading{AsOf: checked}
			for _, r := range results {
				if r.Findings > 0 {
					found.Value++
					found.Items = append(found.Items,
						home.FigureItem{Title: r.Name, Note: r.Meaning, Count: &r.Findings})
				}
			}
			return map[string]home.Reading{"invariants": found}, nil
		},
	}
}
