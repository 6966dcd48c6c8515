package board

import (
	"context"
	"net/http"
	"strings"

	"github.com/go-chi/chi/v5"

	"marquee/platform/httpapi"
	"marquee/platform/objectid"
	"marquee/platform/resource"
)

// handlers answers the routes that are not those of a collection. Those that take and give
// file bytes are plain handlers, since huma would hold whole bodies in memory.
type handlers struct {
	s   *Service
	api *httpapi.API
}

// upload is POST /admin/requisitions/{id}/files.
func (h handlers) upload(r *http.Request) (*resource.Response, error) {
	caller, err := h.permitted(uploadHandler)(h.api.Authenticate(r))
	if err != nil {
		return nil, err
	}
	ctx := httpapi.WithCaller(r.Context(), caller)
	id, err := h.s.card(ctx, chi.URLParam(r, "id"))
	if err != nil {
		return nil, err
	}
	up, err := h.s.deps.Files.ReceiveAttachment(r)
	if err != nil {
		return nil, err
	}
	return h.s.attach(ctx, id, up)
}

// postFile writes the answer of upload.
func (h handlers) postFile(w http.ResponseWriter, r *http.Request) {
	response, err := h.upload(r)
	if err != nil {
		h.api.WriteError(r.Context(), w, err)
		return
	}
	w.Header().Set("Content-Type", response.ContentType)
	_, _ = w.Write(response.Body) // the client may be gone
}

// getFile is GET /admin/requisitions/files/{file_id}.
func (h handlers) getFile(w http.ResponseWriter, r *http.Request) {
	if _, err := h.permitted(downloadHandler)(h.downloader(r)); err != nil {
		h.api.WriteError(r.Context(), w, err)
		return
	}
	f, err := h.s.attachment(r.Context(), chi.URLParam(r, "file_id"))
	if err != nil {
		h.api.WriteError(r.Context(), w, err)
		return
	}
	h.s.deps.Files.Serve(w, r, f)
}

// downloader is who stands behind the header, else the query parameter token,
// else archive_token. What is given first has to be good.
func (h handlers) downloader(r *http.Request) (httpapi.Caller, error) {
	scheme, _, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	given := r.URL.Query()
	switch {
	case strings.EqualFold(scheme, "Bearer"):
	case given.Get("token") != "":
		r = r.Clone(r.Context())
		r.Header.Set("Authorization", "Bearer "+given.Get("token"))
	case given.Get("archive_token") != "":
		return h.s.deps.Files.CallerByArchiveToken(r.Context(), given.Get("archive_token"))
	}
	return h.api.Authenticate(r)
}

// permitted lets an admin pass whose profiles hold the handler's name.
func (h handlers) permitted(handler string) func(httpapi.Caller, error) (httpapi.Caller, error) {
	return func(c httpapi.Caller, err error) (httpapi.Caller, error) {
		if err == nil {
			err = httpapi.Allowed(c, httpapi.Admin, handler)
		}
		return c, err
	}
}

type detachInput struct {
	ID     string `path:"id" doc:"The requisition's _id"`
	FileID string `path:"file_id"`
}

// deleteFile is DELETE /admin/requisitions/{id}/files/{file_id}.
func (h handlers) deleteFile(ctx context.Context, in *detachInput) (*resource.Response, error) {
	cardID, err := objectid.Parse(in.ID)
	if err != nil {
		return nil, errNoCard()
	}
	fileID, err := objectid.Parse(in.FileID)
	if err != nil {
		return nil, errNoFile()
	}
	return h.s.detach(ctx, cardID, fileID)
}
