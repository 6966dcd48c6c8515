package catalog

import (
	"context"
	"fmt"

	"marquee/modules/catalog/internal/catalogdb"
	"marquee/modules/files"
	"marquee/platform/fault"
	"marquee/platform/httpapi"
	"marquee/platform/objectid"
)

// videoKind is how files know videos.
const videoKind = "video"

// FileRecords tells files what there is to know about files of the catalogue:
// every signed-in user may see them, but for those of videos that are no
// thumbnails.
func (s *Service) FileRecords() []files.Records {
	all := []files.Records{videoFiles{fileRecords{s: s, kind: videoKind}}}
	for _, kind := range []string{"category", "tag", "season"} {
		all = append(all, fileRecords{s: s, kind: kind})
	}
	return all
}

type fileRecords struct {
	s    *Service
	kind string
}

func (r fileRecords) FileKind() string { return r.kind }

// FilePlace opens a file of a record to every signed-in user: a catalogue is
// shown before anybody subscribes. Those of videos are guarded by MayOpenFile.
func (r fileRecords) FilePlace(ctx context.Context, id objectid.ID) (files.Place, bool, error) {
	there, err := r.existing(ctx, id)
	return files.Place{Purpose: files.Record, Visibility: files.Members}, there[id], err
}

// AbandonedFiles are those of records that are gone. Files of videos never are:
// the contract leaves them to the file routes (docs/contract/catalogue.md, Videos),
// and another video may show the same thumbnail.
func (r fileRecords) AbandonedFiles(ctx context.Context, refs []files.Ref) ([]objectid.ID, error) {
	if r.kind == videoKind {
		return nil, nil
	}
	ids := make([]objectid.ID, len(refs))
	for i, ref := range refs {
		ids[i] = ref.RecordID
	}
	there, err := r.existing(ctx, ids...)
	if err != nil {
		return nil, err
	}
	var gone []objectid.ID
	for _, ref := range refs {
		if !there[ref.RecordID] {
			gone = append(gone, ref.FileID)
		}
	}
	return gone, nil
}

func (r fileRecords) existing(ctx context.Context, ids ...objectid.ID) (map[objectid.ID]bool, error) {
	rows, err := catalogdb.New().RecordList(ctx, r.s.deps.Pool, objectid.Strings(ids))
	if err != nil {
		return nil, fmt.Errorf("look for records: %w", err)
	}
	there := make(map[objectid.ID]bool, len(rows))
	for _, row := range rows {
		if row.Kind == r.kind {
			there[row.ID] = true
		}
	}
	return there, nil
}

// videoFiles are the files of videos: thumbnails, and whatever else an admin keeps
// with a video, the film among it.
type videoFiles struct{ fileRecords }

// MayOpenFile lets every customer see thumbnails. Any other file of a video asks
// what its stream URL asks: 403 without an active subscription, 404 for a file of
// a video that is gone, disabled or expired.
func (v videoFiles) MayOpenFile(ctx context.Context, c httpapi.Caller, file files.Ref) error {
	now := v.s.deps.Clock.Now()
	read, err := v.s.db.ViewerReadFile(ctx, v.s.deps.Pool, catalogdb.ViewerReadFileParams{
		UserID: c.ID, Now: now, FileID: string(file.FileID), VideoID: file.RecordID, ContentType: file.ContentType,
	})
	switch {
	case err != nil:
		return fmt.Errorf("read who opens a file of a video: %w", err)
	case read.IsThumbnail:
		return nil
	case !read.HasAccess:
		return errNoSubscription()
	case !isVisible(read.Enable, read.ExpirationDate, now):
		return fault.NotFound("File")
	}
	return nil
}
