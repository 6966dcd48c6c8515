package httpapi

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"math"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/validation"

	"marquee/platform/fault"
	"marquee/platform/postgres"
)

// ErrorBody is every error answer: detail always, error when there is a code
// (docs/errors.md).
type ErrorBody struct {
	Detail any         `json:"detail"`
	Coded  *ErrorCoded `json:"error,omitempty"`
	status int
}

// ErrorCoded is the machine-readable half of an error answer.
type ErrorCoded struct {
	Code      string `json:"code"`
	Message   string `json:"message"`
	Timestamp string `json:"timestamp" format:"date-time"`
	Field     string `json:"field,omitempty"`
}

// Error returns the sentence.
func (e *ErrorBody) Error() string {
	if e.Coded != nil {
		return e.Coded.Message
	}
	s, _ := e.Detail.(string)
	return s
}

// GetStatus returns the HTTP status.
func (e *ErrorBody) GetStatus() int { return e.status }

// statuses is what each kind of error is to HTTP.
//
//exhaustive:enforce
var statuses = map[fault.Kind]int{
	fault.KindInternal:        http.StatusInternalServerError,
	fault.KindBadRequest:      http.StatusBadRequest,
	fault.KindUnauthenticated: http.StatusUnauthorized,
	fault.KindForbidden:       http.StatusForbidden,
	fault.KindNotFound:        http.StatusNotFound,
	fault.KindTimedOut:        http.StatusRequestTimeout,
	fault.KindConflict:        http.StatusConflict,
	fault.KindGone:            http.StatusGone,
	fault.KindTooLarge:        http.StatusRequestEntityTooLarge,
	fault.KindUnsupported:     http.StatusUnsupportedMediaType,
	fault.KindInvalid:         http.StatusUnprocessableEntity,
	fault.KindTooManyRequests: http.StatusTooManyRequests,
	fault.KindUnimplemented:   http.StatusNotImplemented,
	fault.KindUnavailable:     http.StatusServiceUnavailable,
}

const (
	internalSentence = "Internal Server Error"
	timeoutSentence  = "The request took too long."
)

// maxIssues bounds the findings that one answer lists.
const maxIssues = 50

// huma has one constructor of errors for the whole process; ours gives the
// contract's bodies.
func init() {
	huma.ValidateStrictCasing = true // a member in another spelling is an unknown field
	wordValidation()
	huma.DefaultArrayNullable = false // a null body is no array: 422, and our lists are never null
	huma.NewError = func(status int, msg string, errs ...error) huma.StatusError {
		return bodyOf(faultOf(status, msg, errs))
	}
	huma.NewErrorWithContext = func(_ huma.Context, status int, msg string, errs ...error) huma.StatusError {
		return huma.NewError(status, msg, errs...)
	}
}

// faultOf turns huma's own findings into a fault.
func faultOf(status int, msg string, errs []error) *fault.Error {
	switch status {
	case http.StatusBadRequest, http.StatusUnprocessableEntity:
	case http.StatusRequestEntityTooLarge:
		return errBodyTooLarge
	case http.StatusUnsupportedMediaType:
		return &fault.Error{
			Kind: fault.KindUnsupported, Message: "The body has to be sent with Content-Type: application/json.",
		}
	default:
		return &fault.Error{Kind: fault.KindInternal, Message: msg}
	}
	var issues []fault.Issue
	for _, err := range errs[:min(len(errs), maxIssues)] {
		issues = append(issues, issueOf(err, nil))
	}
	if len(issues) == 0 {
		issues = []fault.Issue{fault.IssueAt("value_error", said(strings.TrimPrefix(msg, "request body ")), "body")}
	}
	return fault.Invalid(issues...)
}

// issueOf is huma's finding, whose location leads on from at.
func issueOf(err error, at []any) fault.Issue {
	var d *huma.ErrorDetail
	if !errors.As(err, &d) {
		return fault.IssueAt("value_error", said(err.Error()), "body")
	}
	loc := append(slices.Clone(at), steps(d.Location)...)
	if len(loc) == 0 {
		loc = []any{"body"}
	}
	if name, ok := strings.CutPrefix(d.Message, "expected required property "); ok {
		return fault.IssueAt("missing", isRequired, append(loc, strings.TrimSuffix(name, " to be present"))...)
	}
	if d.Message == validation.MsgUnexpectedProperty {
		return fault.IssueAt("extra_forbidden", "is not a known field", loc...)
	}
	if at, msg, ok := strings.Cut(d.Message, misreadAt); ok {
		return fault.IssueAt("value_error", msg, append(loc, steps(at)...)...)
	}
	return fault.IssueAt("value_error", said(d.Message), loc...)
}

// steps splits a location such as "body[0].address.city" into its parts.
func steps(location string) []any {
	loc := []any{}
	for _, part := range strings.Split(location, ".") {
		name, rest, _ := strings.Cut(part, "[")
		if name != "" {
			loc = append(loc, name)
		}
		for rest != "" {
			index, more, _ := strings.Cut(rest, "]")
			if n, err := strconv.Atoi(index); err == nil {
				loc = append(loc, n)
			} else {
				loc = append(loc, index)
			}
			rest = strings.TrimPrefix(more, "[")
		}
	}
	return loc
}

