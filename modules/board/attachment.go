package board

import (
	"context"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"

	"marquee/modules/board/internal/boarddb"
	"marquee/modules/files"
	"marquee/platform/fault"
	"marquee/platform/httpapi"
	"marquee/platform/objectid"
	"marquee/platform/postgres"
	"marquee/platform/resource"
)

// attach makes an upload an attachment of the card and returns the card. 404 when
// the card is gone; the upload is then swept.
func (s *Service) attach(ctx context.Context, cardID objectid.ID, up files.Upload) (*resource.Response, error) {
	return s.changeFiles(ctx, cardID, func(tx pgx.Tx) error {
		f, err := s.deps.Files.KeepTx(ctx, tx, up, files.Place{
			Purpose: files.Attachment, Kind: fileKind, RecordID: cardID, CreatedBy: httpapi.CallerOf(ctx).ID,
		})
		if err != nil {
			return err
		}
		err = s.db.AttachmentInsert(ctx, tx, boarddb.AttachmentInsertParams{
			FileID: f.ID, RequisitionID: cardID, Filename: f.Filename, ContentType: f.ContentType, Size: f.Size,
			AttachedAt: f.CreatedAt,
		})
		if err != nil {
			return fmt.Errorf("attach file: %w", err)
		}
		return nil
	})
}

// detach takes an attachment off the card, deletes the file, and returns the
// card; 404 when the file is not on it.
func (s *Service) detach(ctx context.Context, cardID, fileID objectid.ID) (*resource.Response, error) {
	return s.changeFiles(ctx, cardID, func(tx pgx.Tx) error {
		n, err := s.db.AttachmentDelete(ctx, tx, boarddb.AttachmentDeleteParams{FileID: fileID, RequisitionID: cardID})
		if err != nil {
			return fmt.Errorf("detach file: %w", err)
		}
		if n == 0 {
			return errNoFile()
		}
		return s.deps.Files.DeleteTx(ctx, tx, fileKind, cardID, fileID)
	})
}

// changeFiles runs a change of what hangs on a card, under the card's lock, and
// writes it into the audit trail.
func (s *Service) changeFiles(ctx context.Context, cardID objectid.ID,
	change func(tx pgx.Tx) error,
) (response *resource.Response, err error) {
	err = postgres.InTx(ctx, s.deps.Pool, func(tx pgx.Tx) error {
		n, err := s.db.RequisitionTouch(ctx, tx, boarddb.RequisitionTouchParams{ID: cardID, Now: s.deps.Clock.Now()})
		if err != nil {
			return fmt.Errorf("date requisition: %w", err)
		}
		if n == 0 {
			return errNoCard()
		}
		if err := s.cards.AuditTx(ctx, tx, []objectid.ID{cardID}, func() error { return change(tx) }); err != nil {
			return err
		}
		response, err = s.cards.One(ctx, tx, cardID)
		return err
	})
	return response, err
}

// attachment returns the stored file that an id of a path names; 404 when it
// belongs to no card, whatever else it may belong to.
func (s *Service) attachment(ctx context.Context, text string) (files.File, error) {
	id, err := objectid.Parse(text)
	if err != nil {
		return files.File{}, errNoFile()
	}
	there, err := s.db.AttachmentExists(ctx, s.deps.Pool, id)
	if err != nil {
		return files.File{}, fmt.Errorf("look for attachment: %w", err)
	}
	if !there {
		return files.File{}, errNoFile()
	}
	return s.deps.Files.File(ctx, id)
}

func errNoFile() *fault.Error { return fault.NotFound("File") }

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
