package catalog

import (
	"context"
	"fmt"
	"time"

	"marquee/modules/files"
	"marquee/platform/fault"
	"marquee/platform/httpapi"
	"marquee/platform/postgres"
)

// videoFiles are the files of videos: thumbnails, and whatever else an admin keeps
// with a video, the film among it.
type videoFiles struct{ fileRecords }

// fileAccessSQL is written by hand because it travels with the question who may
// watch. A thumbnail may be shared: another video than the one it was uploaded for
// may show it. It is a picture, and no video's film: a film, captions or an extra that a
// video takes for its thumbnail stay what they are. $1 the file, $2 the video that it
// belongs to, $3 its content type.
const fileAccessSQL = `SELECT
    EXISTS (SELECT 1 FROM catalog.videos WHERE ARRAY[
        thumbnail_horizontal::text, thumbnail_horizontal_name_less::text, thumbnail_vertical::text, thumbnail_vertical_name_less::text
    ] @> ARRAY[$1::text]) AND $3::text LIKE 'image/%'
        AND NOT EXISTS (SELECT 1 FROM catalog.videos WHERE video_gridfs_id = $1) AS thumbnail,
    coalesce((SELECT enable FROM catalog.videos WHERE id = $2), false) AS enable,
    (SELECT expiration_date FROM catalog.videos WHERE id = $2) AS expiration_date`

// MayOpenFile lets every customer see thumbnails. Any other file of a video asks
// what its stream URL asks: 403 without an active subscription, 404 for a file of
// a video that is gone, disabled or expired.
func (v videoFiles) MayOpenFile(ctx context.Context, c httpapi.Caller, file files.Ref) error {
	var thumbnail, active, enable bool
	var expiration *time.Time
	now := v.s.deps.Clock.Now()
	err := postgres.Parts{
		v.s.deps.Access.AccessPart(c.ID, now, func(may bool) { active = may }),
		{SQL: fileAccessSQL, Args: []any{file.FileID, file.RecordID, file.ContentType}, Targets: []any{&thumbnail, &enable, &expiration}, Done: func() {}},
	}.Ask(ctx, v.s.deps.Pool)
	switch {
	case err != nil:
		return fmt.Errorf("ask who opens a file of a video: %w", err)
	case thumbnail:
		return nil
	case !active:
		return errNoSubscription()
	case !(stream{enable: &enable, expiration: expiration}).open(now):
		return fault.NotFound("File")
	}
	return nil
}
