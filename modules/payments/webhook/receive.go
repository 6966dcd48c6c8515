package webhook

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"runtime/debug"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"marquee/modules/payments/gateway"
	"marquee/modules/payments/internal/paymentsdb"
	"marquee/modules/payments/ledger"
	"marquee/modules/payments/state"
	"marquee/platform/fault"
	"marquee/platform/faultpoint"
	"marquee/platform/httpapi"
	"marquee/platform/nullable"
	"marquee/platform/objectid"
	"marquee/platform/postgres"
	"marquee/platform/tracing"
)

const (
	maxWebhookBody = 1 << 20 // bytes
	maxProof       = 1000    // bytes kept of a signature header
	// refusedBodyTime is what a refused call has for the part of its body that is kept.
	refusedBodyTime = time.Second
)

var (
	errBadSignature = &fault.Error{
		Kind: fault.KindUnauthenticated, Message: "The webhook's signature or token is not valid.",
	}
	errNotReceived = &fault.Error{
		Kind: fault.KindUnavailable, Message: "The event could not be stored. Send it again.",
		RetryAfter: 30 * time.Second,
	}
)

// webhookTime is what a gateway waits for us (10 s at gateway A), less the way.
const webhookTime = 9 * time.Second

// Receive answers a gateway: 401 for what it did not send, else 200 with the
// result, also when applying failed (docs/contract/payments.md, Webhooks). Only when nothing
// could be stored does it answer 503, so that the gateway sends the event again.
func (h Handlers) Receive(api *httpapi.API, name gateway.Name) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		// A transaction that has begun outlives a gateway that hangs up: it is done or not, never half known.
		ctx, cancel := context.WithTimeout(context.WithoutCancel(r.Context()), webhookTime)
		defer cancel()
		response, err := h.webhooks.take(ctx, w, r, name)
		h.webhooks.metrics.count(name, response, err)
		tracing.Annotate(ctx, "webhook.result", resultOf(response, err))
		if err != nil {
			api.WriteError(r.Context(), w, err)
			return
		}
		httpapi.WriteJSON(w, http.StatusOK, response)
	}
}

// take stores and applies what a gateway sends, once it is shown to have sent it.
func (s *Webhooks) take(ctx context.Context, w http.ResponseWriter, r *http.Request,
	name gateway.Name,
) (Response, error) {
	at := s.deps.Clock.Now()
	gw, ok := s.deps.Gateways[name] // without a secret nothing can be authenticated
	proof := ""
	if ok {
		proof, ok = gw.Authenticates(r.Header, at)
	}
	if !ok {
		s.refusals.refuse(ctx, refusal{
			gateway: name, reason: state.BadSignature, proof: storableProof(proof), at: at,
			body: func() []byte {
				httpapi.HurryBody(r, refusedBodyTime)
				raw, _ := io.ReadAll(io.LimitReader(r.Body, maxRefusedBody+1)) // what of it comes in time
				return raw
			},
		})
		return Response{}, errBadSignature
	}
	raw, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxWebhookBody))
	if err != nil {
		return Response{}, httpapi.BodyFault(err)
	}
	proof, authentic := gw.Authenticate(r.Header, raw, at)
	proof = storableProof(proof)
	if authentic != gateway.Genuine {
		reason := state.BadSignature
		if authentic == gateway.Skewed {
			reason = state.ClockSkew
			s.metrics.countIgnored(name, gateway.Result{Status: gateway.ResultIgnored, Reason: gateway.ReasonClockSkew})
		}
		s.refusals.refuse(ctx, refusal{
			gateway: name, reason: reason, proof: proof, at: at, body: func() []byte { return raw },
		})
		return Response{}, errBadSignature
	}
	select {
	case s.places <- struct{}{}:
		defer func() { <-s.places }()
	default:
		cause := *errNotReceived
		return Response{}, cause.WithCause(errCrowded)
	}
	staying, cancel := stays(ctx, r.Context())
	defer cancel()
	response, err := s.Receive(staying, gw, raw, proof, at)
	if postgres.IsBusy(err) {
		return Response{}, err // 503 SERVICE_BUSY
	}
	if errors.Is(err, context.DeadlineExceeded) {
		return Response{}, fault.Unavailable().WithCause(err)
	}
	if err != nil {
		cause := *errNotReceived
		return Response{}, cause.WithCause(err)
	}
	return response, nil
}

// errCrowded says that as many deliveries are being received as can be in the time that they have.
var errCrowded = errors.New("payments: too many deliveries at once")

// stays is the context of a delivery until its transaction begins: it ends, too, when the gateway hangs up. Nothing
// was acknowledged then, and it sends the event again.
func stays(ctx, call context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(ctx)
	stop := context.AfterFunc(call, cancel)
	return ctx, func() {
		stop()
		cancel()
	}
}

