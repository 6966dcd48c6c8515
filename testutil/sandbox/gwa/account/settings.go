package account

// Settings are the switches of the gateway: what an account holder sets at the vendor, and what the page on gateway A
// leaves open. PATCH /_sandbox/settings changes the fields it names.
type Settings struct {
	// ChargeDaysAhead is how many days before its due date a later charge of a subscription is made: 40, 14 or 7. A
	// change counts from the next charge of each subscription on.
	ChargeDaysAhead int `json:"chargeDaysAhead"`
	// CardsApproved is false for an account that may not take cards (invalid_billingType).
	CardsApproved bool `json:"cardsApproved"`
	// PixKey is false for an account without a PIX key: no QR code can be made.
	PixKey bool `json:"pixKey"`
	// RiskAnalysis makes one-off card payments come back as AWAITING_RISK_ANALYSIS.
	RiskAnalysis bool `json:"riskAnalysis"`
	// RefundsNeedBalance refuses refunds of received money beyond the account's balance.
	RefundsNeedBalance bool `json:"refundsNeedBalance"`
	// RefundsInProgress makes refunds wait for a control instead of being done at once.
	RefundsInProgress bool `json:"refundsInProgress"`
	// ISODatesInSubscriptionEvents prints 2026-12-20 instead of 20/12/2026 in SUBSCRIPTION_* events.
	ISODatesInSubscriptionEvents bool `json:"isoDatesInSubscriptionEvents"`
	// AuthorizationKey is the key of the object in events of automatic PIX: "authorization", as the real gateway
	// sends, or "pixAutomaticAuthorization".
	AuthorizationKey string `json:"authorizationKey"`
	// UpdateEventOnCharge sends SUBSCRIPTION_UPDATED when a charge was made and nextDueDate moved on (unverified).
	UpdateEventOnCharge bool `json:"updateEventOnCharge"`
}

// Keys that AuthorizationKey may hold.
const (
	keyAuthorization             = "authorization"
	keyPixAutomaticAuthorization = "pixAutomaticAuthorization"
)

// DefaultSettings are those of a new account.
func DefaultSettings() Settings {
	return Settings{
		ChargeDaysAhead:     40,
		CardsApproved:       true,
		PixKey:              true,
		RefundsNeedBalance:  true,
		AuthorizationKey:    keyAuthorization,
		UpdateEventOnCharge: true,
	}
}

// Check refuses what makes no sense.
func (s Settings) Check() *APIError {
	switch {
	case s.ChargeDaysAhead != 40 && s.ChargeDaysAhead != 14 && s.ChargeDaysAhead != 7:
		return ErrObject("chargeDaysAhead must be 40, 14 or 7")
	case s.AuthorizationKey != keyAuthorization && s.AuthorizationKey != keyPixAutomaticAuthorization:
		return ErrObject("authorizationKey must be authorization or pixAutomaticAuthorization")
	}
	return nil
}
