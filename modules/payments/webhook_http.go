package payments

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"time"

	"marquee/modules/payments/internal/paymentsdb"
	"marquee/platform/fault"
	"marquee/platform/httpapi"
	"marquee/platform/objectid"
)

const (
	maxWebhookBody = 1 << 20  // bytes
	maxForeignBody = 16 << 10 // bytes kept of a body that could not be authenticated
	// webhookTime is what a gateway waits for us (10 s at gateway A), less the way.
	webhookTime = 9 * time.Second
	maxEventID  = 255  // bytes of event ids and types; gateway A's have about 50
	maxProof    = 1000 // bytes kept of a signature header
)

var (
	errBadSignature = &fault.Error{Kind: fault.Unauthenticated, Message: "The webhook's signature or token is not valid."}
	errNotReceived  = &fault.Error{Kind: fault.Unavailable, Message: "The event could not be stored. Send it again.", RetryAfter: 30 * time.Second}
)

// webhook answers a gateway: 401 for what it did not send, else 200 with the
// result, also when applying failed (specification, Events). Only when nothing
// could be stored does it answer 503, so that the gateway sends the event again.
func (s *Service) webhook(api *httpapi.API, name GatewayName) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		// The work outlives a gateway that hangs up: it is done or not, never half known.
		ctx, cancel := context.WithTimeout(context.WithoutCancel(r.Context()), webhookTime)
		defer cancel()
		answer, err := s.takeWebhook(ctx, name, r.Header, http.MaxBytesReader(w, r.Body, maxWebhookBody))
		if err != nil {
			api.WriteError(r.Context(), w, err)
			return
		}
		httpapi.WriteJSON(w, http.StatusOK, answer)
	}
}

func (s *Service) takeWebhook(ctx context.Context, name GatewayName, h http.Header, body io.Reader) (Answer, error) {
	at := s.deps.Clock.Now()
	raw, err := io.ReadAll(body)
	if err != nil {
		var tooLarge *http.MaxBytesError
		if errors.As(err, &tooLarge) {
			return Answer{}, &fault.Error{Kind: fault.TooLarge, Message: "The body is larger than 1 MiB."}
		}
		return Answer{}, fault.BadDetail("The body could not be read.")
	}
	gateway, ok := s.gateways[name]
	if !ok {
		return Answer{}, errBadSignature // without a secret nothing can be authenticated
	}
	proof, ok := gateway.Authenticate(h, raw, at)
	proof = strings.ReplaceAll(strings.ToValidUTF8(proof[:min(len(proof), maxProof)], ""), "\x00", "")
	if !ok {
		if err := s.logForeign(ctx, name, raw, proof, at); err != nil {
			s.deps.Log.ErrorContext(ctx, "unauthenticated webhook not logged", slog.String("gateway", string(name)), slog.Any("error", err))
		}
		return Answer{}, errBadSignature
	}
	answer, err := s.receive(ctx, gateway, raw, proof, at)
	if err != nil {
		cause := *errNotReceived
		return Answer{}, cause.WithCause(err)
	}
	return answer, nil
}

// logForeign logs a call whose signature or token is wrong, of its body no more
// than a bounded part.
func (s *Service) logForeign(ctx context.Context, name GatewayName, body []byte, proof string, at time.Time) error {
	payload := storable(body, maxForeignBody)
	id, kind := claimedIdentity(payload)
	return s.db.WebhookLogInsert(ctx, s.deps.Pool, paymentsdb.WebhookLogInsertParams{
		ID: objectid.At(at), Gateway: string(name), EventID: filled(id), EventType: filled(kind), Payload: payload,
		Signature: filled(proof), SignatureValid: false, ReceivedAt: at,
	})
}

// gwbConfigBody is the answer of GET /gwb/config.
type gwbConfigBody struct {
	PublishableKey string `json:"publishable_key" doc:"Public key of gateway B for its client library"`
}

func (s *Service) gwbConfig(context.Context, *struct{}) (*httpapi.Output[gwbConfigBody], error) {
	if s.deps.GWBPublishableKey == "" {
		return nil, (&fault.Error{Kind: fault.Internal}).WithCause(errors.New("GWB_PUBLISHABLE_KEY is not set"))
	}
	return &httpapi.Output[gwbConfigBody]{Body: gwbConfigBody{PublishableKey: s.deps.GWBPublishableKey}}, nil
}
