package account

import (
	"bytes"
	"encoding/json"
	"net/http"
)

// APIError is an answer other than success. Without a code the body is empty, as for unknown ids
// (docs/gateway-facts.md, A1). It is no Go error on purpose: a nil *APIError can't become an error that is not nil.
type APIError struct {
	Status      int
	Code        string
	Description string
}

// Refuse is an answer other than success, with its document.
func Refuse(status int, code, description string) *APIError {
	return &APIError{status, code, description}
}

// BadRequest is a refusal with 400.
func BadRequest(code, description string) *APIError {
	return Refuse(http.StatusBadRequest, code, description)
}

// ErrObject refuses what is wrong as a whole.
func ErrObject(description string) *APIError { return BadRequest("invalid_object", description) }

func errAction(description string) *APIError { return BadRequest("invalid_action", description) }

// NotFound is 404 without a body.
func NotFound() *APIError { return &APIError{Status: http.StatusNotFound} }

func errDeclined() *APIError {
	return errAction("Transação não autorizada. Verifique os dados do cartão de crédito e tente novamente.")
}

func errTaxID() *APIError { return ErrObject("O CPF/CNPJ informado é inválido.") }

func errCustomer() *APIError {
	return BadRequest("invalid_customer", "Customer inválido ou não informado.")
}

// Document is an array that holds one element, because validation stops at the first fault.
func (e *APIError) Document() []byte {
	type entry struct {
		Code        string `json:"code"`
		Description string `json:"description"`
	}
	return Encode(map[string][]entry{"errors": {{e.Code, e.Description}}})
}

// Encode prints JSON without escaping &, < and >, which event ids and sentences hold. Only the gateway's own views come
// here; they can always be encoded.
func Encode(v any) json.RawMessage {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		panic(err)
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}
