// Package openapi makes the OpenAPI document that clients are generated from of the one that is
// generated from types: with names in the place of what is inlined, and with words and examples.
package openapi

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// NameKey is the extension by which a schema that no type stands for tells its name. It is not
// published.
const NameKey = "x-name"

// methods are the operations of a path, in the order in which they are gone through.
var methods = []string{"get", "post", "put", "patch", "delete"}

type object = map[string]any

// Publish returns the document with
//   - each object that is answered or taken, and each that has a name, among the components;
//   - its components alone that are referred to;
//   - the texts: of tags, summaries where none is stated, descriptions and examples;
//   - security stated at every operation, by its x-auth, and errors in two forms, as 4XX and default.
//
// Operation ids, paths, parameters and the members of bodies are those that were generated. It
// fails for texts of operations or tags that are none, and for two schemas of one name.
func Publish(generated []byte, texts Texts) ([]byte, error) {
	var root object
	decoder := json.NewDecoder(bytes.NewReader(generated))
	decoder.UseNumber()
	if err := decoder.Decode(&root); err != nil {
		return nil, fmt.Errorf("read the generated document: %w", err)
	}
	d := document{
		root: root, schemas: member(member(root, "components"), "schemas"), inlined: object{}, texts: texts,
		tags: map[string]bool{},
	}
	d.addErrors()
	described := map[string]bool{}
	for _, path := range slices.Sorted(maps.Keys(member(root, "paths"))) {
		item := member(member(root, "paths"), path)
		for _, method := range methods {
			if op, ok := item[method].(object); ok {
				d.operation(op)
				id, _ := op["operationId"].(string)
				described[id] = true
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(d.schemas)) {
		d.schemas[name] = d.named(d.schemas[name], "")
	}
	d.describeTags()
	for _, id := range slices.Sorted(maps.Keys(texts.Operations)) {
		if !described[id] {
			d.errs = append(d.errs, fmt.Errorf("texts describe the operation %s, which is none", id))
		}
	}
	if err := errors.Join(d.errs...); err != nil {
		return nil, err
	}
	d.dropUnused()
	spell(root)
	return json.Marshal(root)
}

type document struct {
	root    object
	schemas object
	inlined object // of the schemas, those that no type stands for
	texts   Texts
	tags    map[string]bool
	errs    []error
}

// member is an object's member that is an object, made where it is not there.
func member(of object, name string) object {
	found, ok := of[name].(object)
	if !ok {
		found = object{}
		of[name] = found
	}
	return found
}

// operation completes one.
func (d *document) operation(op object) {
	id, _ := op["operationId"].(string)
	text := d.texts.Operations[id]
	for _, tag := range list(op["tags"]) {
		if name, ok := tag.(string); ok {
			d.tags[name] = true
		}
	}
	if op["summary"] == nil && text.Summary != "" {
		op["summary"] = text.Summary
	}
	if text.Description != "" {
		op["description"] = text.Description
	}
	op["security"] = security(op)
	if body, ok := op["requestBody"].(object); ok {
		content := member(body, "content")
		if content[formType] != nil {
			delete(content, octets) // which only says that the body is read as bytes
		}
		d.content(content, camel(id)+"Request", text.Request)
	}
	responses := member(op, "responses")
	for status, response := range responses {
		if status == "default" {
			responses[status] = object{"$ref": responsesPlace + "Error"}
			continue
		}
		if response, ok := response.(object); ok && response["content"] != nil {
			delete(member(response, "headers"), "Content-Type") // which the content says
			if len(member(response, "headers")) == 0 {
				delete(response, "headers")
			}
			d.content(member(response, "content"), camel(id)+"Response", text.Response)
			showFile(member(response, "content"), text.File)
		}
	}
	for status, body := range text.Errors {
		responses[status] = object{"description": "Always", "content": object{
			jsonType: object{"schema": object{"$ref": schemasPlace + "Error"}, "example": body},
		}}
	}
	responses["4XX"] = object{"$ref": responsesPlace + "Refused"}
}

const (
	formType = "application/x-www-form-urlencoded"
	octets   = "application/octet-stream"
	jsonType = "application/json"
)

// content names what a body is, and shows an example of the one that is text, unless it is one of
// the forms of a file.
func (d *document) content(content object, name string, example any) {
	file := len(content) > 1 && content[formType] == nil
	for mediaType, media := range content {
		media, ok := media.(object)
		if !ok {
			continue
		}
		media["schema"] = d.named(media["schema"], name)
		text := mediaType == jsonType || mediaType == formType || strings.HasPrefix(mediaType, "text/")
		if example != nil && !file && text {
			media["example"] = example
		}
	}
}

// showFile shows a file that is answered as bytes.
func showFile(content object, file *File) {
	for mediaType, media := range content {
		media, ok := media.(object)
		if ok && file != nil && mediaType != jsonType && !strings.HasPrefix(mediaType, "text/") {
			media["examples"] = object{"file": object{"summary": file.Summary, "value": file.Value}}
		}
	}
}

// security is by whom the operation may be called, as x-auth says it.
func security(op object) []any {
	token := []any{object{"bearer": []any{}}}
	for _, p := range list(op["parameters"]) {
		if p, ok := p.(object); ok && p["name"] == "token" && p["in"] == "query" {
			token = append(token, object{"queryToken": []any{}})
		}
	}
	switch op["x-auth"] {
	case "none", "gateway":
		return []any{}
	case "optional":
		return append([]any{object{}}, token...)
	}
	return token
}

const responsesPlace = "#/components/responses/"

// addErrors makes the two answers that no operation has for itself, and the token that stands in
// an address.
func (d *document) addErrors() {
	components := member(d.root, "components")
	member(components, "securitySchemes")["queryToken"] = object{
		"type": "apiKey", "in": "query", "name": "token",
		"description": "The access token in the address, for links to files.",
	}
	body := func(detail any, coded object) object {
		example := object{"detail": detail}
		if coded != nil {
			example["error"] = coded
		}
		return object{jsonType: object{"schema": object{"$ref": schemasPlace + "Error"}, "example": example}}
	}
	responses := member(components, "responses")
	responses["Refused"] = object{
		"description": "Refused: `detail` says why, and `error.code` says it to programs where there is a code.",
		"content": body("Plan not found.", object{
			"code": "NOT_FOUND", "message": "Plan not found.", "timestamp": "2026-11-20T17:03:12.000Z",
		}),
	}
	responses["Error"] = object{
		"description": "Not done, for a reason that lies with the service; with `Retry-After` where it may be tried again.",
		"content": body("The service is busy. Try again in a second.", object{
			"code": "SERVICE_BUSY", "message": "The service is busy. Try again in a second.",
			"timestamp": "2026-11-20T17:03:12.000Z",
		}),
	}
}

// describeTags lists the tags that are in use, in the order of the texts.
func (d *document) describeTags() {
	var all []any
	for _, t := range d.texts.Tags {
		if !d.tags[t.Name] {
			d.errs = append(d.errs, fmt.Errorf("texts describe the tag %q, which no operation has", t.Name))
		}
		delete(d.tags, t.Name)
		all = append(all, object{"name": t.Name, "description": t.Description})
	}
	for _, name := range slices.Sorted(maps.Keys(d.tags)) {
		all = append(all, object{"name": name})
	}
	d.root["tags"] = all
}

func list(v any) []any { all, _ := v.([]any); return all }
