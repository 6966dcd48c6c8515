package files

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/jackc/pgx/v5"

	"marquee/modules/files/internal/filesdb"
	"marquee/modules/files/words"
	"marquee/platform/fault"
	"marquee/platform/nullable"
	"marquee/platform/objectid"
	"marquee/platform/postgres"
)

// Purpose is what a file is for; it decides who may open it.
type Purpose = words.Purpose

// The purposes.
const (
	Avatar     = words.Avatar
	EventImage = words.EventImage
	PromoImage = words.PromoImage
	Attachment = words.Attachment
	Record     = words.Record
)

// Visibility is who may open a file.
type Visibility = words.Visibility

// The visibilities.
const (
	Public  = words.Public
	Members = words.Members
	Private = words.Private
	Board   = words.Board
)

// Place says what a file is for and what it belongs to.
type Place struct {
	Purpose    Purpose
	Kind       string      // kind of the record, such as "requisition"
	RecordID   objectid.ID // the record
	Visibility Visibility  // of a Record; default Private. Other purposes have their own.
	ReaderID   objectid.ID // the customer who may read a Private file; "" for admins alone
	CreatedBy  objectid.ID // who uploads; "" for the service itself
}

// visibility is the one that the purpose has, or for a Record the chosen one.
func (p Place) visibility() Visibility {
	switch {
	case p.Purpose == Attachment:
		return Board
	case p.Purpose != Record:
		return Public
	case p.Visibility == "":
		return Private
	}
	return p.Visibility
}

// File is a stored file without its bytes.
type File struct {
	ID          objectid.ID
	Purpose     Purpose
	Visibility  Visibility
	Kind        string
	RecordID    objectid.ID
	ReaderID    objectid.ID // "" for none
	Filename    string      // safe to show: no path, no control characters, at most 255 bytes
	ContentType string
	Size        int64  // bytes
	SHA256      string // hex
	CreatedBy   objectid.ID
	CreatedAt   time.Time
}

// errNoFile answers also where the file is there but not for the caller, so that
// nobody learns which ids exist.
func errNoFile() *fault.Error { return fault.NotFound("File") }

// KeepTx makes a received upload a file of the record, in the caller's
// transaction.
func (s *Service) KeepTx(ctx context.Context, tx pgx.Tx, up Upload, place Place) (File, error) {
	row, err := s.db.FileInsert(ctx, tx, filesdb.FileInsertParams{
		ID: up.ID, Purpose: place.Purpose, Visibility: place.visibility(), OwnerKind: place.Kind,
		OwnerID:  place.RecordID,
		ReaderID: nullable.Ptr(place.ReaderID), Filename: up.Filename, ContentType: up.ContentType, Size: up.Size,
		Sha256:    up.SHA256,
		CreatedBy: nullable.Ptr(place.CreatedBy), CreatedAt: s.deps.Clock.Now(),
	})
	if err != nil {
		return File{}, fmt.Errorf("keep file: %w", err)
	}
	return fileOf(row), nil
}

// StoreTx stores bytes that are at hand, all in the caller's transaction. What a
// client is still sending is taken by ReceiveAttachment first and kept by KeepTx.
func (s *Service) StoreTx(ctx context.Context, tx pgx.Tx, filename, contentType string, src io.Reader,
	place Place,
) (File, error) {
	up, err := s.receive(ctx, tx, filename, contentType, src, 0)
	if err != nil {
		return File{}, err
	}
	return s.KeepTx(ctx, tx, up, place)
}

// StoreImageTx stores an image that ReceiveImage returned.
func (s *Service) StoreImageTx(ctx context.Context, tx pgx.Tx, img Image, place Place) (File, error) {
	return s.StoreTx(ctx, tx, img.Filename, img.ContentType, img.reader(), place)
}

// File returns a file by id, without asking who may see it; 404 when there is
// none.
func (s *Service) File(ctx context.Context, id objectid.ID) (File, error) {
	row, err := s.db.FileGet(ctx, s.deps.Pool, id)
	if postgres.IsNoRows(err) {
		return File{}, errNoFile()
	}
	if err != nil {
		return File{}, fmt.Errorf("read file: %w", err)
	}
	return fileOf(row), nil
}

// FilesOfRecords returns the files of records of one kind, by record and then
// oldest first. db may be a transaction of the caller's.
func (s *Service) FilesOfRecords(ctx context.Context, db postgres.DB, kind string,
	recordIDs ...objectid.ID,
) ([]File, error) {
	rows, err := s.db.FileListOfRecords(ctx, db,
		filesdb.FileListOfRecordsParams{OwnerKind: kind, OwnerIds: objectid.Strings(recordIDs)})
	if err != nil {
		return nil, fmt.Errorf("list files: %w", err)
	}
	files := make([]File, len(rows))
	for i, row := range rows {
		files[i] = fileOf(row)
	}
	return files, nil
}

// DeleteTx deletes a file of the record with its bytes; 404 when the record has
// no such file.
func (s *Service) DeleteTx(ctx context.Context, tx pgx.Tx, kind string, recordID, fileID objectid.ID) error {
	n, err := s.db.FileDelete(ctx, tx, filesdb.FileDeleteParams{ID: fileID, OwnerKind: kind, OwnerID: recordID})
	if err != nil {
		return fmt.Errorf("delete file: %w", err)
	}
	if n == 0 {
		return errNoFile()
	}
	return nil
}

// DeleteOfRecordTx deletes all files of a record. Whoever deletes the record
// calls it in the same transaction.
func (s *Service) DeleteOfRecordTx(ctx context.Context, tx pgx.Tx, kind string, recordID objectid.ID) error {
	return s.DeletePurposeTx(ctx, tx, kind, recordID, "")
}

// DeletePurposeTx deletes the files that a record has for one purpose, such as
// the old avatar before the new one.
func (s *Service) DeletePurposeTx(ctx context.Context, tx pgx.Tx, kind string, recordID objectid.ID,
	purpose Purpose,
) error {
	_, err := s.db.FileDeleteOfRecord(ctx, tx,
		filesdb.FileDeleteOfRecordParams{OwnerKind: kind, OwnerID: recordID, Purpose: string(purpose)})
	if err != nil {
		return fmt.Errorf("delete files of %s: %w", kind, err)
	}
	return nil
}

func fileOf(row filesdb.File) File {
	return File{
		ID: row.ID, Purpose: row.Purpose, Visibility: row.Visibility, Kind: row.OwnerKind,
		RecordID: row.OwnerID,
		ReaderID: nullable.Value(row.ReaderID), Filename: row.Filename, ContentType: row.ContentType, Size: row.Size,
		SHA256:    row.Sha256,
		CreatedBy: nullable.Value(row.CreatedBy), CreatedAt: row.CreatedAt,
	}
}
