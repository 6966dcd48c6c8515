package httpapi

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/validation"

	"marquee/platform/fault"
)

const isRequired = "is required"

// wordValidation gives huma's validation the words of this API: what follows the name of a
// field, as in "title has to have at least 1 character".
func wordValidation() {
	huma.ErrorFormatter = worded //nolint:reassign // the library offers no other way
	validation.MsgExpectedRFC3339DateTime = ErrTime.Error()
	validation.MsgExpectedRFC3339Date = "has to be a date such as 2026-11-20"
	validation.MsgExpectedRFC5322Email = "has to be an e-mail address"
	validation.MsgExpectedRFC3986URI = "has to be a URL"
	validation.MsgExpectedRFC4122UUID = "has to be a UUID"
	validation.MsgExpectedMatchAtLeastOneSchema = "has a format that is not accepted here"
	validation.MsgExpectedMatchExactlyOneSchema = "has a format that is not accepted here"
	validation.MsgExpectedNotMatchSchema = "has a format that is not accepted here"
	validation.MsgExpectedBoolean = "has to be true or false"
	validation.MsgExpectedNumber = "has to be a number"
	validation.MsgExpectedInteger = "has to be a whole number"
	validation.MsgExpectedString = "has to be a string"
	validation.MsgExpectedArray = "has to be a list"
	validation.MsgExpectedObject = "has to be an object"
	validation.MsgExpectedArrayItemsUnique = "may contain each value only once"
	validation.MsgExpectedMinimumNumber = "has to be at least %v"
	validation.MsgExpectedExclusiveMinimumNumber = "has to be above %v"
	validation.MsgExpectedMaximumNumber = "has to be at most %v"
	validation.MsgExpectedExclusiveMaximumNumber = "has to be below %v"
	validation.MsgExpectedNumberBeMultipleOf = "has to be a multiple of %v"
	validation.MsgExpectedMinLength = "has to have at least %d characters"
	validation.MsgExpectedMaxLength = "may have at most %d characters"
	validation.MsgExpectedBePattern = "has to be %s"
	validation.MsgExpectedMatchPattern = "has to match %s"
	validation.MsgExpectedMinItems = "has to hold at least %d values"
	validation.MsgExpectedMaxItems = "may hold at most %d values"
	validation.MsgExpectedMinProperties = "has to have at least %d fields"
	validation.MsgExpectedMaxProperties = "may have at most %d fields"
	validation.MsgExpectedDependentRequiredProperty = "has to come with %s where there is %s"
}

// worded is fmt.Sprintf that writes numbers in digits alone (a bound of 1000000 is no
// "1e+06"), one thing in the singular, choices with their "or", and no argument that the format does not ask for.
func worded(format string, args ...any) string {
	if !strings.Contains(format, "%") {
		return format
	}
	all := make([]any, len(args))
	for i, arg := range args {
		all[i] = arg
		switch v := arg.(type) {
		case float64:
			all[i] = strconv.FormatFloat(v, 'f', -1, 64)
		case int:
			if v == 1 {
				format = strings.TrimSuffix(format, "s")
			}
		case string:
			if format == validation.MsgExpectedOneOf {
				return fault.OneOf(strings.Split(v, ", "))
			}
		}
	}
	return fmt.Sprintf(format, all...)
}

// said is what huma says outside of schemas, in the words of this API.
func said(msg string) string {
	switch {
	case strings.HasPrefix(msg, "required ") && strings.HasSuffix(msg, " parameter is missing"):
		return isRequired
	case msg == "invalid integer":
		return validation.MsgExpectedInteger
	case msg == "invalid float", msg == "invalid floating value":
		return validation.MsgExpectedNumber
	case msg == "invalid boolean":
		return validation.MsgExpectedBoolean
	case msg == "expected at most one value, but received multiple values":
		return "is given more than once"
	case msg == "unexpected end of JSON input":
		return "ends before its JSON is complete"
	case strings.HasPrefix(msg, "invalid "), strings.HasPrefix(msg, "expected "), strings.HasPrefix(msg, "cannot "):
		return "has a format that is not accepted here"
	}
	return msg
}

// refuseBlanks demands more than spaces of a schema's strings that may not be empty.
func refuseBlanks(registry huma.Registry, s *huma.Schema, seen map[*huma.Schema]bool) {
	if s != nil && s.Ref != "" {
		s = registry.SchemaFromRef(s.Ref)
	}
	if s == nil || seen[s] {
		return
	}
	seen[s] = true
	if s.Type == huma.TypeString && s.MinLength != nil && *s.MinLength > 0 && s.Pattern == "" && len(s.Enum) == 0 {
		s.Pattern, s.PatternDescription = `\S`, "more than spaces"
		s.PrecomputeMessages()
	}
	refuseBlanks(registry, s.Items, seen)
	for _, property := range s.Properties {
		refuseBlanks(registry, property, seen)
	}
}
