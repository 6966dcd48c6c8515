package app_test

import (
	"encoding/json"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/danielgtaylor/huma/v2"
	"github.com/stretchr/testify/require"

	"marquee/cmd/internal/app"
	"marquee/platform/httpapi"
	"marquee/testutil/golden"
)

// published is the document as clients read it, and the API that it is of.
func published(t *testing.T) (*httpapi.API, document) {
	t.Helper()
	api, err := app.UnservedAPI(t.Context())
	require.NoError(t, err)
	raw, err := api.Document()
	require.NoError(t, err)
	var d document
	require.NoError(t, json.Unmarshal(raw, &d))
	return api, d
}

// TestDocumentKeepsWhatClientsRelyOn pins operations, parameters and members of bodies, whatever their schemas are
// called: what a line lost, a client has lost.
func TestDocumentKeepsWhatClientsRelyOn(t *testing.T) {
	t.Parallel()
	_, d := published(t)
	golden.Equal(t, "testdata/openapi.golden", d.contract())
}

// TestEveryOperationIsDescribed: in a line, in a paragraph, by whom it may be called, and with examples that fit.
func TestEveryOperationIsDescribed(t *testing.T) {
	t.Parallel()
	api, d := published(t)
	described := map[string]bool{}
	for _, tag := range d.Tags {
		described[tag.Name] = tag.Description != ""
	}
	for _, at := range d.operations() {
		op := at.operation
		require.NotEmpty(t, op.Summary, op.ID)
		require.NotEmpty(t, op.Description, op.ID)
		require.NotNil(t, op.Security, op.ID)
		require.NotEmpty(t, op.Responses["4XX"].Ref, op.ID)
		for _, tag := range op.Tags {
			require.True(t, described[tag], "%s of %s", tag, op.ID)
		}
		registered, examples := registeredAt(api.OpenAPI(), at.method, at.path), 0
		if op.RequestBody != nil {
			for mediaType, media := range op.RequestBody.Content {
				if mediaType == "application/json" {
					taken := registered.RequestBody.Content[mediaType].Schema
					fits(t, api, op.ID, media.Example, taken, huma.ModeWriteToServer)
					examples++
				}
			}
		}
		for status, response := range op.Responses {
			for mediaType, media := range response.Content {
				switch {
				case media.Schema != nil && media.Schema.Ref == errorSchema:
					fits(t, api, op.ID, media.Example, &huma.Schema{Ref: errorSchema}, huma.ModeReadFromServer)
				case alwaysRefused(op) || madeFile(response):
					continue
				case mediaType == "application/json" || strings.HasPrefix(mediaType, "text/"):
					fits(t, api, op.ID, media.Example, registered.Responses[status].Content[mediaType].Schema,
						huma.ModeReadFromServer)
				default:
					file := media.Examples["file"]
					require.True(t, file.Summary != "" && file.Value != "", "no file as an example of %s", op.ID)
				}
				examples++
			}
		}
		require.Positive(t, examples, "no example of %s", op.ID)
	}
}

const errorSchema = "#/components/schemas/Error"

// alwaysRefused reports whether an operation does nothing, and says so by an error (docs/contract/README.md, Versions).
func alwaysRefused(op operationDoc) bool {
	_, refused := op.Responses["501"]
	return refused
}

// madeFile reports whether a JSON answer is one of the forms of a file.
func madeFile(r response) bool { return len(r.Content) > 1 }

func fits(t *testing.T, api *httpapi.API, id string, example json.RawMessage, schema *huma.Schema,
	mode huma.ValidateMode,
) {
	t.Helper()
	require.NotEmpty(t, example, id)
	var value any
	require.NoError(t, json.Unmarshal(example, &value), id)
	found := &huma.ValidateResult{}
	huma.Validate(api.OpenAPI().Components.Schemas, schema, huma.NewPathBuffer([]byte{}, 0), mode, value, found)
	require.Empty(t, found.Errors, "%s: %s", id, example)
}

func registeredAt(doc *huma.OpenAPI, method, path string) *huma.Operation {
	item := doc.Paths[path]
	return map[string]*huma.Operation{
		http.MethodGet: item.Get, http.MethodPost: item.Post, http.MethodPut: item.Put, http.MethodDelete: item.Delete,
	}[method]
}

// TestSchemasHaveNames that every language takes, once each, and no error is described anywhere but in its own.
func TestSchemasHaveNames(t *testing.T) {
	t.Parallel()
	_, d := published(t)
	name, seen := regexp.MustCompile(`^[A-Z][A-Za-z0-9]*$`), map[string]string{}
	for schema := range d.Components.Schemas {
		require.Regexp(t, name, schema)
		lower := strings.ToLower(schema)
		require.Empty(t, seen[lower], "%s: some file systems and languages take them for one", schema)
		seen[lower] = schema
	}
	for _, at := range d.operations() {
		for status, response := range at.operation.Responses {
			for mediaType, media := range response.Content {
				if mediaType == "application/json" {
					require.NotEmpty(t, media.Schema.Ref, "%s %s", at.operation.ID, status)
				}
			}
		}
	}
}
