package files

import (
	"net/http"
	"strings"

	"github.com/go-chi/chi/v5"
	"github.com/jackc/pgx/v5"

	"marquee/platform/audit"
	"marquee/platform/fault"
	"marquee/platform/httpapi"
	"marquee/platform/objectid"
	"marquee/platform/postgres"
)

// Cache-Control of file answers. A file's bytes never change under its id.
const (
	cachePublic  = "public, max-age=31536000, immutable"
	cachePrivate = "private, no-cache" // kept by the browser, asked for again with its entity tag
)

// sandbox keeps a file that a browser opens as a page from running scripts,
// loading anything or reaching the API's origin.
const sandbox = "default-src 'none'; img-src 'self' data:; style-src 'unsafe-inline'; object-src 'none'; base-uri 'none'; frame-ancestors 'none'; sandbox"

// Serve answers with the bytes of a file that the caller has been found to be
// allowed to see: ranges, entity tag, Content-Disposition.
func (s *Service) Serve(w http.ResponseWriter, r *http.Request, f File) {
	s.serve(w, r, f, cachePrivate)
}

func (s *Service) serve(w http.ResponseWriter, r *http.Request, f File, cache string) {
	kind := "attachment"
	if isInline(f.ContentType) {
		kind = "inline"
	}
	h := w.Header()
	h.Set("Content-Type", f.ContentType)
	h.Set("Content-Disposition", kind)
	if f.Visibility != Public { // what people call their pictures is nobody's business
		h.Set("Content-Disposition", disposition(kind, f.Filename))
	}
	h.Set("Content-Security-Policy", sandbox)
	h.Set("Cache-Control", cache)
	h.Set("ETag", `"`+entityTag(f)+`"`)
	httpapi.ServeContent(w, r, f.CreatedAt, s.Open(httpapi.Sending(r.Context()), f))
}

// entityTag is the head of the content's hash, enough to tell contents apart.
func entityTag(f File) string { return f.SHA256[:32] }

// get is GET /archive-records/{file_id}: the access token stands in the header
// or in the query parameter token.
func (h handlers) get(w http.ResponseWriter, r *http.Request) error {
	caller, err := h.api.Authenticate(withQueryToken(r))
	if err != nil {
		return err
	}
	f, err := h.visible(r, chi.URLParam(r, "file_id"), caller)
	if err != nil {
		return err
	}
	h.s.Serve(w, r, f)
	return nil
}

// withQueryToken puts an access token from the query where Authenticate looks,
// unless the header holds one.
func withQueryToken(r *http.Request) *http.Request {
	token := r.URL.Query().Get("token")
	if token == "" || hasBearer(r) {
		return r
	}
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+token)
	return r
}

func hasBearer(r *http.Request) bool {
	scheme, _, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	return strings.EqualFold(scheme, "Bearer")
}

// getPublic is GET /archive-records-public/{archive_token}: with f the path
// holds an archive token, without it a public id.
func (h handlers) getPublic(w http.ResponseWriter, r *http.Request) error {
	text := chi.URLParam(r, "archive_token")
	if !r.URL.Query().Has("f") {
		return h.getByPublicID(w, r, text)
	}
	caller, err := h.s.CallerByArchiveToken(r.Context(), text)
	if err != nil {
		return err
	}
	f, err := h.visible(r, r.URL.Query().Get("f"), caller)
	if err != nil {
		return err
	}
	h.s.Serve(w, r, f)
	return nil
}

// getByPublicID opens what is public by purpose, and nothing else even if an id
// of it was encrypted.
func (h handlers) getByPublicID(w http.ResponseWriter, r *http.Request, public string) error {
	id, ok := h.s.public.open(public)
	if !ok {
		return errNoFile()
	}
	f, err := h.s.File(r.Context(), id)
	if err != nil {
		return err
	}
	if f.Visibility != Public {
		return errNoFile()
	}
	h.s.serve(w, r, f, cachePublic)
	return nil
}

// visible returns the file if the caller may see it.
func (h handlers) visible(r *http.Request, fileID string, caller httpapi.Caller) (File, error) {
	id, err := objectid.Parse(fileID)
	if err != nil {
		return File{}, errNoFile()
	}
	f, err := h.s.File(r.Context(), id)
	if err != nil {
		return File{}, err
	}
	return f, h.s.allow(r.Context(), f, caller)
}