func bodyOf(f *fault.Error) *ErrorBody {
	body := &ErrorBody{status: statuses[f.Kind], Detail: f.Message}
	if f.Kind == fault.KindInternal && f.Code == "" {
		body.Detail = internalSentence
		return body
	}
	if len(f.Issues) > 0 {
		body.Detail = f.Issues
	}
	if f.Code != "" {
		body.Coded = &ErrorCoded{Code: f.Code, Message: f.Message, Timestamp: Time(time.Now()).String(), Field: f.Field}
	}
	return body
}

// rendered turns any error of a handler into the answer's body, and logs the
// cause, which the answer does not show.
func (a *API) rendered(ctx context.Context, err error) error {
	var f *fault.Error
	known := errors.As(err, &f)
	switch {
	case known && f.Code == fault.CodeBusy:
		a.metrics.busy.WithLabelValues("place").Inc()
	case postgres.IsBusy(err) && (!known || f.Kind == fault.KindInternal):
		a.metrics.busy.WithLabelValues(lackOf(err)).Inc()
		a.log(ctx, slog.LevelWarn, "request put off", err)
		f = fault.Unavailable()
	case postgres.IsGone(err) && !hungUp(ctx) && (!known || f.Kind == fault.KindInternal):
		a.metrics.busy.WithLabelValues("database").Inc()
		a.log(ctx, slog.LevelWarn, "the database is gone", err)
		f = errDatabaseGone(ctx)
	case known:
		if f.Unwrap() != nil {
			a.log(ctx, slog.LevelWarn, "request refused", err)
		}
	case hungUp(ctx) && !postgres.IsServers(err):
		a.log(ctx, slog.LevelInfo, "the client hung up", err)
		return &ErrorBody{status: statusHungUp, Detail: internalSentence} // which nobody gets
	case errors.Is(err, context.DeadlineExceeded):
		a.log(ctx, slog.LevelError, "request failed", err)
		f = &fault.Error{Kind: fault.KindUnavailable, Message: timeoutSentence}
	default:
		a.log(ctx, slog.LevelError, "request failed", err)
		f = &fault.Error{Kind: fault.KindInternal}
	}
	return huma.ErrorWithHeaders(bodyOf(f), headersOf(f))
}

// errDatabaseGone is the answer to a request whose connection to the database has ended under it: whether it was done
// is not known, of one that only reads there is nothing to know.
func errDatabaseGone(ctx context.Context) *fault.Error {
	f := fault.Unavailable()
	if Writes(ctx) {
		f.Code, f.Message = "", "The database has broken the connection off. Whether it was done is not known."
	}
	return f
}

// readTwice asks once more where the database has broken the connection off, before anything of the answer was sent: f
// only reads, or may be asked twice without harm. The pool gives no other connection that has ended with the first.
func readTwice[T any](ctx context.Context, f func() (T, error)) (T, error) {
	v, err := f()
	if err != nil && ctx.Err() == nil && postgres.IsGone(err) && !postgres.IsBusy(err) {
		v, err = f()
	}
	return v, err
}

func (a *API) log(ctx context.Context, level slog.Level, what string, err error) {
	a.cfg.Log.Log(ctx, level, what, slog.String("request_id", RequestID(ctx)), slog.Any("error", err))
}

// lackOf is what a busy database had not enough of.
func lackOf(err error) string {
	if postgres.IsLocked(err) {
		return "lock"
	}
	return "connection"
}

func headersOf(f *fault.Error) http.Header {
	h := http.Header{}
	if f.RetryAfter > 0 {
		h.Set("Retry-After", strconv.Itoa(int(math.Ceil(f.RetryAfter.Seconds()))))
	}
	if f.Kind == fault.KindUnauthenticated && f.Code == "" {
		h.Set("WWW-Authenticate", "Bearer")
	}
	return h
}

// write answers a huma request with an error before its handler runs.
func (a *API) write(hc huma.Context, err error) {
	_, w := unwrap(hc)
	a.WriteError(hc.Context(), w, err)
}

// WriteError answers with an error from a plain handler.
func (a *API) WriteError(ctx context.Context, w http.ResponseWriter, err error) {
	err = a.rendered(ctx, err)
	var headers huma.HeadersError
	if errors.As(err, &headers) {
		for name, values := range headers.GetHeaders() {
			w.Header()[name] = values
		}
	}
	var body *ErrorBody
	errors.As(err, &body)
	WriteJSON(w, body.status, body)
}

// WriteJSON answers with a JSON value from a plain handler.
func WriteJSON(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(v) // the client may be gone; there is nobody to tell
}

func plainError(status int) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		WriteJSON(w, status, &ErrorBody{Detail: http.StatusText(status)})
	}
}
