package files

import (
	"net/http"

	"marquee/platform/httpapi"
)

// handlers answer with file bytes, or take them: plain handlers, since huma
// would hold whole bodies in memory.
type handlers struct {
	s   *Service
	api *httpapi.API
}

// Routes registers the module's operations.
func (s *Service) Routes(api *httpapi.API) {
	h := handlers{s: s, api: api}
	h.mount(http.MethodGet, "/archive-records-public/{archive_token}", "archive_record_public_get", httpapi.Public,
		h.getPublic,
		"A file by archive token and f, or an event or promo image by its public id alone", bytesContent,
		pathText("archive_token"), query("f", "Id of the file"))
	h.mount(http.MethodGet, "/archive-records/{file_id}", "archive_record_get", httpapi.SignedIn, h.get,
		"A file that the caller may see", bytesContent, pathText("file_id"),
		query("token", "Access token, instead of the header"))
	h.mount(http.MethodPost, "/upload-file/archive-records/{id}", "archive_record_upload", httpapi.Admin, h.upload,
		"Stores a file of the record, at most MAX_ATTACHMENT_BYTES", uploadContent, pathText("id"))
	h.mount(http.MethodDelete, "/upload-file/archive-records/{id}/{file_id}", "archive_record_delete", httpapi.Admin,
		h.remove,
		"Deletes a file of the record", messageContent, pathText("id"), pathText("file_id"))
	h.mount(http.MethodGet, "/avatars/{file_id}", "avatar_get", httpapi.Public, h.getAvatar,
		"An avatar, scaled down and in another format if asked for", bytesContent, pathText("file_id"),
		number("w", "Width in pixels, never enlarged", minAvatarWidth, maxAvatarWidth),
		number("q", "Quality, default 80", 1, 100),
		choice("fmt", "Format, default as stored", "jpeg", "png", "webp"))
}

// mount registers a plain handler with its place in the OpenAPI document.
func (h handlers) mount(method, path, name string, auth httpapi.Auth, f func(http.ResponseWriter, *http.Request) error,
	summary string, kind contentKind, params ...param,
) {
	var options []httpapi.Option
	if kind == bytesContent {
		options = append(options, httpapi.Stream())
	}
	h.api.Mount(method, httpapi.Prefix+path, name, auth, func(w http.ResponseWriter, r *http.Request) {
		if err := f(w, r); err != nil {
			h.api.WriteError(r.Context(), w, err)
		}
	}, options...)
	document(h.api, method, path, name, auth, summary, kind, params)
}
