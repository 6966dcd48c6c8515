package httpapi

import (
	"net/http"
	"strconv"
	"strings"

	"github.com/danielgtaylor/huma/v2"
)

// NotModified documents that the operation answers 304 to a client that already has the current answer.
func NotModified() Option { return func(o *operation) { o.notModified = true } }

// documentNotModified adds the answer once huma has written the others: of an operation with one more than its success
// it would write no errors.
func documentNotModified(document *huma.OpenAPI, op operation) {
	if op.notModified {
		document.Paths[op.Path].Get.Responses["304"] = &huma.Response{
			Description: "The client already has the current answer: If-None-Match names its ETag",
		}
	}
}

// IfNoneMatch reports whether the client has the representation with this strong entity tag, quotes included: the
// answer is then 304 (RFC 9110, 13.1.2). The caller's access is checked before.
func IfNoneMatch(request http.Header, tag string) bool {
	for _, value := range request["If-None-Match"] {
		for one := range strings.SplitSeq(value, ",") {
			one = strings.Trim(one, " \t")
			if one == "*" || strings.TrimPrefix(one, "W/") == tag {
				return true
			}
		}
	}
	return false
}

// AcceptsCoding reports whether an answer may be sent with the Content-Encoding, such as gzip (RFC 9110, 12.5.3).
func AcceptsCoding(request http.Header, coding string) bool {
	others := false
	for _, value := range request["Accept-Encoding"] {
		for one := range strings.SplitSeq(value, ",") {
			name, weight, _ := strings.Cut(one, ";")
			switch name = strings.Trim(name, " \t"); {
			case strings.EqualFold(name, coding):
				return isAccepted(weight)
			case name == "*":
				others = isAccepted(weight)
			}
		}
	}
	return others
}

// isAccepted reads a coding's weight, such as q=0.5; without one it is accepted, with a malformed one it is not.
func isAccepted(weight string) bool {
	weight = strings.ToLower(strings.Trim(weight, " \t"))
	if weight == "" {
		return true
	}
	text, named := strings.CutPrefix(weight, "q=")
	q, err := strconv.ParseFloat(text, 64)
	return named && err == nil && q > 0
}
