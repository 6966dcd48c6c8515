package catalog

import (
	"context"
	"fmt"
	"math"

	"github.com/jackc/pgx/v5"

	"marquee/modules/catalog/internal/catalogdb"
	"marquee/modules/catalog/plays"
	"marquee/platform/fault"
	"marquee/platform/httpapi"
	"marquee/platform/nullable"
	"marquee/platform/objectid"
	"marquee/platform/postgres"
)

// watchEntry is how far a user has watched a video (docs/contract/catalogue.md, Watch history).
type watchEntry struct {
	VideoID   objectid.ID  `json:"video_id" doc:"The video's _id"`
	Timeline  float64      `json:"timeline" doc:"Seconds from the start"`
	UpdatedAt httpapi.Time `json:"updated_at"`
}

// keepWatched notes how far the user has watched the video, in seconds, and reports whether nothing was noted of it
// before, and how the play stands that goes on with it ("" for none). 404 for an unknown video.
func (s *Service) keepWatched(ctx context.Context, user, video, play objectid.ID, timeline float64) (
	isNew bool, state string, err error,
) {
	now := s.deps.Clock.Now()
	row, err := s.db.WatchHistoryPut(ctx, s.deps.Pool, catalogdb.WatchHistoryPutParams{
		// Abs makes the -0 that JSON allows a 0.
		UserID: user, VideoID: video, Timeline: math.Abs(timeline), Now: now,
		PlayID: nullable.Ptr(play.String()), SilentSince: now.Add(-plays.Silence),
	})
	if postgres.Constraint(err) == "watch_history_video_known" {
		return false, "", errNoVideo()
	}
	if err != nil {
		return false, "", fmt.Errorf("keep watch history: %w", err)
	}
	switch {
	case play == "":
		return row.Upserted, "", nil
	case row.PlayGoesOn:
		return row.Upserted, plays.Live, nil
	case row.PlayWasEnded:
		return row.Upserted, plays.Ended, nil
	}
	return row.Upserted, plays.TimedOut, nil
}

// watched returns the user's history, newest first; video narrows it to one.
func (s *Service) watched(ctx context.Context, db postgres.DB, user objectid.ID, video *string) ([]watchEntry, error) {
	rows, err := s.db.WatchHistoryList(ctx, db, catalogdb.WatchHistoryListParams{UserID: user, VideoID: video})
	if err != nil {
		return nil, fmt.Errorf("read watch history: %w", err)
	}
	entries := make([]watchEntry, len(rows))
	for i, row := range rows {
		entries[i] = watchEntry{VideoID: row.VideoID, Timeline: row.Timeline, UpdatedAt: httpapi.Time(row.UpdatedAt)}
	}
	return entries, nil
}

// watchedVideo is a watchEntry with what its video is called.
type watchedVideo struct {
	VideoID   objectid.ID  `json:"video_id" doc:"The video's _id"`
	Title     string       `json:"title"`
	Duration  int32        `json:"duration" doc:"Minutes"`
	Timeline  float64      `json:"timeline" doc:"Seconds from the start"`
	UpdatedAt httpapi.Time `json:"updated_at"`
}

// watchedBy returns qty of what the customer has watched, newest first, behind the first skip, and whether there is
// more.
func (s *Service) watchedBy(ctx context.Context, user objectid.ID, skip, qty int) (
	page []watchedVideo, more bool, err error,
) {
	rows, err := s.db.WatchHistoryListOfCustomer(ctx, s.deps.Pool, catalogdb.WatchHistoryListOfCustomerParams{
		UserID: user, Skip: int32(skip), Qty: int32(qty + 1), //nolint:gosec // both are bounded
	})
	if err != nil {
		return nil, false, fmt.Errorf("read watch history: %w", err)
	}
	page = make([]watchedVideo, min(qty, len(rows)))
	for i, row := range rows[:len(page)] {
		page[i] = watchedVideo{
			VideoID: row.VideoID, Title: row.Title, Duration: row.Duration, Timeline: row.Timeline,
			UpdatedAt: httpapi.Time(row.UpdatedAt),
		}
	}
	return page, len(rows) > qty, nil
}

// forgetWatched deletes the user's history and counts what it deleted; video
// narrows it to one.
func (s *Service) forgetWatched(ctx context.Context, db postgres.DB, user objectid.ID, video *string) (int64, error) {
	n, err := s.db.WatchHistoryDelete(ctx, db, catalogdb.WatchHistoryDeleteParams{UserID: user, VideoID: video})
	if err != nil {
		return 0, fmt.Errorf("delete watch history: %w", err)
	}
	return n, nil
}

// PersonalDataName names this module's part of the customer's data.
func (*Service) PersonalDataName() string { return "watch_history" }

// PersonalData returns what the customer has watched, newest first.
func (s *Service) PersonalData(ctx context.Context, db postgres.DB, customerID objectid.ID, _ bool) (any, error) {
	return s.watched(ctx, db, customerID, nil)
}

// ErasePersonalDataTx removes what a deleted customer has watched.
func (s *Service) ErasePersonalDataTx(ctx context.Context, tx pgx.Tx, customerID objectid.ID) error {
	_, err := s.forgetWatched(ctx, tx, customerID, nil)
	return err
}

func errNoVideo() error { return fault.NotFound("Video") }
