package account

import (
	"encoding/json"
	"fmt"
	"net/http"
)

// Types of errors.
const (
	typeAPI         = "api_error"
	typeCard        = "card_error"
	TypeIdempotency = "idempotency_error"
	TypeRequest     = "invalid_request_error"
)

// APIError is an error as the API answers it. Executed says that the call got past validation, so its answer is kept
// for its idempotency key.
type APIError struct {
	Status   int
	Type     string
	Code     string
	Decline  string
	Message  string
	Param    string
	Charge   string
	Intent   Object
	Executed bool
}

func (e *APIError) Error() string { return e.Message }

// Body is the document of the error.
func (e *APIError) Body() []byte {
	o := Object{"type": e.Type, "message": e.Message}
	for k, v := range map[string]string{
		"code": e.Code, "decline_code": e.Decline, "param": e.Param, "charge": e.Charge,
	} {
		if v != "" {
			o[k] = v
		}
	}
	if e.Code != "" {
		o["doc_url"] = DocURL(e.Code)
	}
	if e.Intent != nil {
		o["payment_intent"] = e.Intent
	}
	raw, _ := json.Marshal(Object{"error": o})
	return raw
}

func invalid(param, code, format string, args ...any) *APIError {
	return &APIError{
		Status: http.StatusBadRequest, Type: TypeRequest, Code: code, Param: param,
		Message: fmt.Sprintf(format, args...),
	}
}

func missing(kind, id, param string) *APIError {
	return &APIError{
		Status: http.StatusNotFound, Type: TypeRequest, Code: "resource_missing", Param: param,
		Message: fmt.Sprintf("No such %s: '%s'", kind, id),
	}
}

// unknownReference is an id in a parameter that doesn't exist: 400, where an id in the path is 404.
func unknownReference(kind, id, param string) *APIError {
	e := missing(kind, id, param)
	e.Status = http.StatusBadRequest
	return e
}

// unexpectedState is a call that the object's state forbids.
func unexpectedState(code, format string, args ...any) *APIError {
	e := invalid("", code, format, args...)
	e.Executed = true
	return e
}

// FaultBody is the error document for a status that is injected without a body.
func FaultBody(status int) []byte {
	e := APIError{Type: typeAPI, Message: "An unknown error occurred. (injected by the sandbox)"}
	switch status {
	case http.StatusConflict:
		e.Type, e.Code, e.Message = TypeIdempotency, "idempotency_key_in_use",
			"There is currently another in-progress request using this idempotency key. (injected by the sandbox)"
	case http.StatusTooManyRequests:
		e.Type, e.Code, e.Message = TypeRequest, "rate_limit", "Request rate limit exceeded. (injected by the sandbox)"
	case http.StatusUnauthorized:
		e.Type, e.Message = TypeRequest, "Invalid API Key provided. (injected by the sandbox)"
	case http.StatusPaymentRequired:
		e.Type, e.Code, e.Decline, e.Message = typeCard, "card_declined", "generic_decline", "Your card was declined."
	}
	return e.Body()
}
