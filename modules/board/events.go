package board

import (
	"context"

	"github.com/danielgtaylor/huma/v2"

	"marquee/platform/httpapi"
	"marquee/platform/stream"
)

const (
	eventsHandler = "requisition_events"
	// changed is the name of the board's event.
	changed = "board"
)

// boardState is what an event of the board says.
type boardState struct {
	Requisitions int64 `json:"requisitions" doc:"Cards of the board"`
	Columns      int64 `json:"columns"`
}

// readState reads the board's state, whatever the keys: there is one board.
func (s *Service) readState(ctx context.Context, keys []string) (map[string]stream.State, error) {
	row, err := s.db.BoardStateGet(ctx, s.deps.Pool)
	if err != nil {
		return nil, err
	}
	now := boardState{Requisitions: row.Requisitions, Columns: row.Columns}
	states := make(map[string]stream.State, len(keys))
	for _, key := range keys {
		states[key] = stream.State{ID: row.State, Data: now}
	}
	return states, nil
}

// events answers GET /admin/requisitions/events (docs/contract/board.md, Changes).
func (h handlers) events(ctx context.Context, _ *struct{}) (*huma.StreamResponse, error) {
	return h.s.feed.Serve(ctx, h.api, stream.Target{Route: eventsHandler, Event: changed, Lists: true})
}

func eventsDoc(api *httpapi.API) []httpapi.Option {
	return append(stream.Doc[boardState](api, "BoardEvent", changed), httpapi.Summary("When the board changes"),
		httpapi.PermissionOf(getHandler))
}
