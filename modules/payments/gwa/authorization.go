package gwa

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"marquee/modules/payments/gateway"
	"marquee/modules/payments/internal/reply"
	"marquee/platform/money"
	"marquee/platform/nullable"
	"marquee/platform/objectid"
)

const authorizationsPath = "/pix/automatic/authorizations"

// maxAuthorizationText is the longest description of an authorization.
const maxAuthorizationText = 35

// frequencies by months; here a year is ANNUALLY, in subscriptions YEARLY.
var frequencies = map[int]string{1: "MONTHLY", 3: "QUARTERLY", 6: "SEMIANNUALLY", 12: "ANNUALLY"}

type authorizationBody struct {
	CustomerID      string        `json:"customerId"` // not customer
	ContractID      string        `json:"contractId"` // there is no externalReference
	Frequency       string        `json:"frequency"`
	StartDate       string        `json:"startDate"`
	Value           money.Reais   `json:"value"`
	Description     string        `json:"description,omitempty"`
	ImmediateQRCode immediateBody `json:"immediateQrCode"`
	// MANUAL: nobody but us makes the debits.
	PaymentCreationMode string `json:"paymentCreationMode"`
	RetryPolicy         string `json:"retryPolicy"`
}

type immediateBody struct {
	OriginalValue     money.Reais `json:"originalValue"`
	ExpirationSeconds int64       `json:"expirationSeconds"`
}

type authorization struct {
	ID                 string      `json:"id"`
	Status             string      `json:"status"`
	CustomerID         ref         `json:"customerId"`
	ContractID         *string     `json:"contractId"`
	Value              money.Reais `json:"value"`
	Payload            string      `json:"payload"`
	EncodedImage       string      `json:"encodedImage"`
	SubscriptionID     ref         `json:"subscriptionId"`
	CancellationReason string      `json:"cancellationReason"`
	ImmediateQRCode    struct {
		ConciliationIdentifier string `json:"conciliationIdentifier"`
		ExpirationDate         date   `json:"expirationDate"`
	} `json:"immediateQrCode"`
}

var authorizationStatuses = map[string]gateway.AuthorizationStatus{
	"CREATED":   gateway.AuthorizationStatusCreated,
	"ACTIVE":    gateway.AuthorizationStatusActive,
	"CANCELLED": gateway.AuthorizationStatusCancelled,
	"REFUSED":   gateway.AuthorizationStatusRefused,
	"EXPIRED":   gateway.AuthorizationStatusExpired,
}

func (a *authorization) neutral(zone *time.Location, now time.Time) gateway.PixAuthorization {
	n := gateway.PixAuthorization{
		ID: a.ID, SubscriptionID: reference(a.ContractID), CustomerID: string(a.CustomerID),
		Status: authorizationStatuses[a.Status],
		Amount: a.Value.Cents(), ConciliationID: a.ImmediateQRCode.ConciliationIdentifier, Payload: a.Payload,
		EncodedImage: a.EncodedImage,
		ExpiresAt:    a.ImmediateQRCode.ExpirationDate.in(zone), Reason: a.CancellationReason,
	}
	over := n.ExpiresAt != nil && !now.IsZero() && !now.Before(*n.ExpiresAt)
	n.Expired = n.Status != gateway.AuthorizationStatusCreated || over
	return n
}

func (a *authorization) identity() reply.Identity {
	return reply.Identity{ID: a.ID, Reference: nullable.Value(a.ContractID)}
}

func (a *authorization) check(id string, local objectid.ID) error {
	if authorizationStatuses[a.Status] == "" {
		return reply.Odd("it has no status")
	}
	return a.identity().Check(reply.Identity{ID: id, Reference: local.String()})
}

