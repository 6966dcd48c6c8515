package events

import (
	"context"

	"marquee/modules/files"
	"marquee/platform/objectid"
)

// FileRecords are the kinds of records of this module that files belong to.
func (s *Store) FileRecords() []files.Records { return []files.Records{eventImages{s}} }

// eventImages tells the module files about the images of events: an admin
// uploads one for the event's id and then names it in image_id.
type eventImages struct{ s *Store }

// FileKind names the records.
func (eventImages) FileKind() string { return "event" }

// FilePlace makes uploads for an event its public image.
func (i eventImages) FilePlace(ctx context.Context, id objectid.ID) (files.Place, bool, error) {
	n, err := i.s.db.EventExists(ctx, i.s.deps.Pool, id)
	return files.Place{Purpose: files.EventImage}, n, err
}

// AbandonedFiles are images of events that are gone or show another one, unless
// another event shows them.
func (i eventImages) AbandonedFiles(ctx context.Context, refs []files.Ref) ([]objectid.ID, error) {
	ids := make([]string, len(refs))
	for n, ref := range refs {
		ids[n] = ref.FileID.String()
	}
	images, err := i.s.db.EventListImages(ctx, i.s.deps.Pool, ids)
	if err != nil {
		return nil, err
	}
	used := map[objectid.ID]bool{}
	for _, id := range images {
		used[id] = true
	}
	var gone []objectid.ID
	for _, ref := range refs {
		if !used[ref.FileID] {
			gone = append(gone, ref.FileID)
		}
	}
	return gone, nil
}
