package files

import (
	"context"
	"fmt"

	"marquee/platform/fault"
	"marquee/platform/httpapi"
	"marquee/platform/objectid"
)

// Records is one kind of records that files belong to, such as users or videos.
// The module that owns the records fills it.
type Records interface {
	// FileKind is the kind's name in lower case, such as "user". It is stored
	// with every file and never changes.
	FileKind() string
	// FilePlace tells how a file that an admin uploads for the record is kept;
	// ok is false when there is no such record, or none that takes uploads.
	FilePlace(ctx context.Context, recordID objectid.ID) (place Place, ok bool, err error)
	// AbandonedFiles returns those of the files whose record is gone or shows
	// another file in their place. They are deleted.
	AbandonedFiles(ctx context.Context, files []Ref) ([]objectid.ID, error)
}

// Guarded is a kind of records whose Members files do not all open to every
// signed-in user.
type Guarded interface {
	// MayOpenFile says whether a customer may open a file of the kind; the error is
	// the answer.
	MayOpenFile(ctx context.Context, c httpapi.Caller, file Ref) error
}

// Owned is a kind of records of which not every admin may store and delete files.
type Owned interface {
	// MayChangeFiles says whether an admin may store and delete files of the record;
	// the error is the answer.
	MayChangeFiles(ctx context.Context, c httpapi.Caller, recordID objectid.ID) error
}

// Ref names a stored file and its record.
type Ref struct {
	FileID      objectid.ID
	RecordID    objectid.ID
	Purpose     Purpose
	ContentType string
}

// placeOf finds the record that an id names, of whichever kind; 404 when there
// is none.
func (s *Service) placeOf(ctx context.Context, recordID objectid.ID) (Place, error) {
	for kind, records := range s.records {
		place, ok, err := records.FilePlace(ctx, recordID)
		if err != nil {
			return Place{}, fmt.Errorf("look for %s: %w", kind, err)
		}
		if ok {
			place.Kind, place.RecordID = kind, recordID
			return place, nil
		}
	}
	return Place{}, fault.NotFound("Record")
}
