package board

import (
	"net/http"
	"reflect"

	"github.com/danielgtaylor/huma/v2"

	"marquee/modules/files"
	"marquee/platform/httpapi"
)

// documentFiles describes the two plain handlers in the OpenAPI document.
func (s *Service) documentFiles(api *httpapi.API) {
	text := &huma.Schema{Type: huma.TypeString}
	upload := s.plainOperation(api, http.MethodPost, "/{id}/files", uploadHandler,
		"Attach a file of any type, at most MAX_ATTACHMENT_BYTES")
	upload.Parameters = []*huma.Param{{Name: "id", In: "path", Required: true, Schema: text}}
	upload.RequestBody = files.MultipartBody()
	upload.Responses["200"] = &huma.Response{
		Description: "OK", Content: map[string]*huma.MediaType{"application/json": {Schema: s.cards.EnvelopeSchema()}},
	}

	download := s.plainOperation(api, http.MethodGet, "/files/{file_id}", downloadHandler, "Download an attachment")
	download.Parameters = []*huma.Param{
		{Name: "file_id", In: "path", Required: true, Schema: text},
		{Name: "token", In: "query", Description: "Access token, instead of the header", Schema: text},
		{Name: "archive_token", In: "query", Description: "Archive token, instead of the header", Schema: text},
	}
	bytes := &huma.MediaType{Schema: &huma.Schema{Type: huma.TypeString, Format: "binary"}}
	download.Responses["200"] = &huma.Response{
		Description: "OK", Content: map[string]*huma.MediaType{"application/octet-stream": bytes},
	}

	api.OpenAPI().AddOperation(upload)
	api.OpenAPI().AddOperation(download)
}

func (s *Service) plainOperation(api *httpapi.API, method, path, name, summary string) *huma.Operation {
	failure := huma.SchemaFromType(api.OpenAPI().Components.Schemas, reflect.TypeFor[httpapi.ErrorBody]())
	return &huma.Operation{
		Method: method, Path: httpapi.Prefix + cardsPath + path, OperationID: name, Summary: summary,
		Tags:       []string{"admin requisitions"},
		Security:   []map[string][]string{{"bearer": {}}},
		Extensions: map[string]any{"x-auth": string(httpapi.Admin)},
		Responses: map[string]*huma.Response{
			"default": {
				Description: "Error", Content: map[string]*huma.MediaType{"application/json": {Schema: failure}},
			},
		},
	}
}
