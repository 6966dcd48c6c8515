package gwa

import (
	"bytes"
	"encoding/json"
	"net/http"
)

// apiError is an answer other than success. Without a code the body is empty, as for unknown ids
// (docs/gateway-facts.md, A1). It is no Go error on purpose: a nil *apiError can't become an error that is not nil.
type apiError struct {
	status      int
	code        string
	description string
}

func badRequest(code, description string) *apiError {
	return &apiError{http.StatusBadRequest, code, description}
}

func errObject(description string) *apiError { return badRequest("invalid_object", description) }

func errAction(description string) *apiError { return badRequest("invalid_action", description) }

func notFound() *apiError { return &apiError{status: http.StatusNotFound} }

func errDeclined() *apiError {
	return errAction("Transação não autorizada. Verifique os dados do cartão de crédito e tente novamente.")
}

func errTaxID() *apiError { return errObject("O CPF/CNPJ informado é inválido.") }

func errCustomer() *apiError {
	return badRequest("invalid_customer", "Customer inválido ou não informado.")
}

// write sends the error document.
func (e *apiError) write(w http.ResponseWriter) {
	if e.code == "" {
		w.WriteHeader(e.status)
		return
	}
	writeJSON(w, e.status, e.document())
}

// document is an array that holds one element, because validation stops at the first fault.
func (e *apiError) document() []byte {
	type entry struct {
		Code        string `json:"code"`
		Description string `json:"description"`
	}
	return encode(map[string][]entry{"errors": {{e.code, e.description}}})
}

// encode prints JSON without escaping &, < and >, which event ids and sentences hold. Only the gateway's own views come
// here; they can always be encoded.
func encode(v any) json.RawMessage {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		panic(err)
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}

func writeJSON(w http.ResponseWriter, status int, document []byte) {
	w.Header().Set("Content-Type", "application/json;charset=UTF-8")
	w.WriteHeader(status)
	_, _ = w.Write(document) // the client has gone away: there is nobody to tell
}
