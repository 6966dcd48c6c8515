// Package fault is the one error type that services return to people. An error
// carries a kind (which decides the HTTP status), a machine code, a sentence for
// people, at times the field concerned, and a hidden cause that only the log
// sees. httpapi renders it; nothing else writes a status.
package fault

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// Kind says what went wrong, in HTTP's terms but without HTTP.
type Kind int

// The kinds, each with the status that httpapi gives it.
const (
	KindInternal        Kind = iota // 500
	KindBadRequest                  // 400
	KindUnauthenticated             // 401
	KindForbidden                   // 403
	KindNotFound                    // 404
	KindTimedOut                    // 408
	KindConflict                    // 409
	KindGone                        // 410
	KindTooLarge                    // 413
	KindUnsupported                 // 415
	KindInvalid                     // 422
	KindTooManyRequests             // 429
	KindUnimplemented               // 501
	KindUnavailable                 // 503
)

// The machine codes (docs/errors.md, Codes and statuses).
const (
	CodeValidation           = "VALIDATION_ERROR"
	CodeInvalidCredentials   = "INVALID_CREDENTIALS"
	CodeResetRequired        = "PASSWORD_RESET_REQUIRED"
	CodeMFARequired          = "MFA_REQUIRED"
	CodeForbidden            = "FORBIDDEN"
	CodeNotFound             = "NOT_FOUND"
	CodeConflict             = "CONFLICT"
	CodeDuplicateKey         = "DUPLICATE_KEY"
	CodeRefundNotAllowed     = "REFUND_NOT_ALLOWED"
	CodeRefundFailed         = "REFUND_FAILED"
	CodeBusy                 = "SERVICE_BUSY"
	CodeWithdrawalNotAllowed = "WITHDRAWAL_NOT_ALLOWED"
	CodeTooManyStreams       = "TOO_MANY_STREAMS"
	CodePINRequired          = "PIN_REQUIRED"
)

// Issue is one finding of request validation: where it sits, such as
// ["body", 0, "title"], and what is wrong.
type Issue struct {
	Loc  []any  `json:"loc"`
	Msg  string `json:"msg"`
	Type string `json:"type"`
}

// Error is an error fit to be shown. Code is empty for the errors that the contract lists by message only
// (docs/errors.md, Codes and statuses).
type Error struct {
	Kind       Kind
	Code       string
	Message    string
	Field      string
	Issues     []Issue       // of request validation, shown as the detail list
	RetryAfter time.Duration // of KindTooManyRequests and Unavailable
	cause      error
}

// Error returns the sentence and, for the log, the cause.
func (e *Error) Error() string {
	if e.cause != nil {
		return fmt.Sprintf("%s: %v", e.Message, e.cause)
	}
	return e.Message
}

// Unwrap returns the hidden cause.
func (e *Error) Unwrap() error { return e.cause }

// WithField names the field concerned.
func (e *Error) WithField(field string) *Error { e.Field = field; return e }

// WithCause keeps what only the log may see.
func (e *Error) WithCause(err error) *Error { e.cause = err; return e }

// Is reports whether err is a fault of the kind.
func Is(err error, kind Kind) bool {
	var e *Error
	return errors.As(err, &e) && e.Kind == kind
}

// NotFound is 404 NOT_FOUND for the thing named, such as "Plan".
func NotFound(thing string) *Error {
	return &Error{Kind: KindNotFound, Code: CodeNotFound, Message: thing + " not found."}
}

// BadRequest is 400 VALIDATION_ERROR: understood, but wrong in this state.
func BadRequest(format string, args ...any) *Error {
	return &Error{Kind: KindBadRequest, Code: CodeValidation, Message: fmt.Sprintf(format, args...)}
}

// BadRequestDetail is 400 by message alone, as for wrong and expired codes.
func BadRequestDetail(format string, args ...any) *Error {
	return &Error{Kind: KindBadRequest, Message: fmt.Sprintf(format, args...)}
}

// Conflict is 409 CONFLICT.
func Conflict(format string, args ...any) *Error {
	return &Error{Kind: KindConflict, Code: CodeConflict, Message: fmt.Sprintf(format, args...)}
}

