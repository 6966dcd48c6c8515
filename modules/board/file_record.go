package board

import (
	"context"
	"fmt"
	"slices"

	"marquee/modules/files"
	"marquee/platform/objectid"
)

// fileKind names cards among the records that files belong to.
const fileKind = "requisition"

// FileRecords tells files what there is to know about attachments.
func (s *Service) FileRecords() files.Records { return fileRecords{s} }

type fileRecords struct{ s *Service }

func (fileRecords) FileKind() string { return fileKind }

// FilePlace knows no card: attachments come by the board's own route, which asks
// for the permission.
func (fileRecords) FilePlace(context.Context, objectid.ID) (files.Place, bool, error) {
	return files.Place{}, false, nil
}

// AbandonedFiles are those that hang on no card.
func (r fileRecords) AbandonedFiles(ctx context.Context, refs []files.Ref) ([]objectid.ID, error) {
	ids := make([]objectid.ID, len(refs))
	for i, ref := range refs {
		ids[i] = ref.FileID
	}
	known, err := r.s.db.AttachmentListKnown(ctx, r.s.deps.Pool, objectid.Strings(ids))
	if err != nil {
		return nil, fmt.Errorf("look for attachments: %w", err)
	}
	return slices.DeleteFunc(ids, func(id objectid.ID) bool { return slices.Contains(known, id) }), nil
}
