package gwa

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"
	"time"
)

// bodyLimit bounds the body of a call, in bytes.
const bodyLimit = 1 << 20

// routes is the API. Unknown paths answer 404 with an empty body.
func (g *Gateway) routes() http.Handler {
	mux := http.NewServeMux()
	add := func(pattern string, h http.HandlerFunc) { mux.HandleFunc(pattern, h) }

	add("POST /v3/customers", call(g, g.postCustomer))
	add("GET /v3/customers", call(g, g.listCustomers))
	add("GET /v3/customers/{id}", call(g, g.getCustomer))
	add("PUT /v3/customers/{id}", call(g, g.putCustomer))
	add("DELETE /v3/customers/{id}", call(g, g.deleteCustomer))

	add("POST /v3/subscriptions", call(g, g.postSubscription))
	add("GET /v3/subscriptions", call(g, g.listSubscriptions))
	add("GET /v3/subscriptions/{id}", call(g, g.getSubscription))
	add("PUT /v3/subscriptions/{id}", call(g, g.putSubscription))
	add("PUT /v3/subscriptions/{id}/creditCard", call(g, g.putSubscriptionCard))
	add("DELETE /v3/subscriptions/{id}", call(g, g.deleteSubscriptionCall))
	add("GET /v3/subscriptions/{id}/payments", call(g, g.listSubscriptionPayments))

	add("POST /v3/payments", call(g, g.postPayment))
	add("GET /v3/payments", call(g, g.listPayments))
	add("GET /v3/payments/{id}", call(g, g.getPayment))
	add("GET /v3/payments/{id}/status", call(g, g.getPaymentStatus))
	add("GET /v3/payments/{id}/pixQrCode", call(g, g.getPixQRCode))
	add("POST /v3/payments/{id}/refund", call(g, g.postRefund))
	add("GET /v3/payments/{id}/refunds", call(g, g.listRefunds))
	add("DELETE /v3/payments/{id}", call(g, g.deletePaymentCall))

	add("POST /v3/pix/automatic/authorizations", call(g, g.postAuthorization))
	add("GET /v3/pix/automatic/authorizations", call(g, g.listAuthorizations))
	add("GET /v3/pix/automatic/authorizations/{id}", call(g, g.getAuthorization))
	add("DELETE /v3/pix/automatic/authorizations/{id}", call(g, g.deleteAuthorization))
	add("GET /v3/pix/automatic/paymentInstructions", call(g, g.listInstructions))
	add("GET /v3/pix/automatic/paymentInstructions/{id}", call(g, g.getInstruction))
	add("POST /v3/pix/automatic/paymentInstructions/{id}/retries", call(g, g.postInstructionRetry))

	add("POST /v3/webhooks", call(g, g.postWebhook))
	add("GET /v3/webhooks", call(g, g.listWebhooks))
	add("GET /v3/webhooks/{id}", call(g, g.getWebhook))
	add("PUT /v3/webhooks/{id}", call(g, g.putWebhook))
	add("DELETE /v3/webhooks/{id}", call(g, g.deleteWebhook))
	add("POST /v3/webhooks/{id}/removeBackoff", call(g, g.postRemoveBackoff))

	add("POST /v3/sandbox/payment/{id}/confirm", call(g, g.postSandboxConfirm))
	add("POST /v3/sandbox/payment/{id}/overdue", call(g, g.postSandboxOverdue))
	add("POST /v3/sandbox/myAccount/approve", call(g, g.postSandboxApprove))

	add("/", func(w http.ResponseWriter, _ *http.Request) { notFound().write(w) })
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
			err.write(w)
			return
		}
		next.ServeHTTP(w, r)
	})
}

func (g *Gateway) authenticate(h http.Header) *apiError {
	refuse := func(code, description string) *apiError {
		return &apiError{http.StatusUnauthorized, code, description}
	}
	key := h.Get("access_token")
	switch {
	case key == "":
		return refuse("access_token_not_found",
			"O cabeçalho de autenticação 'access_token' é obrigatório e não foi encontrado na requisição.")
	case key == g.apiKey:
	case !strings.HasPrefix(key, "$aact_"):
		return refuse("invalid_access_token_format", "O valor fornecido não parece ser uma chave de API válida.")
	case strings.HasPrefix(key, "$aact_prod_"):
		return refuse("invalid_environment", "A chave de API informada não pertence a este ambiente.")
	default:
		return refuse("invalid_access_token", "A chave de API fornecida é inválida.")
	}
	if h.Get("User-Agent") == "" {
		return badRequest("invalid_user_agent", "O cabeçalho 'User-Agent' é obrigatório.")
	}
	return nil
}

// request is one call as its handler sees it, with the objects locked.
type request struct {
	*http.Request
	now time.Time
}

// decode reads the body into v. Unknown fields are dropped silently, an empty body leaves v as it is.
func (r request) decode(v any) *apiError {
	err := json.NewDecoder(io.LimitReader(r.Body, bodyLimit)).Decode(v)
	switch {
	case err == nil, errors.Is(err, io.EOF):
		return nil
	case errors.Is(err, errAmount):
		return badRequest("invalid_value", "O valor informado é inválido.")
	}
	return errObject("O corpo da requisição é inválido.")
}

func (r request) id() string { return r.PathValue("id") }

// call turns a handler into the HTTP one: it runs with the objects locked, success is always 200, and its events go
// out after the answer. The body is read before the lock is taken, so that a slow client holds up nobody.
func call[T any](g *Gateway, handle func(r request) (T, *apiError)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, bodyLimit))
		if err != nil {
			errObject("O corpo da requisição é inválido.").write(w)
			return
		}
		r.Body = io.NopCloser(strings.NewReader(string(body)))
		v, refused := do(r.Context(), g, func(now time.Time) (json.RawMessage, *apiError) {
			response, err := handle(request{r, now})
			if err != nil {
				return nil, err
			}
			return encode(response), nil
		})
		if refused != nil {
			refused.write(w)
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
		return errTooMany().document()
	case status >= http.StatusInternalServerError:
		return (&apiError{status, "internal_error", "Ocorreu um erro interno. Tente novamente mais tarde."}).document()
	}
	return (&apiError{status, "invalid_action", "Não foi possível realizar a operação."}).document()
}
