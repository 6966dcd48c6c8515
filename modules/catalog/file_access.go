package catalog

import (
	"context"
	"fmt"

	"marquee/modules/catalog/internal/catalogdb"
	"marquee/modules/files"
	"marquee/platform/fault"
	"marquee/platform/httpapi"
)

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
