package gwa

import (
	"context"
	"encoding/json"
	"net/url"
	"slices"
	"strings"
	"time"

	"marquee/modules/payments/gateway"
	"marquee/modules/payments/internal/reply"
)

const instructionsPath = "/pix/automatic/paymentInstructions"

// instruction is one order to the payer's bank to pay a debit (docs/gateway-facts.md, A8). Whether a
// retry changes the instruction or makes another is not certain.
type instruction struct {
	ID                 string `json:"id"`
	PaymentID          ref    `json:"paymentId"`
	Payment            ref    `json:"payment"`
	Authorization      ref    `json:"authorization"`
	Status             string `json:"status"`
	DueDate            date   `json:"dueDate"`
	RetryAttempt       int    `json:"retryAttempt"`
	RefusalReason      string `json:"refusalReason"`
	CancellationReason string `json:"cancellationReason"`
}

var instructionStatuses = map[string]gateway.PixOrderStatus{
	"AWAITING_REQUEST": gateway.PixOrderOpen,
	"SCHEDULED":        gateway.PixOrderOpen,
	"DONE":             gateway.PixOrderDone,
	"REFUSED":          gateway.PixOrderRefused,
	"CANCELLED":        gateway.PixOrderCancelled,
}

// finalReasons are refusals that stand however often the debit is ordered.
var finalReasons = []string{"ACCOUNT_CLOSED", "AMOUNT_MISMATCH", "PAYER_CPF_CNPJ_MISMATCH"}

func (i *instruction) identity() reply.Identity { return reply.Identity{ID: i.ID} }

func (i *instruction) payment() string { return firstID(i.PaymentID, i.Payment) }

// reason is the gateway's word. In which field a cancellation has its own is not certain.
func (i *instruction) reason() string {
	if i.CancellationReason != "" {
		return i.CancellationReason
	}
	return i.RefusalReason
}

// cancelledByPayer tells a debit that the payer took back from one that we did, or
// that the gateway took back because it was paid before.
func (i *instruction) cancelledByPayer() bool { return strings.Contains(i.reason(), "PAYER") }

func (i *instruction) neutral(zone *time.Location) gateway.PixOrder {
	return gateway.PixOrder{
		ID: i.ID, PaymentID: i.payment(), Status: instructionStatuses[i.Status], DueDate: i.DueDate.in(zone),
		Attempt: i.RetryAttempt,
		Reason:  i.reason(), Final: slices.Contains(finalReasons, i.RefusalReason),
	}
}

// FindPixOrder reads the newest instruction of a payment.
func (g *authorizations) FindPixOrder(ctx context.Context, paymentID string) (gateway.PixOrder, bool, error) {
	var newest *instruction
	err := each(ctx, g.client, instructionsPath, url.Values{"paymentId": {paymentID}}, func(i *instruction) bool {
		if i.payment() == paymentID && (newest == nil || i.RetryAttempt > newest.RetryAttempt) {
			newest = i
		}
		return true
	})
	if err != nil || newest == nil {
		return gateway.PixOrder{}, false, reply.Unproven(err)
	}
	return newest.neutral(g.cfg.Zone), true, nil
}

// RetryPixOrder orders a refused debit again.
func (g *authorizations) RetryPixOrder(ctx context.Context, t gateway.RetryTerms) (gateway.PixOrder, error) {
	path, due := instructionsPath+"/"+url.PathEscape(t.OrderID)+"/retries", g.dueDay(t.DueDate)
	i, err := post(ctx, g.client, request{path: path, timeout: g.cfg.Timeout, body: map[string]string{"dueDate": due}},
		func(i *instruction) error {
			at := i.DueDate.in(g.cfg.Zone)
			if i.payment() != t.PaymentID || at == nil || day(*at, g.cfg.Zone) != due {
				return reply.Odd("it is no order of that payment for that day")
			}
			return i.identity().Check(reply.Identity{})
		})
	if err != nil {
		return gateway.PixOrder{}, err
	}
	return i.neutral(g.cfg.Zone), nil
}

var debitEvents = meanings{read: map[string]reader{
	"PIX_AUTOMATIC_RECURRING_PAYMENT_INSTRUCTION_REFUSED":   (*events).readDebitRefused,
	"PIX_AUTOMATIC_RECURRING_PAYMENT_INSTRUCTION_CANCELLED": (*events).readDebitCancelled,
}}

// readDebitRefused reads a debit of automatic PIX that the payer's bank refused;
// PAYMENT_OVERDUE of the same payment follows and counts as the same attempt, and so
// does a retry that is refused.
func (g *events) readDebitRefused(env *envelope, e *gateway.Event) error {
	return g.readDebit(env, e, func(i *instruction) (failed, final bool) {
		return true, slices.Contains(finalReasons, i.RefusalReason)
	})
}

// readDebitCancelled reads a debit that was taken back before its day. By the payer it
// is a failure, and no retry is taken by the gateway. Our own deleting is told by
// PAYMENT_DELETED and the end of the authorization; what was paid before, by its payment.
func (g *events) readDebitCancelled(env *envelope, e *gateway.Event) error {
	return g.readDebit(env, e, func(i *instruction) (failed, final bool) { return i.cancelledByPayer(), true })
}

// readDebit reads an instruction; judge says whether it tells a failure, and whether one
// that no retry changes.
func (g *events) readDebit(env *envelope, e *gateway.Event, judge func(i *instruction) (failed, final bool)) error {
	var i instruction
	if json.Unmarshal(env.Instruction, &i) != nil {
		return errNoObject
	}
	authorization := firstID(i.Authorization, idOf(env.Authorization))
	failed, final := judge(&i)
	if i.payment() == "" || authorization == "" || !failed {
		return nil // nothing to count it by, or nothing to count
	}
	e.AuthorizationID = authorization
	e.Payload = gateway.FailedPayment{
		Payment: gateway.Payment{
			ID: i.payment(), Status: gateway.PaymentStatusPending, NativeStatus: "REFUSED", Method: gateway.MethodPix,
			DueDate: i.DueDate.in(g.cfg.Zone),
		},
		Attempt: 1, Reason: i.reason(), Final: final,
	}
	return nil
}
