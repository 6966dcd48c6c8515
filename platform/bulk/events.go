package bulk

import (
	"context"
	"fmt"

	"github.com/danielgtaylor/huma/v2"

	"marquee/platform/httpapi"
	"marquee/platform/stream"
)

// EventsHandler is the handler name of the stream of a bulk act.
const EventsHandler = "bulk_act_events"

const progressEvent = "bulk_act"

// readStates reads bulk acts that are followed, by their ids.
func (s *Service) readStates(ctx context.Context, ids []string) (map[string]stream.State, error) {
	all, err := listOf(ctx, s.pool, ids)
	if err != nil {
		return nil, err
	}
	states := make(map[string]stream.State, len(all))
	for _, a := range all {
		states[a.ID.String()] = stream.State{
			ID: fmt.Sprintf("%s.%d.%d.%d.%d", a.State, a.Counts.Done, a.Counts.Skipped, a.Counts.Failed,
				a.Counts.Unknown),
			Data: s.bulkOf(a), Ended: a.State != stateRunning,
		}
	}
	return states, nil
}

// Events answers GET /admin/bulk-acts/{id}/events with what GET /admin/bulk-acts/{id} answers, whenever it changes; 404
// for one that is not the caller's.
func (s *Service) Events(ctx context.Context, in *idInput) (*huma.StreamResponse, error) {
	a, err := s.find(ctx, in.ID)
	if err != nil {
		return nil, err
	}
	return s.feed.Serve(ctx, s.api, stream.Target{
		Route: EventsHandler, Key: a.ID.String(), Event: progressEvent,
		May: func(c httpapi.Caller) bool { return c.ID == a.ActorID || c.Root },
	})
}

// EventsDoc documents Events.
func EventsDoc(api *httpapi.API) []httpapi.Option {
	return stream.Doc[Bulk](api, "BulkActEvent", progressEvent)
}
