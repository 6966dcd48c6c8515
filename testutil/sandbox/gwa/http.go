package gwa

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"
	"time"

	"marquee/testutil/sandbox/gwa/account"
)

// bodyLimit bounds the body of a call, in bytes.
const bodyLimit = 1 << 20

// routes is the API. Unknown paths answer 404 with an empty body.
func (g *Gateway) routes() http.Handler {
	mux := http.NewServeMux()
	add := func(pattern string, h http.HandlerFunc) { mux.HandleFunc(pattern, h) }

	add("POST /v3/customers", call(g, postCustomer))
	add("GET /v3/customers", call(g, listCustomers))
	add("GET /v3/customers/{id}", call(g, getCustomer))
	add("PUT /v3/customers/{id}", call(g, putCustomer))
	add("DELETE /v3/customers/{id}", call(g, deleteCustomer))

	add("POST /v3/subscriptions", call(g, postSubscription))
	add("GET /v3/subscriptions", call(g, listSubscriptions))
	add("GET /v3/subscriptions/{id}", call(g, getSubscription))
	add("PUT /v3/subscriptions/{id}", call(g, putSubscription))
	add("PUT /v3/subscriptions/{id}/creditCard", call(g, putSubscriptionCard))
	add("DELETE /v3/subscriptions/{id}", call(g, deleteSubscriptionCall))
	add("GET /v3/subscriptions/{id}/payments", call(g, listSubscriptionPayments))

	add("POST /v3/payments", call(g, postPayment))
	add("GET /v3/payments", call(g, listPayments))
	add("GET /v3/payments/{id}", call(g, getPayment))
	add("GET /v3/payments/{id}/status", call(g, getPaymentStatus))
	add("GET /v3/payments/{id}/pixQrCode", call(g, getPixQRCode))
	add("POST /v3/payments/{id}/refund", call(g, postRefund))
	add("GET /v3/payments/{id}/refunds", call(g, listRefunds))
	add("DELETE /v3/payments/{id}", call(g, deletePaymentCall))

	add("POST /v3/pix/automatic/authorizations", call(g, postAuthorization))
	add("GET /v3/pix/automatic/authorizations", call(g, listAuthorizations))
	add("GET /v3/pix/automatic/authorizations/{id}", call(g, getAuthorization))
	add("DELETE /v3/pix/automatic/authorizations/{id}", call(g, deleteAuthorization))
	add("GET /v3/pix/automatic/paymentInstructions", call(g, listInstructions))
	add("GET /v3/pix/automatic/paymentInstructions/{id}", call(g, getInstruction))
	add("POST /v3/pix/automatic/paymentInstructions/{id}/retries", call(g, postInstructionRetry))

	add("POST /v3/webhooks", call(g, postWebhook))
	add("GET /v3/webhooks", call(g, listWebhooks))
	add("GET /v3/webhooks/{id}", call(g, getWebhook))
	add("PUT /v3/webhooks/{id}", call(g, putWebhook))
	add("DELETE /v3/webhooks/{id}", call(g, deleteWebhook))
	add("POST /v3/webhooks/{id}/removeBackoff", call(g, postRemoveBackoff))

	add("POST /v3/sandbox/payment/{id}/confirm", call(g, postSandboxConfirm))
	add("POST /v3/sandbox/payment/{id}/overdue", call(g, postSandboxOverdue))
	add("POST /v3/sandbox/myAccount/approve", call(g, postSandboxApprove))

	add("/", func(w http.ResponseWriter, _ *http.Request) { refuse(w, account.NotFound()) })
	return g.guarded(mux)
}

// guarded refuses what never reaches the API: a GET with a body (403 by the CDN), a wrong key, no User-Agent.
func (g *Gateway) guarded(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodGet && r.ContentLength != 0 {
			w.WriteHeader(http.StatusForbidden)
			return
		}
		if err := g.authenticate(r.Header); err != nil {
			refuse(w, err)
			return
		}
		next.ServeHTTP(w, r)
	})
}

func (g *Gateway) authenticate(h http.Header) *account.APIError {
	wrong := func(code, description string) *account.APIError {
		return account.Refuse(http.StatusUnauthorized, code, description)
	}
	key := h.Get("access_token")
	switch {
	case key == "":
		return wrong("access_token_not_found",
			"O cabeçalho de autenticação 'access_token' é obrigatório e não foi encontrado na requisição.")
	case key == g.apiKey:
	case !strings.HasPrefix(key, "$aact_"):
		return wrong("invalid_access_token_format", "O valor fornecido não parece ser uma chave de API válida.")
	case strings.HasPrefix(key, "$aact_prod_"):
		return wrong("invalid_environment", "A chave de API informada não pertence a este ambiente.")
	default:
		return wrong("invalid_access_token", "A chave de API fornecida é inválida.")
	}
	if h.Get("User-Agent") == "" {
		return account.BadRequest("invalid_user_agent", "O cabeçalho 'User-Agent' é obrigatório.")
	}
	return nil
}

// request is one call as its handler sees it, with the objects locked.
type request struct {
	*http.Request
	g   *Gateway
	now time.Time
}

// decode reads the body into v. Unknown fields are dropped silently, an empty body leaves v as it is.
func (r request) decode(v any) *account.APIError {
	err := json.NewDecoder(io.LimitReader(r.Body, bodyLimit)).Decode(v)
	switch {
	case err == nil, errors.Is(err, io.EOF):
		return nil
	case errors.Is(err, account.ErrAmount):
		return account.BadRequest("invalid_value", "O valor informado é inválido.")
	}
	return account.ErrObject("O corpo da requisição é inválido.")
}

func (r request) id() string { return r.PathValue("id") }

// call turns a handler into the HTTP one: it runs with the objects locked, success is always 200, and its events go
// out after the answer. The body is read before the lock is taken, so that a slow client holds up nobody.
func call[T any](g *Gateway, handle func(r request) (T, *account.APIError)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, bodyLimit))
		if err != nil {
			refuse(w, account.ErrObject("O corpo da requisição é inválido."))
			return
		}
		r.Body = io.NopCloser(strings.NewReader(string(body)))
		v, refused := do(r.Context(), g, func(now time.Time) (json.RawMessage, *account.APIError) {
			response, err := handle(request{r, g, now})
			if err != nil {
				return nil, err
			}
			return account.Encode(response), nil
		})
		if refused != nil {
			refuse(w, refused)
			return
		}
		writeJSON(w, http.StatusOK, v)
	}
}

// faultBody is the error document of a planned fault.
func faultBody(status int) []byte {
	switch {
	case status == http.StatusNotFound || status == http.StatusForbidden:
		return nil
	case status == http.StatusTooManyRequests:
		return account.ErrTooMany().Document()
	case status >= http.StatusInternalServerError:
		return account.Refuse(status, "internal_error",
			"Ocorreu um erro interno. Tente novamente mais tarde.").Document()
	}
	return account.Refuse(status, "invalid_action", "Não foi possível realizar a operação.").Document()
}

// refuse sends the error document.
func refuse(w http.ResponseWriter, e *account.APIError) {
	if e.Code == "" {
		w.WriteHeader(e.Status)
		return
	}
	writeJSON(w, e.Status, e.Document())
}

func writeJSON(w http.ResponseWriter, status int, document []byte) {
	w.Header().Set("Content-Type", "application/json;charset=UTF-8")
	w.WriteHeader(status)
	_, _ = w.Write(document) // the client has gone away: there is nobody to tell
}
