package files

import (
	"context"

	"marquee/platform/httpapi"
	"marquee/platform/objectid"
)

// downloadHandler is the permission that opens board attachments
// (docs/contract/board.md, Attachments).
const downloadHandler = "requisition_file_download"

// allow decides whether a signed-in user may open the file. It comes before any
// byte, entity tag or size of it is told.
func (s *Service) allow(ctx context.Context, f File, c httpapi.Caller) error {
	if err := f.May(c); err != nil || f.Visibility != Members || c.IsAdmin() {
		return err
	}
	if guarded, ok := s.records[f.Kind].(Guarded); ok {
		return guarded.MayOpenFile(ctx, c, Ref{
			FileID: f.ID, RecordID: f.RecordID, Purpose: f.Purpose, ContentType: f.ContentType,
		})
	}
	return nil
}

// allowChange decides whether an admin may store and delete files of a record, before
// a byte of an upload is read.
func (s *Service) allowChange(ctx context.Context, kind string, recordID objectid.ID, c httpapi.Caller) error {
	if owned, ok := s.records[kind].(Owned); ok {
		return owned.MayChangeFiles(ctx, c, recordID)
	}
	return nil
}

// May decides by the file's visibility alone whether a signed-in user may open the file. Whoever may not gets
// 404, as for a file that is not there; an admin who lacks the permission for
// attachments gets 401 (docs/contract/accounts.md, Profiles).
func (f File) May(c httpapi.Caller) error {
	switch {
	case c.Root, f.Visibility == Public, f.Visibility == Members:
		return nil
	case f.Visibility == Board && c.IsAdmin():
		return httpapi.Allowed(c, httpapi.Admin, downloadHandler)
	case f.Visibility == Private && (c.IsAdmin() || f.ReaderID != "" && f.ReaderID == c.ID):
		return nil
	}
	return errNoFile()
}
