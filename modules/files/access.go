package files

import "marquee/platform/httpapi"

// downloadHandler is the permission that opens board attachments
// (specification, Authentication 6).
const downloadHandler = "requisition_file_download"

// May decides whether a signed-in user may open the file. Whoever may not gets
// 404, as for a file that is not there; an admin who lacks the permission for
// attachments gets the specification's 401.
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
