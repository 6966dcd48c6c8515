package exports

import (
	"context"
	"fmt"

	"github.com/danielgtaylor/huma/v2"

	"marquee/modules/finance/internal/financedb"
	"marquee/platform/httpapi"
	"marquee/platform/stream"
)

// EventsHandler is the handler name of the stream of an export.
const EventsHandler = "export_events"

const progressEvent = "export"

// readStates reads exports that are followed, by their ids.
func (s *Exports) readStates(ctx context.Context, ids []string) (map[string]stream.State, error) {
	all, err := s.db.ExportList(ctx, s.deps.Pool, ids)
	if err != nil {
		return nil, fmt.Errorf("read exports: %w", err)
	}
	states := make(map[string]stream.State, len(all))
	for _, e := range all {
		var total int64
		if e.RowsTotal != nil {
			total = *e.RowsTotal
		}
		states[e.ID.String()] = stream.State{
			ID:   fmt.Sprintf("%s.%d.%d.%d", e.Status, e.Attempt, total, e.RowsWritten),
			Data: e, Ended: e.Status == done || e.Status == failed,
		}
	}
	return states, nil
}

// Progress answers GET /admin/exports/{id}/events with what GET /admin/exports/{id} answers, whenever it changes
// (docs/contract/figures.md, Exports). 422 and 404 as there.
func (h Handlers) Progress(ctx context.Context, in *input) (*huma.StreamResponse, error) {
	reader := httpapi.CallerOf(ctx)
	e, err := h.s.find(ctx, in.ID, reader)
	if err != nil {
		return nil, err
	}
	return h.s.feed.Serve(ctx, h.api, stream.Target{
		Route: EventsHandler, Key: e.ID.String(), Event: progressEvent,
		Render: func(state stream.State) any {
			e, _ := state.Data.(financedb.Export)
			return h.s.stateOf(e, reader.ID)
		},
		May: func(c httpapi.Caller) bool { return mayRead(e, c) },
	})
}

// ProgressDoc documents Progress.
func ProgressDoc(api *httpapi.API) []httpapi.Option {
	return stream.Doc[exportState](api, "ExportEvent", progressEvent)
}

// mayRead reports whether the caller may see the export: their own, or any for root.
func mayRead(e financedb.Export, c httpapi.Caller) bool { return e.RequestedBy == c.ID || c.Root }
