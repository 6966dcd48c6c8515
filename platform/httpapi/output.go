package httpapi

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"reflect"
	"strconv"

	"github.com/danielgtaylor/huma/v2"
)

// output is what is known of a type that handlers return: a struct with a Body, perhaps a Status, and headers, texts
// that are sent unless they are empty. huma reads and writes such structs, too, by code that is compiled anew for each
// pair of an input and an output; to it all outputs are one type, so that its code is compiled for each input alone.
type output struct {
	name    string // of the type, for messages
	headers []reflect.StructField
	status  []int // the place of the field Status; nil without one
	body    reflect.StructField
}

// bodyWriter is the type of a Body that writes itself.
var bodyWriter = reflect.TypeFor[func(huma.Context)]()

// outputOf reads a handler's output type; it panics where the type is not an output.
func outputOf(t reflect.Type) output {
	o := output{name: t.Name()}
	for _, f := range reflect.VisibleFields(t) {
		switch {
		case f.Anonymous:
		case f.Name == "Body":
			o.body = f
		case f.Name == "Status" && f.Type.Kind() == reflect.Int:
			o.status = f.Index
		case f.Tag.Get("header") != "" && f.Type.Kind() == reflect.String:
			o.headers = append(o.headers, f)
		default:
			panic(fmt.Sprintf("httpapi: the field %s of %s is neither body, status nor a text for a header", f.Name, t))
		}
	}
	if o.body.Type == nil {
		panic(fmt.Sprintf("httpapi: %s has no Body", t))
	}
	return o
}

// document states the answer of a success, beside what options have said of it.
func (o output) document(op *huma.Operation, schemas huma.Registry) {
	if op.DefaultStatus == 0 {
		op.DefaultStatus = http.StatusOK
	}
	if op.Responses == nil {
		op.Responses = map[string]*huma.Response{}
	}
	status := strconv.Itoa(op.DefaultStatus)
	if op.Responses[status] == nil {
		op.Responses[status] = &huma.Response{}
	}
	response := op.Responses[status]
	if response.Description == "" {
		response.Description = http.StatusText(op.DefaultStatus)
	}
	if response.Headers == nil {
		response.Headers = map[string]*huma.Header{}
	}
	for _, f := range o.headers {
		response.Headers[f.Tag.Get("header")] = &huma.Header{Schema: huma.SchemaFromField(schemas, f, "")}
	}
	if o.body.Type == bodyWriter {
		return
	}
	schema := huma.SchemaFromField(schemas, o.body, o.name+o.body.Name)
	if len(response.Content) == 0 {
		response.Content = map[string]*huma.MediaType{"application/json": {}}
	}
	if media := response.Content["application/json"]; media != nil && media.Schema == nil {
		media.Schema = schema
	}
}

// writeTo answers with what a handler returned, of this type.
func (o output) writeTo(hc huma.Context, api huma.API, returned any) {
	value, contentType, status := reflect.ValueOf(returned).Elem(), "", hc.Operation().DefaultStatus
	for _, f := range o.headers {
		text, name := value.FieldByIndex(f.Index).String(), f.Tag.Get("header")
		if text == "" {
			continue
		}
		if name == "Content-Type" {
			contentType = text
		}
		hc.SetHeader(name, text)
	}
	if o.status != nil {
		status = int(value.FieldByIndex(o.status).Int())
	}
	switch body := value.FieldByIndex(o.body.Index).Interface().(type) {
	case func(huma.Context):
		body(hc)
	case []byte:
		hc.SetStatus(status)
		_, _ = hc.BodyWriter().Write(body) // the client may be gone; there is nobody to tell
	default:
		if contentType == "" {
			contentType, _ = api.Negotiate(hc.Header("Accept")) // JSON, whatever is asked for
			hc.SetHeader("Content-Type", contentType)
		}
		hc.SetStatus(status)
		err := api.Marshal(hc.BodyWriter(), contentType, body)
		if err != nil && !errors.Is(hc.Context().Err(), context.Canceled) {
			panic(fmt.Errorf("write %s: %w", o.name, err))
		}
	}
}