// AuthorizePix makes the authorization with its first code (docs/gateway-facts.md, A8).
func (g *authorizations) AuthorizePix(ctx context.Context,
	t gateway.AuthorizationTerms,
) (gateway.PixAuthorization, error) {
	frequency, known := frequencies[t.PeriodMonths]
	if !known {
		return gateway.PixAuthorization{}, &gateway.Rejected{
			Code: "invalid_frequency", Message: "no frequency of " + strconv.Itoa(t.PeriodMonths) + " months",
		}
	}
	created, err := post(ctx, g.client,
		request{path: authorizationsPath, timeout: g.cfg.Timeout, body: authorizationBody{
			CustomerID: t.Payer.GatewayID, ContractID: t.SubscriptionID.String(), Frequency: frequency,
			StartDate: g.dueDay(t.FirstDebit),
			Value:     t.Amount.Reais(), Description: short(t.Description, maxAuthorizationText),
			PaymentCreationMode: "MANUAL", RetryPolicy: "ALLOW_THREE_IN_SEVEN_DAYS",
			ImmediateQRCode: immediateBody{
				OriginalValue: t.FirstAmount.Reais(), ExpirationSeconds: max(int64(t.ExpiresIn/time.Second), 1),
			},
		}}, func(a *authorization) error { return a.check("", t.SubscriptionID) })
	if err != nil {
		return gateway.PixAuthorization{}, err
	}
	ref := gateway.AuthorizationRef{
		ID: created.ID, SubscriptionID: t.SubscriptionID, CustomerGatewayID: t.Payer.GatewayID,
	}
	a, err := reply.Made(func() (*authorization, error) { return g.authorization(ctx, ref) })
	if err != nil {
		return gateway.PixAuthorization{}, err
	}
	if a.Value.Cents() != t.Amount {
		return gateway.PixAuthorization{},
			g.undo(ctx, "authorization", a.ID, t.SubscriptionID,
				func(ctx context.Context, _ string, _ objectid.ID) error {
					return g.CancelPixAuthorization(ctx, ref)
				})
	}
	return a.neutral(g.cfg.Zone, g.cfg.Clock.Now()), nil
}

func short(s string, runes int) string {
	r := []rune(s)
	return string(r[:min(len(r), runes)])
}

// FindPixAuthorization looks through the customer's authorizations for the
// contract; lists come without the code, so that the one found is read.
func (g *authorizations) FindPixAuthorization(ctx context.Context,
	t gateway.AuthorizationTerms,
) (gateway.PixAuthorization, bool, error) {
	found, err := find(ctx, g.client, authorizationsPath, ofCustomer(t.Payer.GatewayID), func(a *authorization) bool {
		return reference(a.ContractID) == t.SubscriptionID
	})
	return reply.Found(found, err, func(a *authorization) (gateway.PixAuthorization, error) {
		return g.ReadPixAuthorization(ctx, gateway.AuthorizationRef{
			ID: a.ID, SubscriptionID: t.SubscriptionID, CustomerGatewayID: t.Payer.GatewayID,
		})
	})
}

func ofCustomer(id string) url.Values {
	if id == "" {
		return url.Values{}
	}
	return url.Values{"customerId": {id}}
}

// ReadPixAuthorization reads it with its code.
func (g *authorizations) ReadPixAuthorization(ctx context.Context,
	ref gateway.AuthorizationRef,
) (gateway.PixAuthorization, error) {
	a, err := g.authorization(ctx, ref)
	if err != nil {
		return gateway.PixAuthorization{}, err
	}
	return a.neutral(g.cfg.Zone, g.cfg.Clock.Now()), nil
}

func (g *client) authorization(ctx context.Context, ref gateway.AuthorizationRef) (*authorization, error) {
	a, err := get(ctx, g, authorizationsPath+"/"+url.PathEscape(ref.ID), nil,
		func(a *authorization) error { return a.check(ref.ID, ref.SubscriptionID) })
	return a, g.missingAuthorization(ctx, err, ref)
}

// missingAuthorization is missing for authorizations, which are listed by customer
// and not by our reference.
func (g *client) missingAuthorization(ctx context.Context, err error, ref gateway.AuthorizationRef) error {
	if !errors.Is(err, errNotThere) || ref.SubscriptionID == "" {
		return err
	}
	return absent(ctx, g, err, authorizationsPath, ofCustomer(ref.CustomerGatewayID), func(a *authorization) bool {
		return a.ID == ref.ID || ref.CustomerGatewayID != "" && string(a.CustomerID) != ref.CustomerGatewayID
	})
}

// CancelPixAuthorization ends it; what is over already is no error.
func (g *authorizations) CancelPixAuthorization(ctx context.Context, ref gateway.AuthorizationRef) error {
	path := authorizationsPath + "/" + url.PathEscape(ref.ID)
	_, err := repeated(ctx, g.client, request{method: http.MethodDelete, path: path, timeout: g.cfg.Timeout},
		func(a *authorization) error {
			if !authorizationStatuses[a.Status].Ended() {
				return reply.Odd("it does not say that it has ended")
			}
			return a.check(ref.ID, ref.SubscriptionID)
		})
	if !gateway.IsRejected(err) {
		return reply.Gone(g.missingAuthorization(ctx, err, ref))
	}
	now, readErr := g.ReadPixAuthorization(ctx, ref)
	switch {
	case readErr != nil:
		return reply.Gone(readErr)
	case !now.Status.Ended():
		return err
	}
	return nil
}

type debitBody struct {
	paymentBody
	AuthorizationID string `json:"pixAutomaticAuthorizationId"`
}