// inTx runs f in a transaction that, once it has begun, does not end with a caller who leaves, but with the time that
// the caller has. F gets the context of it.
func inTx(ctx context.Context, pool postgres.Beginner, f func(ctx context.Context, tx pgx.Tx) error) error {
	own, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	if until, ok := ctx.Deadline(); ok {
		own, cancel = context.WithDeadline(own, until)
		defer cancel()
	}
	stop := context.AfterFunc(ctx, cancel) // while a connection is waited for
	defer stop()
	return postgres.InTx(own, pool, func(tx pgx.Tx) error {
		if !stop() {
			return ctx.Err()
		}
		return f(own, tx)
	})
}

// storableProof is as much of a signature as the log keeps.
func storableProof(proof string) string {
	return strings.ReplaceAll(strings.ToValidUTF8(proof[:min(len(proof), maxProof)], ""), "\x00", "")
}

// Response is the body that a gateway gets.
type Response struct {
	Received  bool           `json:"received"`
	EventID   *string        `json:"event_id"`
	EventType *string        `json:"event_type"`
	Result    gateway.Result `json:"result"`
}

// delivery is one authenticated call of a gateway.
type delivery struct {
	log   objectid.ID
	event gateway.Event
	body  json.RawMessage // as it is stored
	proof string          // the signature, where it is no secret
	at    time.Time
	// request is the id of the HTTP request, "" outside of one.
	request string
}

// applyTime is how long an event that has just come may take to be applied, and
// storeTime how long until it is stored at least, both from its coming. A call that
// waits for a lock is answered in time for the gateway to hear that it has to come again.
const (
	applyTime = 3 * time.Second
	storeTime = 4500 * time.Millisecond
)

// placesPerCore bounds the deliveries that are being received at once: what a core applies in part of applyTime. One
// more is answered 503 at once, which costs nothing, and leaves those before it their time.
const placesPerCore = 2 * maxTogether

// Receive logs an authenticated event and applies it, in one transaction; whatever
// goes wrong in that is queued in a second one, which waits for nothing but the
// event itself. The error is a failure of the database alone, postgres.ErrBusy when
// it was a wait that took too long.
func (s *Webhooks) Receive(ctx context.Context, gateway gateway.Adapter, body []byte, proof string,
	at time.Time,
) (Response, error) {
	ctx, cancel := context.WithTimeout(postgres.As(ctx, postgres.Brief, ""),
		storeTime) // it is authenticated, and will not be turned away
	defer cancel()
	response, err := s.store(ctx, gateway, body, proof, at)
	if err != nil && ctx.Err() != nil {
		err = fmt.Errorf("%w: %w", postgres.ErrBusy, err)
	}
	return response, err
}

// store is Receive for a context that ends in time.
func (s *Webhooks) store(ctx context.Context, gw gateway.Adapter, body []byte, proof string,
	at time.Time,
) (Response, error) {
	d := delivery{
		log: objectid.At(at), body: storable(body, len(body)), proof: proof, at: at, request: httpapi.RequestID(ctx),
	}
	var malformed error
	d.event, malformed = gw.ReadEvent(body)
	d.event.ID, d.event.Type = shortText(d.event.ID), shortText(d.event.Type)
	if malformed == nil && (d.event.ID == "" || d.event.Type == "") {
		malformed = errors.New("it has no id or no type")
	}
	d.event.Gateway, d.event.LogID = gw.Name(), d.log
	d.event.ReceivedAt(at)
	response := Response{Received: true, EventID: nullable.Ptr(d.event.ID), EventType: nullable.Ptr(d.event.Type)}
	if malformed != nil {
		s.deps.Log.WarnContext(ctx, "webhook is no event", slog.String("gateway", string(gw.Name())),
			slog.String("log_id", d.log.String()), slog.Any("error", malformed))
		response.Result = gateway.Result{Status: gateway.ResultIgnored, Reason: gateway.ReasonUnreadable}
		return response, s.logFinal(ctx, d, response.Result)
	}
	if d.event.Payload != nil { // its type is one of those that are known here, and no text that somebody made up
		tracing.Annotate(ctx, "webhook.event_type", d.event.Type)
	}
	if reason := d.event.Impossible(); reason != "" {
		s.deps.Log.WarnContext(ctx, "webhook can never be applied", slog.String("gateway", string(gw.Name())),
			slog.String("event_id", d.event.ID), slog.String("log_id", d.log.String()), slog.String("reason", reason))
		response.Result = gateway.Result{Status: gateway.ResultIgnored, Reason: gateway.ReasonImpossible.With(reason)}
		return response, s.logFinal(ctx, d, response.Result)
	}
	result, err := s.applyAtOnce(ctx, d)
	switch {
	case err == nil:
		s.metrics.observe(gw.Name(), s.deps.Clock.Now().Sub(at))
	case ctx.Err() == nil:
		s.deps.Log.WarnContext(ctx, "webhook event queued", slog.String("gateway", string(d.event.Gateway)),
			slog.String("event_id", d.event.ID), slog.String("event_type", d.event.Type), slog.Any("error", err))
		err = inTx(ctx, s.deps.Pool, func(ctx context.Context, tx pgx.Tx) (err error) {
			result, err = s.queueTx(ctx, tx, d)
			return err
		})
	}
	response.Result = result
	return response, err
}

