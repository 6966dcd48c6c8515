package files

import (
	"net/http"
	"reflect"

	"github.com/danielgtaylor/huma/v2"

	"marquee/platform/httpapi"
)

type (
	param       = *huma.Param
	contentKind int
)

// What the plain handlers answer.
const (
	bytesContent contentKind = iota
	uploadContent
	messageContent
)

// uploaded is the answer of an upload.
type uploaded struct {
	FileID      string `json:"file_id"`
	Filename    string `json:"filename"`
	ContentType string `json:"content_type"`
	Size        int64  `json:"size" doc:"Bytes"`
}

// message is the answer of a deletion.
type message struct {
	Message string `json:"message"`
}

func pathText(name string) param {
	return &huma.Param{Name: name, In: "path", Required: true, Schema: &huma.Schema{Type: huma.TypeString}}
}

func query(name, doc string) param {
	return &huma.Param{Name: name, In: "query", Description: doc, Schema: &huma.Schema{Type: huma.TypeString}}
}

func number(name, doc string, least, most float64) param {
	p := query(name, doc)
	p.Schema = &huma.Schema{Type: huma.TypeInteger, Minimum: &least, Maximum: &most}
	return p
}

func choice(name, doc string, values ...any) param {
	p := query(name, doc)
	p.Schema.Enum = values
	return p
}

// document describes a plain handler in the OpenAPI document.
func document(api *httpapi.API, method, path, name string, auth httpapi.Auth, summary string, kind contentKind,
	params []param,
) {
	doc := api.OpenAPI()
	schemas := doc.Components.Schemas
	op := &huma.Operation{
		Method: method, Path: httpapi.Prefix + path, OperationID: name, Summary: summary, Tags: []string{"files"},
		Parameters: params,
		Extensions: map[string]any{"x-auth": string(auth)},
		Responses: map[string]*huma.Response{
			"200": {Description: "OK", Content: responseContent(schemas, kind)},
			"default": {
				Description: "Error",
				Content:     jsonContent(huma.SchemaFromType(schemas, reflect.TypeFor[httpapi.ErrorBody]())),
			},
		},
	}
	if auth != httpapi.Public {
		op.Security = []map[string][]string{{"bearer": {}}}
	}
	if method == http.MethodPost {
		op.RequestBody = MultipartBody()
	}
	doc.AddOperation(op)
}

// MultipartBody describes a multipart request with one part "file".
func MultipartBody() *huma.RequestBody {
	return &huma.RequestBody{
		Required: true,
		Content: map[string]*huma.MediaType{"multipart/form-data": {Schema: &huma.Schema{
			Type: huma.TypeObject, Required: []string{formField},
			Properties: map[string]*huma.Schema{formField: {Type: huma.TypeString, Format: "binary"}},
		}}},
	}
}

func responseContent(schemas huma.Registry, kind contentKind) map[string]*huma.MediaType {
	switch kind {
	case uploadContent:
		return jsonContent(huma.SchemaFromType(schemas, reflect.TypeFor[uploaded]()))
	case messageContent:
		return jsonContent(huma.SchemaFromType(schemas, reflect.TypeFor[message]()))
	}
	return map[string]*huma.MediaType{octets: {Schema: &huma.Schema{Type: huma.TypeString, Format: "binary"}}}
}

func jsonContent(s *huma.Schema) map[string]*huma.MediaType {
	return map[string]*huma.MediaType{"application/json": {Schema: s}}
}
