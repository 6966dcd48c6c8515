package gwa

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"time"

	"marquee/modules/payments"
	"marquee/platform/money"
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

var authorizationStatuses = map[string]payments.AuthorizationStatus{
	"CREATED":   payments.AuthorizationCreated,
	"ACTIVE":    payments.AuthorizationActive,
	"CANCELLED": payments.AuthorizationCancelled,
	"REFUSED":   payments.AuthorizationRefused,
	"EXPIRED":   payments.AuthorizationExpired,
}

func (a *authorization) neutral(zone *time.Location, now time.Time) payments.PixAuthorization {
	n := payments.PixAuthorization{
		ID: a.ID, SubscriptionID: reference(a.ContractID), CustomerID: string(a.CustomerID), Status: authorizationStatuses[a.Status],
		Amount: a.Value.Cents(), ConciliationID: a.ImmediateQRCode.ConciliationIdentifier, Payload: a.Payload, EncodedImage: a.EncodedImage,
		ExpiresAt: a.ImmediateQRCode.ExpirationDate.in(zone), Reason: a.CancellationReason,
	}
	over := n.ExpiresAt != nil && !now.IsZero() && !now.Before(*n.ExpiresAt)
	n.Expired = n.Status != payments.AuthorizationCreated || over
	return n
}

// AuthorizePix makes the authorization with its first code (section 8).
func (g *Gateway) AuthorizePix(ctx context.Context, t payments.AuthorizationTerms) (payments.PixAuthorization, error) {
	frequency, known := frequencies[t.PeriodMonths]
	if !known {
		return payments.PixAuthorization{}, &payments.Rejected{Code: "invalid_frequency", Message: "no frequency of " + strconv.Itoa(t.PeriodMonths) + " months"}
	}
	var made authorization
	err := g.post(ctx, authorizationsPath, authorizationBody{
		CustomerID: t.Payer.GatewayID, ContractID: t.SubscriptionID.String(), Frequency: frequency, StartDate: g.dueDay(t.FirstDebit),
		Value: t.Amount.Reais(), Description: short(t.Description, maxAuthorizationText), PaymentCreationMode: "MANUAL", RetryPolicy: "ALLOW_THREE_IN_SEVEN_DAYS",
		ImmediateQRCode: immediateBody{OriginalValue: t.FirstAmount.Reais(), ExpirationSeconds: max(int64(t.ExpiresIn/time.Second), 1)},
	}, &made, g.cfg.Timeout)
	if err != nil {
		return payments.PixAuthorization{}, err
	}
	if !echoes(made.ContractID, made.Value, t.SubscriptionID, t.Amount) {
		return payments.PixAuthorization{}, g.undo(ctx, "authorization", made.ID, g.CancelPixAuthorization)
	}
	return made.neutral(g.cfg.Zone, g.cfg.Clock.Now()), nil
}

func short(s string, runes int) string {
	r := []rune(s)
	return string(r[:min(len(r), runes)])
}

// FindPixAuthorization looks through the customer's authorizations for the
// contract; lists come without the code, so that the one found is read.
func (g *Gateway) FindPixAuthorization(ctx context.Context, t payments.AuthorizationTerms) (payments.PixAuthorization, bool, error) {
	query := url.Values{"limit": {"100"}}
	if t.Payer.GatewayID != "" {
		query.Set("customerId", t.Payer.GatewayID)
	}
	id := ""
	err := each(ctx, g, authorizationsPath, query, func(a *authorization) bool {
		if reference(a.ContractID) == t.SubscriptionID {
			id = a.ID
		}
		return id == ""
	})
	if err != nil || id == "" {
		return payments.PixAuthorization{}, false, err
	}
	a, err := g.ReadPixAuthorization(ctx, id)
	return a, err == nil, err
}

// ReadPixAuthorization reads it with its code.
func (g *Gateway) ReadPixAuthorization(ctx context.Context, id string) (payments.PixAuthorization, error) {
	var a authorization
	if err := g.get(ctx, authorizationsPath+"/"+url.PathEscape(id), nil, &a); err != nil {
		return payments.PixAuthorization{}, err
	}
	return a.neutral(g.cfg.Zone, g.cfg.Clock.Now()), nil
}

// CancelPixAuthorization ends it; what is over already is no error.
func (g *Gateway) CancelPixAuthorization(ctx context.Context, id string) error {
	var done authorization
	path := authorizationsPath + "/" + url.PathEscape(id)
	err := g.repeat(ctx, request{method: "DELETE", path: path, timeout: g.cfg.Timeout}, &done)
	if errors.Is(err, payments.ErrGatewayMissing) {
		return nil
	}
	var rejected *payments.Rejected
	if !errors.As(err, &rejected) {
		return err
	}
	now, readErr := g.ReadPixAuthorization(ctx, id)
	switch {
	case readErr != nil:
		return readErr
	case now.Status == payments.AuthorizationCreated || now.Status == payments.AuthorizationActive:
		return err
	}
	return nil
}

type debitBody struct {
	paymentBody
	AuthorizationID string `json:"pixAutomaticAuthorizationId"`
}

// cycleMark names the cycle in the description: the due date may have to move.
func (g *Gateway) cycleMark(t payments.DebitTerms) string {
	return "[" + day(t.Cycle, g.cfg.Days) + "]"
}

// DebitPix orders the debit of one cycle.
func (g *Gateway) DebitPix(ctx context.Context, t payments.DebitTerms) (payments.Payment, error) {
	var made payment
	err := g.post(ctx, "/payments", debitBody{AuthorizationID: t.AuthorizationID, paymentBody: paymentBody{
		Customer: t.Payer.GatewayID, BillingType: "PIX", Value: t.Amount.Reais(), DueDate: g.dueDay(t.DueDate),
		Description: strings.TrimSpace(t.Description + " " + g.cycleMark(t)), ExternalReference: t.SubscriptionID.String(),
	}}, &made, g.cfg.Timeout)
	if err != nil {
		return payments.Payment{}, err
	}
	if !echoes(made.ExternalReference, made.Value, t.SubscriptionID, t.Amount) {
		return payments.Payment{}, g.undo(ctx, "debit", made.ID, g.CancelPix)
	}
	return made.neutral(g.cfg.Zone), nil
}

// FindPixDebit looks among the payments that carry the subscription's id for the
// debit of the cycle that has not been deleted.
func (g *Gateway) FindPixDebit(ctx context.Context, t payments.DebitTerms) (payments.Payment, bool, error) {
	var found *payment
	query := url.Values{"externalReference": {t.SubscriptionID.String()}, "billingType": {"PIX"}, "limit": {"100"}}
	err := each(ctx, g, "/payments", query, func(p *payment) bool {
		if !p.Deleted && strings.HasSuffix(p.Description, g.cycleMark(t)) {
			found = p
		}
		return found == nil
	})
	if err != nil || found == nil {
		return payments.Payment{}, false, err
	}
	return found.neutral(g.cfg.Zone), true, nil
}

// maxPages bounds how far a list is read.
const maxPages = 50

// each reads a list page by page until f answers false.
func each[T any](ctx context.Context, g *Gateway, path string, query url.Values, f func(*T) bool) error {
	for page := range maxPages {
		query.Set("offset", strconv.Itoa(page*100))
		var got list[T]
		if err := g.get(ctx, path, query, &got); err != nil {
			return err
		}
		for i := range got.Data {
			if !f(&got.Data[i]) {
				return nil
			}
		}
		if !got.HasMore {
			return nil
		}
	}
	return fmt.Errorf("%w: the list has more than %d entries", payments.ErrUnavailable, maxPages*100)
}
