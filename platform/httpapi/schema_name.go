package httpapi

import (
	"reflect"
	"regexp"
	"strings"

	"github.com/danielgtaylor/huma/v2"
)

var modulePath = regexp.MustCompile(`/modules/([a-z]+)`)

// schemaName names a type in the OpenAPI document. Types of modules carry their
// module's name, since two modules may well have a body of the same name.
func schemaName(t reflect.Type, hint string) string {
	name := strings.ReplaceAll(huma.DefaultSchemaNamer(t, hint), "Struct {}", "Nothing") // such as EnvelopeNothing
	for t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice {
		t = t.Elem()
	}
	// The package of a generic's argument stands in the generic's own name.
	owner := modulePath.FindStringSubmatch(t.PkgPath() + " " + t.Name())
	if owner == nil {
		return name
	}
	return strings.ToUpper(owner[1][:1]) + owner[1][1:] + name
}
