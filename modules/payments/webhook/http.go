package webhook

import (
	"context"
	"net/http"
	"time"

	"marquee/modules/payments/gateway"
	"marquee/platform/fault"
	"marquee/platform/httpapi"
	"marquee/platform/objectid"
	"marquee/platform/tracing"
)

// webhookTime is what a gateway waits for us (10 s at gateway A), less the way.
const webhookTime = 9 * time.Second

// Handlers answers the room's routes.
type Handlers struct {
	webhooks *Webhooks
	log      *Log
}

// NewHandlers makes them.
func NewHandlers(s *Webhooks, l *Log) Handlers { return Handlers{webhooks: s, log: l} }

// Receive answers a gateway: 401 for what it did not send, else 200 with the
// result, also when applying failed (docs/contract/payments.md, Webhooks). Only when nothing
// could be stored does it answer 503, so that the gateway sends the event again.
func (h Handlers) Receive(api *httpapi.API, name gateway.Name) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		// The work outlives a gateway that hangs up: it is done or not, never half known.
		ctx, cancel := context.WithTimeout(context.WithoutCancel(r.Context()), webhookTime)
		defer cancel()
		response, err := h.webhooks.take(ctx, w, r, name)
		h.webhooks.metrics.count(name, response, err)
		tracing.Annotate(ctx, "webhook.result", resultOf(response, err))
		if err != nil {
			api.WriteError(r.Context(), w, err)
			return
		}
		httpapi.WriteJSON(w, http.StatusOK, response)
	}
}

type webhookStatsInput struct {
	Start string `query:"start" doc:"First instant or day (UTC) of receipt; default from the beginning"`
	End   string `query:"end" doc:"Instant before which, or last day (UTC) on which, calls were received; default now"`
}

// Stats answers GET /webhook-logs/stats.
func (h Handlers) Stats(ctx context.Context, in *webhookStatsInput) (*httpapi.Output[webhookStats], error) {
	from, err := bound("start", in.Start, 0)
	if err != nil {
		return nil, err
	}
	to, err := bound("end", in.End, 24*time.Hour)
	if err != nil {
		return nil, err
	}
	if from != nil && to != nil && !from.Before(*to) {
		return nil, fault.InvalidAt("has to be after start", "query", "end")
	}
	if err := httpapi.HeadEnds(ctx); err != nil {
		return nil, err
	}
	stats, err := h.log.stats(ctx, from, to)
	if err != nil {
		return nil, err
	}
	return httpapi.OK(stats)
}

// bound reads a bound in time; a bare day is moved by wholeDay, so that the last
// day is inside.
func bound(name, text string, wholeDay time.Duration) (*time.Time, error) {
	if text == "" {
		return nil, nil //nolint:nilnil // no bound
	}
	at, err := httpapi.ParseTime(text)
	if err != nil {
		return nil, fault.InvalidAt("has to be a day or an instant", "query", name)
	}
	if len(text) == len(time.DateOnly) {
		at = at.Add(wholeDay)
	}
	return &at, nil
}

type replayInput struct {
	ID     string `path:"id" pattern:"^[0-9a-fA-F]{24}$" patternDescription:"an id of 24 hexadecimal digits"`
	DryRun string `query:"dry_run" enum:"0,1,false,true" doc:"1: apply, show what would change, and take everything back"`
}

// Replay answers POST /webhook-logs/{id}/replay.
func (h Handlers) Replay(ctx context.Context, in *replayInput) (*httpapi.Output[replayResponse], error) {
	id, err := objectid.Parse(in.ID)
	if err != nil {
		return nil, fault.InvalidAt("has to be an id of 24 hexadecimal digits", "path", "id")
	}
	response, err := h.webhooks.replay(ctx, id, in.DryRun == "1" || in.DryRun == "true")
	if err != nil {
		return nil, err
	}
	return httpapi.OK(response)
}
