package account

import (
	"net/http"
	"slices"
)

// Outcome is how a test card behaves.
type Outcome struct {
	Attach    string `json:"attach,omitempty"` // decline code when attached; the card is declined everywhere
	Charge    string `json:"charge,omitempty"` // decline code when charged
	Challenge string `json:"challenge,omitempty"`
	Dispute   bool   `json:"dispute,omitempty"`
	Refund    string `json:"refund,omitempty"` // "failed" later, or stays "pending"
}

// Values of Outcome.Challenge: 3-D Secure is asked for at every payment, or only until the card was set up.
const (
	challengeAlways = "always"
	challengeSetup  = "unless_set_up"
)

// testCard is one of the public test cards (docs/gateway-facts.md, B11).
type testCard struct {
	number, brand string
	Outcome
}

// testCards by payment method id.
var testCards = map[string]testCard{
	"pm_card_visa":                                 {"4242424242424242", "visa", Outcome{}},
	"pm_card_visa_debit":                           {"4000056655665556", "visa", Outcome{}},
	"pm_card_mastercard":                           {"5555555555554444", "mastercard", Outcome{}},
	"pm_card_amex":                                 {"378282246310005", "amex", Outcome{}},
	"pm_card_br":                                   {"4000000760000002", "visa", Outcome{}},
	"pm_card_chargeCustomerFail":                   {"4000000000000341", "visa", Outcome{Charge: "generic_decline"}},
	"pm_card_visa_chargeDeclined":                  {"4000000000000002", "visa", Outcome{Attach: "generic_decline"}},
	"pm_card_visa_chargeDeclinedInsufficientFunds": {"4000000000009995", "visa", Outcome{Attach: "insufficient_funds"}},
	"pm_card_visa_chargeDeclinedLostCard":          {"4000000000009987", "visa", Outcome{Attach: "lost_card"}},
	"pm_card_visa_chargeDeclinedStolenCard":        {"4000000000009979", "visa", Outcome{Attach: "stolen_card"}},
	"pm_card_chargeDeclinedExpiredCard":            {"4000000000000069", "visa", Outcome{Attach: "expired_card"}},
	"pm_card_chargeDeclinedIncorrectCvc":           {"4000000000000127", "visa", Outcome{Attach: "incorrect_cvc"}},
	"pm_card_chargeDeclinedProcessingError":        {"4000000000000119", "visa", Outcome{Attach: "processing_error"}},
	"pm_card_authenticationRequired":               {"4000002760003184", "visa", Outcome{Challenge: challengeAlways}},
	"pm_card_authenticationRequiredOnSetup":        {"4000002500003155", "visa", Outcome{Challenge: challengeSetup}},
	"pm_card_createDispute":                        {"4000000000000259", "visa", Outcome{Dispute: true}},
	"pm_card_refundFail":                           {"4000000000005126", "visa", Outcome{Refund: "failed"}},
	"pm_card_pendingRefund":                        {"4000000000007726", "visa", Outcome{Refund: "pending"}},
}

// otherNames are further ids of the same cards.
var otherNames = map[string]string{
	"pm_card_chargeDeclined":                     "pm_card_visa_chargeDeclined",
	"pm_card_chargeDeclinedInsufficientFunds":    "pm_card_visa_chargeDeclinedInsufficientFunds",
	"pm_card_chargeDeclinedLostCard":             "pm_card_visa_chargeDeclinedLostCard",
	"pm_card_chargeDeclinedStolenCard":           "pm_card_visa_chargeDeclinedStolenCard",
	"pm_card_visa_chargeDeclinedExpiredCard":     "pm_card_chargeDeclinedExpiredCard",
	"pm_card_visa_chargeDeclinedIncorrectCvc":    "pm_card_chargeDeclinedIncorrectCvc",
	"pm_card_visa_chargeDeclinedProcessingError": "pm_card_chargeDeclinedProcessingError",
	"pm_card_threeDSecure2Required":              "pm_card_authenticationRequired",
}

// CardByAlias finds a test card by its id, or another of its names.
func CardByAlias(id string) (testCard, bool) {
	if first, renamed := otherNames[id]; renamed {
		id = first
	}
	c, known := testCards[id]
	return c, known
}

func cardByNumber(number string) (testCard, bool) {
	for _, c := range testCards {
		if c.number == number {
			return c, true
		}
	}
	return testCard{}, false
}

// declineOf is the card error for a decline code. Some codes are error codes of their own.
func declineOf(decline string) *APIError {
	e := &APIError{
		Status: http.StatusPaymentRequired, Type: typeCard, Code: "card_declined", Decline: decline,
		Message: "Your card was declined.", Executed: true,
	}
	switch decline {
	case "insufficient_funds":
		e.Message = "Your card has insufficient funds."
	case "expired_card":
		e.Code, e.Message, e.Param = decline, "Your card has expired.", "exp_month"
	case "incorrect_cvc":
		e.Code, e.Message, e.Param = decline, "Your card's security code is incorrect.", "cvc"
	case "processing_error":
		e.Code, e.Message = decline, "An error occurred while processing your card. Try again in a little bit."
	case "authentication_required":
		e.Code, e.Message = decline, "Your card was declined. This transaction requires authentication."
	}
	return e
}

// TestCard describes a test card for listings: its shared id and its public test number.
type TestCard struct {
	ID      string `json:"id"`
	Number  string `json:"number"`
	Outcome any    `json:"outcome"`
}

// TestCards lists the cards that the gateway knows.
func TestCards() []TestCard {
	out := make([]TestCard, 0, len(testCards))
	for id, c := range testCards {
		out = append(out, TestCard{ID: id, Number: c.number, Outcome: c.Outcome})
	}
	slices.SortFunc(out, func(a, b TestCard) int {
		if a.ID < b.ID {
			return -1
		}
		return 1
	})
	return out
}
