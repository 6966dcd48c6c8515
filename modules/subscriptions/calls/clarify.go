package calls

import (
	"fmt"
	"time"

	"marquee/modules/payments/gateway"
	"marquee/modules/payments/intent"
	"marquee/modules/subscriptions/lifecycle"
	"marquee/platform/httpapi"
)

// PixNotKnown is there while it is not known whether the gateway made the payment
// (docs/contract/payments.md, Not known): there is no code yet.
type PixNotKnown struct {
	PaymentStatus string          `json:"payment_status,omitempty" enum:"unknown" doc:"Only while it is not known whether the gateway made the payment"`
	Clarifying    *ClarifyingInfo `json:"clarifying,omitempty"`
}

// NotKnownOf says since when it is not known what a call has made; nothing without an intent.
func NotKnownOf(i *intent.Intent) PixNotKnown {
	if i == nil {
		return PixNotKnown{}
	}
	return PixNotKnown{
		PaymentStatus: string(gateway.OutcomeUnknown),
		Clarifying:    &ClarifyingInfo{Since: httpapi.Time(i.Since()), NextLookAt: httpapi.Time(i.NextCheck)},
	}
}

// PixCodeInfo is a PIX code as the API shows it.
type PixCodeInfo struct {
	Payload        *string       `json:"payload" nullable:"true" doc:"Copy-and-paste text"`
	EncodedImage   *string       `json:"encoded_image" nullable:"true" doc:"PNG in base64"`
	ExpirationDate *httpapi.Time `json:"expiration_date" nullable:"true"`
}

// ClarifyingInfo tells since when, and until when, the gateway's answer is awaited.
type ClarifyingInfo struct {
	Since      httpapi.Time `json:"since"`
	NextLookAt httpapi.Time `json:"next_look_at" doc:"When the gateway is asked again"`
}

// Clarified tells a customer what is being found out, and when it may be known.
func Clarified(sub lifecycle.Subscription, i intent.Intent) string {
	if sub.PaymentMethod == gateway.MethodPix {
		return "Your PIX is still being confirmed. " + NotKnownSentence(i) +
			" GET /customers/me/pix-qr shows its code then; DELETE /customers/me/subscription cancels it at once."
	}
	return "A payment is still being confirmed. " + NotKnownSentence(i)
}

// NotKnownSentence is the sentence about a call whose outcome is not known.
func NotKnownSentence(i intent.Intent) string {
	return fmt.Sprintf("The gateway has not confirmed it since %s, and is asked again at %s.", instant(i.Since()),
		instant(i.NextCheck))
}

func instant(t time.Time) string { return t.UTC().Format(time.RFC3339) }