// admin returns the caller if they are an admin.
func (h handlers) admin(r *http.Request) (httpapi.Caller, error) {
	caller, err := h.api.Authenticate(r)
	if err != nil {
		return httpapi.Caller{}, err
	}
	return caller, httpapi.Allowed(caller, httpapi.Admin, "")
}

// upload is POST /upload-file/archive-records/{id}.
func (h handlers) upload(w http.ResponseWriter, r *http.Request) error {
	caller, err := h.admin(r)
	if err != nil {
		return err
	}
	recordID, err := objectid.Parse(chi.URLParam(r, "id"))
	if err != nil {
		return fault.NotFound("Record")
	}
	place, err := h.s.placeOf(r.Context(), recordID)
	if err != nil {
		return err
	}
	if err := h.s.allowChange(r.Context(), place.Kind, recordID, caller); err != nil {
		return err
	}
	place.CreatedBy = caller.ID
	f, err := h.s.take(r.WithContext(httpapi.WithCaller(r.Context(), caller)), place)
	if err != nil {
		return err
	}
	httpapi.WriteJSON(w, http.StatusOK, uploaded{
		FileID: f.ID.String(), Filename: f.Filename, ContentType: f.ContentType, Size: f.Size,
	})
	return nil
}

// take receives and keeps the file of a request. What will be shown to everybody
// has to be an image, and is written anew like one sent to an image route.
func (s *Service) take(r *http.Request, place Place) (f File, err error) {
	ctx := r.Context()
	var keep func(tx pgx.Tx) (File, error)
	if place.visibility() == Public {
		var img Image
		img, err = s.ReceiveImage(r)
		keep = func(tx pgx.Tx) (File, error) { return s.StoreImageTx(ctx, tx, img, place) }
	} else {
		var up Upload
		up, err = s.ReceiveAttachment(r)
		keep = func(tx pgx.Tx) (File, error) { return s.KeepTx(ctx, tx, up, place) }
	}
	if err != nil {
		return File{}, err
	}
	err = postgres.InTx(ctx, s.deps.Pool, func(tx pgx.Tx) error {
		if f, err = keep(tx); err != nil {
			return err
		}
		return audit.RecordTx(ctx, tx, audit.Change{Resource: auditedAs, RecordID: f.ID, After: auditDocOf(f)})
	})
	return f, err
}

// auditedAs is what the audit trail calls files.
const auditedAs = "files"

// auditDoc is a file as the audit trail shows it.
type auditDoc struct {
	RecordKind  string      `json:"record_kind"`
	RecordID    objectid.ID `json:"record_id"`
	Filename    string      `json:"filename"`
	ContentType string      `json:"content_type"`
	Size        int64       `json:"size"`
	SHA256      string      `json:"sha256"`
}

func auditDocOf(f File) auditDoc {
	return auditDoc{
		RecordKind: f.Kind, RecordID: f.RecordID, Filename: f.Filename, ContentType: f.ContentType, Size: f.Size,
		SHA256: f.SHA256,
	}
}

// remove is DELETE /upload-file/archive-records/{id}/{file_id}. Avatars and
// board attachments are deleted at their own routes, which keep what points to
// them.
func (h handlers) remove(w http.ResponseWriter, r *http.Request) error {
	caller, err := h.admin(r)
	if err != nil {
		return err
	}
	ctx := httpapi.WithCaller(r.Context(), caller)
	recordID, err := objectid.Parse(chi.URLParam(r, "id"))
	fileID, fileErr := objectid.Parse(chi.URLParam(r, "file_id"))
	if err != nil || fileErr != nil {
		return errNoFile()
	}
	f, err := h.s.File(ctx, fileID)
	if err != nil {
		return err
	}
	if f.RecordID != recordID || f.Purpose == Avatar || f.Purpose == Attachment {
		return errNoFile()
	}
	if err := h.s.allowChange(ctx, f.Kind, recordID, caller); err != nil {
		return err
	}
	err = postgres.InTx(ctx, h.s.deps.Pool, func(tx pgx.Tx) error {
		if err := h.s.DeleteTx(ctx, tx, f.Kind, recordID, fileID); err != nil {
			return err
		}
		return audit.RecordTx(ctx, tx, audit.Change{Resource: auditedAs, RecordID: fileID, Before: auditDocOf(f)})
	})
	if err != nil {
		return err
	}
	httpapi.WriteJSON(w, http.StatusOK, message{Message: "File deleted."})
	return nil
}