// Forbidden is 403 FORBIDDEN.
func Forbidden(format string, args ...any) *Error {
	return &Error{Kind: KindForbidden, Code: CodeForbidden, Message: fmt.Sprintf(format, args...)}
}

// PINRequired is 403 PIN_REQUIRED: the account's age limit stands against it.
func PINRequired(message string) *Error {
	return &Error{Kind: KindForbidden, Code: CodePINRequired, Message: message}
}

// TooManyRequests is 429 with the wait, by message alone.
func TooManyRequests(wait time.Duration, format string, args ...any) *Error {
	return &Error{Kind: KindTooManyRequests, Message: fmt.Sprintf(format, args...), RetryAfter: wait}
}

// busyWait is after how long a client may try again what the service has no room for.
const busyWait = 2 * time.Second

// Unavailable is 503 SERVICE_BUSY: nothing was done, and the same may well succeed soon.
func Unavailable() *Error {
	return &Error{
		Kind: KindUnavailable, Code: CodeBusy, Message: "The service is busy. Try again in a moment.",
		RetryAfter: busyWait,
	}
}

// InvalidAt is 422 VALIDATION_ERROR for one place. What is said of it follows its name:
// InvalidAt("has to be a known column", "body", 0, "status_id") reads "status_id has to be a
// known column".
func InvalidAt(says string, loc ...any) *Error {
	return Invalid(IssueAt("value_error", says, loc...))
}

// Invalid is 422 VALIDATION_ERROR for what was found, one finding at least; it speaks of
// the first.
func Invalid(issues ...Issue) *Error {
	return &Error{
		Kind: KindInvalid, Code: CodeValidation, Message: issues[0].Msg, Field: FieldOf(issues[0].Loc), Issues: issues,
	}
}

// IssueAt is a finding whose sentence begins with the name of its place.
func IssueAt(kind, says string, loc ...any) Issue {
	return Issue{Loc: loc, Msg: subjectOf(loc) + " " + says, Type: kind}
}

// subjectOf names a location in a sentence: the field, or the part of the request.
func subjectOf(loc []any) string {
	if field := pathOf(loc); field != "" {
		return field
	}
	if len(loc) > 1 {
		return fmt.Sprintf("The value at index %d of the body", loc[1])
	}
	switch {
	case len(loc) == 0 || loc[0] == "body":
		return "The body"
	case loc[0] == "query":
		return "The query string"
	}
	return fmt.Sprintf("The %s", loc[0])
}

// FieldOf names the field that a location points to: its path behind the part of the
// request, and behind the index of a body that is an array. So ["body", 0, "address",
// "city"] is "address.city", and ["body", "scans", 3, "scanned_at"] is "scans[3].scanned_at".
// What is wrong with a body as a whole, or with an object of it, is at "body".
func FieldOf(loc []any) string {
	if field := pathOf(loc); field != "" || len(loc) == 0 || loc[0] != "body" {
		return field
	}
	return "body"
}

func pathOf(loc []any) string {
	field := ""
	for i, step := range loc {
		switch step := step.(type) {
		case int:
			if i > 1 {
				field += "[" + strconv.Itoa(step) + "]"
			}
		case string:
			if i == 0 {
				continue
			}
			if field != "" {
				field += "."
			}
			field += step
		}
	}
	return field
}

// Count is a number with what it counts, in the plural but for one: "1 second", "2 seconds".
func Count(n int, one string) string {
	if n == 1 {
		return "1 " + one
	}
	return strconv.Itoa(n) + " " + one + "s"
}

// OneOf says what the choices of a field are: "has to be xlsx, csv or json".
func OneOf(choices []string) string {
	said := strings.Join(choices, ", ")
	if last := strings.LastIndex(said, ", "); last >= 0 {
		said = said[:last] + " or " + said[last+len(", "):]
	}
	return "has to be " + said
}

// Seconds is a wait in words, rounded up.
func Seconds(wait time.Duration) string {
	return Count(int(math.Ceil(wait.Seconds())), "second")
}
