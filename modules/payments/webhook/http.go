package webhook

import (
	"context"
	"io"
	"net/http"
	"strings"
	"time"

	"marquee/modules/payments/gateway"
	"marquee/platform/fault"
	"marquee/platform/httpapi"
	"marquee/platform/postgres"
)

const (
	maxWebhookBody = 1 << 20 // bytes
	// webhookTime is what a gateway waits for us (10 s at gateway A), less the way.
	webhookTime = 9 * time.Second
	maxProof    = 1000 // bytes kept of a signature header
	// refusedBodyTime is what a refused call has for the part of its body that is kept.
	refusedBodyTime = time.Second
)

var (
	errBadSignature = &fault.Error{Kind: fault.Unauthenticated, Message: "The webhook's signature or token is not valid."}
	errNotReceived  = &fault.Error{Kind: fault.Unavailable, Message: "The event could not be stored. Send it again.", RetryAfter: 30 * time.Second}
)

// Handler answers a gateway: 401 for what it did not send, else 200 with the
// result, also when applying failed (specification, Events). Only when nothing
// could be stored does it answer 503, so that the gateway sends the event again.
func (s *Webhooks) Handler(api *httpapi.API, name gateway.Name) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		// The work outlives a gateway that hangs up: it is done or not, never half known.
		ctx, cancel := context.WithTimeout(context.WithoutCancel(r.Context()), webhookTime)
		defer cancel()
		answer, err := s.takeWebhook(ctx, w, r, name)
		if err != nil {
			api.WriteError(r.Context(), w, err)
			return
		}
		httpapi.WriteJSON(w, http.StatusOK, answer)
	}
}

func (s *Webhooks) takeWebhook(ctx context.Context, w http.ResponseWriter, r *http.Request, name gateway.Name) (Answer, error) {
	at := s.deps.Clock.Now()
	gw, ok := s.deps.Gateways[name] // without a secret nothing can be authenticated
	proof := ""
	if ok {
		proof, ok = gw.Admits(r.Header, at)
	}
	if !ok {
		s.refusals.refuse(ctx, refusal{gateway: name, reason: badSignature, proof: storableProof(proof), at: at, body: func() []byte {
			httpapi.HurryBody(r, refusedBodyTime)
			raw, _ := io.ReadAll(io.LimitReader(r.Body, maxRefusedBody+1)) // what of it comes in time
			return raw
		}})
		return Answer{}, errBadSignature
	}
	raw, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxWebhookBody))
	if err != nil {
		return Answer{}, httpapi.BodyFault(err)
	}
	proof, authentic := gw.Authenticate(r.Header, raw, at)
	proof = storableProof(proof)
	if authentic != gateway.Genuine {
		reason := badSignature
		if authentic == gateway.Skewed {
			reason = clockSkew
		}
		s.refusals.refuse(ctx, refusal{gateway: name, reason: reason, proof: proof, at: at, body: func() []byte { return raw }})
		return Answer{}, errBadSignature
	}
	answer, err := s.Receive(ctx, gw, raw, proof, at)
	if postgres.IsBusy(err) {
		return Answer{}, err // 503 SERVICE_BUSY
	}
	if err != nil {
		cause := *errNotReceived
		return Answer{}, cause.WithCause(err)
	}
	return answer, nil
}

// storableProof is as much of a signature as the log keeps.
func storableProof(proof string) string {
	return strings.ReplaceAll(strings.ToValidUTF8(proof[:min(len(proof), maxProof)], ""), "\x00", "")
}
