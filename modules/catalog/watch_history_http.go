package catalog

import (
	"context"
	"fmt"
	"math"
	"strings"

	"marquee/platform/fault"
	"marquee/platform/httpapi"
	"marquee/platform/objectid"
)

type watchInput struct {
	Body struct {
		VideoID  string  `json:"video_id" pattern:"^[0-9a-fA-F]{24}$" patternDescription:"an id of 24 hexadecimal digits" doc:"The video's _id"`
		Timeline float64 `json:"timeline" minimum:"0" doc:"Seconds from the start"`
		PlayID   string  `json:"play_id,omitempty" pattern:"^[0-9a-fA-F]{24}$" patternDescription:"an id of 24 hexadecimal digits" doc:"The play_id of the stream URL, which goes on with this"`
	}
}

type savedWatch struct {
	Message  string      `json:"message"`
	VideoID  objectid.ID `json:"video_id"`
	Timeline float64     `json:"timeline"`
	Upserted bool        `json:"upserted" doc:"True when there was no entry for the video before"`
	Play     string      `json:"play,omitempty" enum:"live,ended,timed_out" doc:"Whether the play goes on, was ended by its user from anywhere, or was silent for too long; absent without play_id"`
}

// putWatchHistory answers PUT /me/watch-history.
func (h handlers) putWatchHistory(ctx context.Context, in *watchInput) (*httpapi.Output[savedWatch], error) {
	video, err := objectid.Parse(in.Body.VideoID)
	if err != nil {
		return nil, fault.InvalidAt(err.Error(), "body", "video_id")
	}
	play := objectid.ID(strings.ToLower(in.Body.PlayID))
	isNew, state, err := h.s.keepWatched(ctx, httpapi.CallerOf(ctx).ID, video, play, in.Body.Timeline)
	if err != nil {
		return nil, err
	}
	return httpapi.OK(savedWatch{
		Message: "Watch history updated.", VideoID: video, Timeline: math.Abs(in.Body.Timeline), Upserted: isNew,
		Play: state,
	})
}

type watchQuery struct {
	VideoID string `query:"video_id" doc:"The _id of one video; omitted: all of them"`
}

// video is the id asked for, nil for all. An empty one is refused: whoever means
// one video must not lose the history of all.
func (q watchQuery) video(ctx context.Context) (*string, error) {
	if !httpapi.RequestURL(ctx).Query().Has("video_id") {
		return nil, nil
	}
	id, err := objectid.Parse(q.VideoID)
	if err != nil {
		return nil, fault.InvalidAt(err.Error(), "query", "video_id")
	}
	text := id.String()
	return &text, nil
}

type watchList struct {
	WatchHistory []watchEntry `json:"watch_history"`
}

// listWatchHistory answers GET /me/watch-history.
func (h handlers) listWatchHistory(ctx context.Context, in *watchQuery) (*httpapi.Output[watchList], error) {
	video, err := in.video(ctx)
	if err != nil {
		return nil, err
	}
	if err := httpapi.HeadEnds(ctx); err != nil {
		return nil, err
	}
	entries, err := h.s.watched(ctx, h.s.deps.Pool, httpapi.CallerOf(ctx).ID, video)
	if err != nil {
		return nil, err
	}
	return httpapi.OK(watchList{WatchHistory: entries})
}

type watchedInput struct {
	ID   string `path:"id" pattern:"^[0-9a-fA-F]{24}$" patternDescription:"an id of 24 hexadecimal digits" doc:"The customer's _id"`
	Skip int    `query:"skip" minimum:"0" maximum:"100000" default:"0" doc:"Newer ones that are left out"`
	Qty  int    `query:"qty" minimum:"1" maximum:"100" default:"25"`
}

type watchedList struct {
	WatchHistory []watchedVideo `json:"watch_history"`
	More         bool           `json:"more" doc:"There are older ones"`
}

// listWatched answers GET /admin/customers/{id}/watch-history. 404 when there is no such customer or the customer is
// deleted.
func (h handlers) listWatched(ctx context.Context, in *watchedInput) (*httpapi.Output[watchedList], error) {
	id := objectid.ID(strings.ToLower(in.ID))
	known, err := h.s.db.CustomerFind(ctx, h.s.deps.Pool, id)
	if err != nil {
		return nil, fmt.Errorf("find customer: %w", err)
	}
	if !known {
		return nil, fault.NotFound("Customer")
	}
	if err := httpapi.HeadEnds(ctx); err != nil {
		return nil, err
	}
	videos, more, err := h.s.watchedBy(ctx, id, in.Skip, in.Qty)
	if err != nil {
		return nil, err
	}
	return httpapi.OK(watchedList{WatchHistory: videos, More: more})
}

type watchDeleted struct {
	Message      string `json:"message"`
	DeletedCount int64  `json:"deleted_count"`
}

// deleteWatchHistory answers DELETE /me/watch-history.
func (h handlers) deleteWatchHistory(ctx context.Context, in *watchQuery) (*httpapi.Output[watchDeleted], error) {
	video, err := in.video(ctx)
	if err != nil {
		return nil, err
	}
	n, err := h.s.forgetWatched(ctx, h.s.deps.Pool, httpapi.CallerOf(ctx).ID, video)
	if err != nil {
		return nil, err
	}
	said := fmt.Sprintf("%d entries deleted.", n)
	if n == 1 {
		said = "1 entry deleted."
	}
	return httpapi.OK(watchDeleted{Message: said, DeletedCount: n})
}
