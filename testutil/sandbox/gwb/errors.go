package gwb

import (
	"encoding/json"
	"fmt"
	"net/http"
)

// Types of errors.
const (
	typeAPI         = "api_error"
	typeCard        = "card_error"
	typeIdempotency = "idempotency_error"
	typeRequest     = "invalid_request_error"
)

// apiError is an error as the API answers it. Executed says that the call got past validation, so its answer is kept
// for its idempotency key.
type apiError struct {
	Status   int
	Type     string
	Code     string
	Decline  string
	Message  string
	Param    string
	Charge   string
	Intent   object
	Executed bool
}

func (e *apiError) Error() string { return e.Message }

func (e *apiError) body() []byte {
	o := object{"type": e.Type, "message": e.Message}
	for k, v := range map[string]string{
		"code": e.Code, "decline_code": e.Decline, "param": e.Param, "charge": e.Charge,
	} {
		if v != "" {
			o[k] = v
		}
	}
	if e.Code != "" {
		o["doc_url"] = docURL(e.Code)
	}
	if e.Intent != nil {
		o["payment_intent"] = e.Intent
	}
	raw, _ := json.Marshal(object{"error": o})
	return raw
}

func invalid(param, code, format string, args ...any) *apiError {
	return &apiError{
		Status: http.StatusBadRequest, Type: typeRequest, Code: code, Param: param,
		Message: fmt.Sprintf(format, args...),
	}
}

func missing(kind, id, param string) *apiError {
	return &apiError{
		Status: http.StatusNotFound, Type: typeRequest, Code: "resource_missing", Param: param,
		Message: fmt.Sprintf("No such %s: '%s'", kind, id),
	}
}

// unknownReference is an id in a parameter that doesn't exist: 400, where an id in the path is 404.
func unknownReference(kind, id, param string) *apiError {
	e := missing(kind, id, param)
	e.Status = http.StatusBadRequest
	return e
}

// unexpectedState is a call that the object's state forbids.
func unexpectedState(code, format string, args ...any) *apiError {
	e := invalid("", code, format, args...)
	e.Executed = true
	return e
}

// faultBody is the error document for a status that is injected without a body.
func faultBody(status int) []byte {
	e := apiError{Type: typeAPI, Message: "An unknown error occurred. (injected by the sandbox)"}
	switch status {
	case http.StatusConflict:
		e.Type, e.Code, e.Message = typeIdempotency, "idempotency_key_in_use",
			"There is currently another in-progress request using this idempotency key. (injected by the sandbox)"
	case http.StatusTooManyRequests:
		e.Type, e.Code, e.Message = typeRequest, "rate_limit", "Request rate limit exceeded. (injected by the sandbox)"
	case http.StatusUnauthorized:
		e.Type, e.Message = typeRequest, "Invalid API Key provided. (injected by the sandbox)"
	case http.StatusPaymentRequired:
		e.Type, e.Code, e.Decline, e.Message = typeCard, "card_declined", "generic_decline", "Your card was declined."
	}
	return e.body()
}