// applyAtOnce applies an event while its gateway waits, together with others where it can be. After an error nothing
// of it stands, or, when it was the commit that failed, all of it.
func (s *Webhooks) applyAtOnce(ctx context.Context, d delivery) (result gateway.Result, err error) {
	ctx, cancel := context.WithTimeout(postgres.As(ctx, postgres.Urgent, "events being applied"), applyTime)
	defer cancel()
	if result, received := s.receiveShared(ctx, d); received {
		return result, nil
	}
	if err := ctx.Err(); err != nil {
		return gateway.Result{}, err
	}
	err = inTx(ctx, s.deps.Pool, func(ctx context.Context, tx pgx.Tx) (err error) {
		result, err = s.receiveTx(ctx, tx, d)
		return err
	})
	return result, err
}

// receiveTx applies the first delivery of an event and logs it; the others, also
// those that come at the same time, are logged with its result.
func (s *Webhooks) receiveTx(ctx context.Context, tx pgx.Tx, d delivery) (gateway.Result, error) {
	claimed, err := s.claimTx(ctx, tx, d)
	if err != nil {
		return gateway.Result{}, err
	}
	if !claimed {
		return s.repeatTx(ctx, tx, d)
	}
	result, err := s.ApplyTx(ctx, tx, d.event)
	if err != nil {
		return gateway.Result{}, fmt.Errorf("apply: %w", err)
	}
	to := state.EventDone
	if result.Unclaimed {
		// The row may have been committed since it was looked for, and its call of
		// ReplayWaitingTx have found nothing: one more check after this commit closes the gap.
		result, to = unclaimed(result), state.EventWaiting
		if err := ledger.InsertReplayTx(ctx, tx, s.ledger, d.event.Gateway, d.event.Subjects()); err != nil {
			return gateway.Result{}, err
		}
	}
	if err := s.receivedTx(ctx, tx, d, to, result); err != nil {
		return gateway.Result{}, err
	}
	faultpoint.Hit("webhook.applied")
	return result, nil
}

// claimTx reports whether the caller is the one who applies the event. It waits
// while another transaction is at it.
func (s *Webhooks) claimTx(ctx context.Context, tx pgx.Tx, d delivery) (bool, error) {
	claimed, err := s.db.ProcessedEventReceive(ctx, tx, paymentsdb.ProcessedEventReceiveParams{
		Gateway: d.event.Gateway, EventID: d.event.ID, LogID: d.log, Subjects: subjectsOf(d.event),
		EventAt: d.event.CreatedAt, At: d.at,
	})
	if err != nil {
		return false, fmt.Errorf("claim event: %w", err)
	}
	return claimed == 1, nil
}

// subjectsOf is never nil: the column holds an array.
func subjectsOf(e gateway.Event) []string { return append([]string{}, e.Subjects()...) }

// ApplyTx asks the appliers. After an error, also a panic, the transaction has to
// be rolled back.
func (s *Webhooks) ApplyTx(ctx context.Context, tx pgx.Tx, e gateway.Event) (result gateway.Result, err error) {
	if e.Payload == nil {
		return gateway.Result{Status: gateway.ResultIgnored, Reason: gateway.ReasonNoConsequence}, nil
	}
	if reason := e.Impossible(); reason != "" { // stored before this was looked at
		return gateway.Result{Status: gateway.ResultIgnored, Reason: gateway.ReasonImpossible.With(reason)}, nil
	}
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic while applying: %v\n%s", p, debug.Stack())
		}
	}()
	if _, nameless := e.Payload.(gateway.NamelessPayment); nameless {
		return s.takeNamelessTx(ctx, tx, e)
	}
	if e.Known, err = s.reader.KnownPayment(ctx, tx, e); err != nil {
		return gateway.Result{}, err
	}
	if !e.IsProof() {
		return s.applyUnsignedTx(ctx, tx, e)
	}
	return s.dispatchTx(ctx, tx, e)
}

