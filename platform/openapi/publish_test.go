package openapi_test

import (
	"encoding/json"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"

	"marquee/platform/openapi"
)

type object = map[string]any

const generated = `{
	"paths": {
		"/things": {
			"get": {
				"operationId": "thing_list", "tags": ["things"], "x-auth": "none", "summary": "Things",
				"responses": {
					"200": {"content": {"application/json": {"schema": {"type": "object", "x-name": "ThingEnvelope", "properties": {
						"docs": {"type": "array", "items": {"type": "object", "x-name": "Thing", "properties": {
							"name": {"type": "string", "patternDescription": "a name", "pattern": "^a"}}}}}}}}},
					"default": {"content": {"application/json": {"schema": {"$ref": "#/components/schemas/Error"}}}}
				}
			},
			"post": {
				"operationId": "thing_create", "tags": ["things"], "x-auth": "admin",
				"parameters": [{"name": "token", "in": "query", "schema": {"type": "string", "default": "t"}}],
				"requestBody": {"content": {
					"application/octet-stream": {},
					"application/x-www-form-urlencoded": {"schema": {"type": "object", "properties": {
						"loud": {"type": "boolean", "default": true}}}}}},
				"responses": {"200": {"content": {"application/json": {"schema": {"type": "object", "properties": {
					"thing": {"type": "object", "x-name": "Thing", "properties": {
						"name": {"type": "string", "patternDescription": "a name", "pattern": "^a"}}}}}}}}}
			},
			"delete": {
				"operationId": "thing_file", "tags": ["things"], "x-auth": "admin",
				"responses": {"200": {"content": {"application/octet-stream": {"schema": {"type": "string"}}}}}
			}
		}
	},
	"components": {"schemas": {"Error": {"type": "object"}, "Unused": {"type": "object"}}}
}`

func texts(t *testing.T, page, examples string) (openapi.Texts, error) {
	t.Helper()
	return openapi.ReadTexts(fstest.MapFS{"a.md": {Data: []byte(page)}, "examples.json": {Data: []byte(examples)}})
}

const page = `# things
What there is.

## thing_list
For everybody.

## thing_create
Summary: Make a thing
Once.

Twice.

## thing_file
As bytes.
`

func TestPublish(t *testing.T) {
	t.Parallel()
	read, err := texts(t, page, `{
		"thing_create": {"request": {"loud": false}, "response": {"thing": {"name": "a"}}},
		"thing_file": {"file": {"summary": "A text", "value": "Hello"}, "errors": {"501": {"detail": "Never."}}}}`)
	require.NoError(t, err)
	raw, err := openapi.Publish([]byte(generated), read)
	require.NoError(t, err)
	var d object
	require.NoError(t, json.Unmarshal(raw, &d))
	at := func(path ...string) any {
		var v any = d
		for _, step := range path {
			v = v.(object)[step]
		}
		return v
	}
	require.Equal(t, []any{object{"name": "things", "description": "What there is."}}, at("tags"))
	list := []string{"paths", "/things", "get"}
	require.Equal(t, "Things", at(append(list, "summary")...), "stated by the operation")
	require.Equal(t, []any{}, at(append(list, "security")...))
	require.Equal(t, "#/components/responses/Error", at(append(list, "responses", "default", "$ref")...))
	require.Equal(t, "#/components/responses/Refused", at(append(list, "responses", "4XX", "$ref")...))
	require.Equal(t, "#/components/schemas/ThingEnvelope",
		at(append(list, "responses", "200", "content", "application/json", "schema", "$ref")...))
	create := []string{"paths", "/things", "post"}
	require.Equal(t, "Make a thing", at(append(create, "summary")...))
	require.Equal(t, "Once.\n\nTwice.", at(append(create, "description")...))
	require.Equal(t, []any{object{"bearer": []any{}}, object{"queryToken": []any{}}}, at(append(create, "security")...))
	content := at(append(create, "requestBody", "content")...).(object)
	require.Len(t, content, 1, "the form, and not its bytes")
	require.Equal(t, object{"loud": false}, content["application/x-www-form-urlencoded"].(object)["example"])
	schemas := at("components", "schemas").(object)
	require.Equal(t, object{"type": "boolean", "x-default": true},
		schemas["ThingCreateRequest"].(object)["properties"].(object)["loud"], "no generator takes it for always there")
	require.Equal(t, object{"type": "string", "pattern": "^a", "x-pattern-description": "a name"},
		schemas["Thing"].(object)["properties"].(object)["name"])
	require.Contains(t, schemas, "ThingCreateResponse")
	require.NotContains(t, schemas, "Unused")
	file := at("paths", "/things", "delete", "responses").(object)
	require.Equal(t, object{"file": object{"summary": "A text", "value": "Hello"}},
		file["200"].(object)["content"].(object)["application/octet-stream"].(object)["examples"])
	require.Equal(t, object{"schema": object{"$ref": "#/components/schemas/Error"}, "example": object{"detail": "Never."}},
		file["501"].(object)["content"].(object)["application/json"])
	parameter := at(append(create, "parameters")...).([]any)[0].(object)
	require.Equal(t, "t", parameter["schema"].(object)["default"])
}

func TestTextsOfNothingAreRefused(t *testing.T) {
	t.Parallel()
	for name, page := range map[string]string{
		"thing_gone":    page + "\n## thing_gone\nGone.\n",
		"nothings":      page + "\n# nothings\nNone.\n",
		"described twi": page + "\n## thing_list\nAgain.\n",
		"neither":       page + "\n### thing_list\n",
	} {
		read, err := texts(t, page, "{}")
		if err == nil {
			_, err = openapi.Publish([]byte(generated), read)
		}
		require.ErrorContains(t, err, name)
	}
	_, err := texts(t, page, `{"thing_gone": {}}`)
	require.ErrorContains(t, err, "thing_gone")
	_, err = openapi.Publish([]byte(`{"paths": {"/a": {"get": {"operationId": "a", "responses": {
		"200": {"content": {"application/json": {"schema": {"type": "object", "x-name": "A", "properties": {}}}}},
		"201": {"content": {"application/json": {"schema": {"type": "string", "x-name": "A"}}}}}}}}}`), openapi.Texts{})
	require.ErrorContains(t, err, "two schemas have the name A")
}