// cycleMark names the cycle in the description: the due date may have to move.
func (g *authorizations) cycleMark(t gateway.DebitTerms) string {
	return "[" + day(t.Cycle, g.cfg.Days) + "]"
}

// DebitPix orders the debit of one cycle.
func (g *authorizations) DebitPix(ctx context.Context, t gateway.DebitTerms) (gateway.Payment, error) {
	p, err := g.makePayment(ctx,
		request{
			path: "/payments", timeout: g.cfg.Timeout,
			body: debitBody{AuthorizationID: t.AuthorizationID, paymentBody: paymentBody{
				Customer: t.Payer.GatewayID, BillingType: "PIX", Value: t.Amount.Reais(), DueDate: g.dueDay(t.DueDate),
				Description:       strings.TrimSpace(t.Description + " " + g.cycleMark(t)),
				ExternalReference: t.SubscriptionID.String(),
			}},
		}, t.SubscriptionID)
	if err != nil {
		return gateway.Payment{}, err
	}
	if p.Value.Cents() != t.Amount {
		return gateway.Payment{}, g.undo(ctx, "debit", p.ID, t.SubscriptionID, g.CancelPix)
	}
	return p.neutral(g.cfg.Zone), nil
}

// FindPixDebit looks among the payments that carry the subscription's id for the
// debit of the cycle that has not been deleted.
func (g *authorizations) FindPixDebit(ctx context.Context, t gateway.DebitTerms) (gateway.Payment, bool, error) {
	query := named(t.SubscriptionID)
	query.Set("billingType", "PIX")
	found, err := find(ctx, g.client, "/payments", query, func(p *payment) bool {
		return !p.Deleted && strings.HasSuffix(p.Description, g.cycleMark(t)) &&
			reference(p.ExternalReference) == t.SubscriptionID
	})
	return reply.Found(found, err, func(listed *payment) (gateway.Payment, error) {
		p, err := g.payment(ctx, listed.ID, t.SubscriptionID)
		if err != nil {
			return gateway.Payment{}, err
		}
		return p.neutral(g.cfg.Zone), nil
	})
}

var authorizationEvents = meanings{
	read: map[string]reader{
		"PIX_AUTOMATIC_RECURRING_AUTHORIZATION_ACTIVATED": readAuthorization(gateway.AuthorizationStatusActive),
		"PIX_AUTOMATIC_RECURRING_AUTHORIZATION_CANCELLED": readAuthorization(gateway.AuthorizationStatusCancelled),
		"PIX_AUTOMATIC_RECURRING_AUTHORIZATION_REFUSED":   readAuthorization(gateway.AuthorizationStatusRefused),
		"PIX_AUTOMATIC_RECURRING_AUTHORIZATION_EXPIRED":   readAuthorization(gateway.AuthorizationStatusExpired),
	},
	confirmations: map[gateway.EventKind]confirmation{gateway.AuthorizationActivated: (*events).confirmActivated},
}

// readAuthorization reads the object under either key, or its bare id.
func readAuthorization(status gateway.AuthorizationStatus) reader {
	return func(g *events, env *envelope, e *gateway.Event) error {
		raw := env.Authorization
		if idOf(raw) == "" {
			raw = env.PixAutomaticAuthorization
		}
		var a authorization
		if json.Unmarshal(raw, &a) != nil || a.ID == "" {
			a = authorization{ID: string(idOf(raw))}
		}
		if a.ID == "" {
			return errNoObject
		}
		n := a.neutral(g.cfg.Zone, time.Time{})
		n.Status, n.Payload, n.EncodedImage = status, "", ""
		e.Payload = gateway.AuthorizationChange{Authorization: n}
		e.AuthorizationID, e.Reference, e.ConciliationID, e.CustomerID = n.ID, n.SubscriptionID, n.ConciliationID,
			n.CustomerID
		e.SubscriptionID = string(a.SubscriptionID)
		return nil
	}
}

func (g *events) confirmActivated(ctx context.Context, e gateway.Event) (gateway.Event, error) {
	reported, _ := e.Payload.(gateway.AuthorizationChange)
	a, err := g.authorization(ctx, gateway.AuthorizationRef{ID: reported.Authorization.ID})
	if err != nil {
		return e, err
	}
	n := a.neutral(g.cfg.Zone, g.cfg.Clock.Now())
	if n.Status != gateway.AuthorizationStatusActive {
		return e, unconfirmed(a.Status)
	}
	e.Payload = gateway.AuthorizationChange{Authorization: n}
	e.AuthorizationID, e.ConciliationID, e.Reference, e.CustomerID = n.ID, n.ConciliationID, n.SubscriptionID,
		n.CustomerID
	return e, nil
}