// applyUnsignedTx applies an event that proves nothing by itself. Where it is about something
// known here and would change it, the change is rolled back: a job asks the gateway first.
func (s *Webhooks) applyUnsignedTx(ctx context.Context, tx pgx.Tx, e gateway.Event) (gateway.Result, error) {
	settled, isSettled := e.Payload.(gateway.SettledPayment)
	if _, failed := e.Payload.(gateway.FailedPayment); !e.NeedsConfirmation() && !isSettled && !failed {
		return s.dispatchTx(ctx, tx, e)
	}
	if isSettled {
		known, err := s.reader.FindPayment(ctx, tx, e.Gateway, settled.Payment.ID)
		if err != nil || known != nil {
			if err != nil {
				return gateway.Result{}, err
			}
			return s.dispatchTx(ctx, tx, e)
		}
	}
	trial, err := tx.Begin(ctx)
	if err != nil {
		return gateway.Result{}, err
	}
	result, err := s.dispatchTx(ctx, trial, e)
	if err != nil {
		return gateway.Result{}, err
	}
	if result.Unclaimed || result.Taken || countsUnsigned(e, result, s.deps.Clock.Now()) {
		return result, trial.Commit(ctx)
	}
	if err := trial.Rollback(ctx); err != nil {
		return gateway.Result{}, err
	}
	return gateway.AwaitingConfirmation(result.SubscriptionID, gateway.ReasonToConfirm),
		s.queueConfirmationTx(ctx, tx, ConfirmEventArgs{Gateway: e.Gateway, EventID: e.ID}, time.Time{})
}

// countsUnsigned reports whether what an event changed here stands, although nothing signs it and its gateway was not
// asked (docs/gateways.md, Money that gateway A tells). It does when its id was told here before, by the answer to our
// own call. A charge of a card's recurrence has an id that the gateway makes, and its applier has held the amount
// against the price: it stands as well, so that renewals wait for no call. A forged one gives the period of one due
// date, and reconciliation finds that the gateway does not show it. What says that it was paid, or was due, far ahead
// would give more than that, and the first code of an automatic PIX opens a subscription: these are asked for, as are
// failures by such an id, and all that opens, ends or takes back.
func countsUnsigned(e gateway.Event, r gateway.Result, now time.Time) bool {
	if e.NeedsConfirmation() {
		return false
	}
	if !r.Unproven {
		return true
	}
	paid, settled := e.Payload.(gateway.SettledPayment)
	firstCode := e.ConciliationID != ""
	return settled && !firstCode && !paid.Payment.IsFarAhead(now)
}

// dispatchTx has the one apply an event whose subject it is.
func (s *Webhooks) dispatchTx(ctx context.Context, tx pgx.Tx, e gateway.Event) (result gateway.Result, err error) {
	if e.Known != nil && e.Known.Purpose == gateway.ForCustomer {
		return s.applyOfCustomerTx(ctx, tx, e)
	}
	waiting := gateway.Result{Status: gateway.ResultIgnored, Unclaimed: true}
	for _, a := range s.appliers {
		result, err = a.ApplyEventTx(ctx, tx, e)
		if err != nil || !result.Unclaimed {
			return result, err
		}
		if result.Reason != "" {
			waiting = result // its subject is known, but not yet what the event is about
		}
	}
	if waiting.Reason != "" {
		return waiting, nil
	}
	if e.IsStrayMoney() {
		result, err = s.takeStrayTx(ctx, tx, e)
		if err != nil || result.Taken {
			return result, err
		}
	}
	if e.NamesOurs() {
		waiting.Reason = gateway.ReasonNamesLost
	}
	return waiting, nil
}

// receivedTx logs the delivery that was applied, and gives its event the result.
func (s *Webhooks) receivedTx(ctx context.Context, tx pgx.Tx, d delivery, to state.Event, r gateway.Result) error {
	raw, err := json.Marshal(r)
	if err != nil {
		return err
	}
	params := paymentsdb.ProcessedEventRecordParams{
		State: to, Result: raw, At: s.deps.Clock.Now(), Gateway: d.event.Gateway, EventID: d.event.ID,
		EventType: nullable.Ptr(d.event.Type),
		LogID:     d.log, Payload: d.body, Signature: nullable.Ptr(d.proof), ReceivedAt: d.at,
		RequestID: nullable.Ptr(d.request),
	}
	if to != state.EventQueued {
		params.Processed, params.ProcessedAt = true, &params.At
	}
	if err := s.db.ProcessedEventRecord(ctx, postgres.Later(tx), params); err != nil {
		return fmt.Errorf("log and finish event: %w", err)
	}
	return nil
}
