package account

import (
	"strings"
	"time"

	"marquee/testutil/sandbox/stage"
)

// Life of a PIX code in seconds.
const (
	pixMinSeconds     = 10
	pixMaxSeconds     = 1209600
	pixDefaultSeconds = 86400
)

// When test payers pay, on the virtual clock.
const (
	soon  = time.Second     // "within seconds"
	later = 3 * time.Minute // "after about 3 minutes"
)

// showPIX gives a confirmed intent its code. The payer's e-mail chooses what happens next (docs/gateway-facts.md, B7).
func (o *Op) showPIX(p *PaymentIntent, m *paymentMethod) {
	now := o.ledger.stage.Clock.Now()
	expires := now.Add(time.Duration(p.PIXSeconds) * time.Second)
	p.Status, p.Method, p.LastError, p.PIXExpiresAt = IntentRequiresAction, m.ID, nil, expires.Unix()
	p.PIXCode = stage.BRCode{
		Location: "pix.sandbox.example/qr/v2/" + strings.ToLower(random(32)), Name: o.ledger.MerchantName,
		City:        o.ledger.MerchantCity,
		AmountCents: p.Amount,
	}.String()
	o.EmitAbout("payment_intent.requires_action", p.ID)

	payer, clock := m.Billing.Email, o.ledger.stage.Clock
	pays, at := true, now.Add(later)
	switch {
	case strings.Contains(payer, "succeed_immediately"):
		at = now.Add(soon)
	case strings.Contains(payer, "expire_immediately"):
		pays, expires = false, now.Add(soon)
	case strings.Contains(payer, "expire_with_delay"):
		pays, expires = false, now.Add(later)
	case strings.Contains(payer, "fill_never"):
		pays = false
	}
	if pays && at.Before(expires) {
		clock.At(at, jobPIXPay, p.ID)
	}
	clock.At(expires, jobPIXExpire, p.ID)
}

func (l *Ledger) pixAction(p *PaymentIntent) Object {
	return Object{
		"pix_display_qr_code": Object{
			"data": p.PIXCode, "expires_at": p.PIXExpiresAt, "hosted_instructions_url": l.BaseURL + "/pix/" + p.ID,
			"image_url_png": l.BaseURL + "/pix/" + p.ID + ".png", "image_url_svg": l.BaseURL + "/pix/" + p.ID + ".svg",
		},
		"type": "pix_display_qr_code",
	}
}

// PendingPIX finds an intent that shows a code.
func (l *Ledger) PendingPIX(id string) *PaymentIntent {
	if p := l.Intents.Get(id); p != nil && p.Status == IntentRequiresAction && p.PIXCode != "" {
		return p
	}
	return nil
}

// PayPIX is the payer paying the code that the intent shows.
func (o *Op) PayPIX(p *PaymentIntent) {
	o.ledger.stage.Clock.Cancel(jobPIXPay, p.ID)
	o.ledger.stage.Clock.Cancel(jobPIXExpire, p.ID)
	o.Succeed(p, o.ledger.PaymentMethods.Get(p.Method))
}

// ExpirePIX gives the intent back for another try; it is not cancelled.
func (o *Op) ExpirePIX(p *PaymentIntent) {
	o.ledger.stage.Clock.Cancel(jobPIXPay, p.ID)
	o.ledger.stage.Clock.Cancel(jobPIXExpire, p.ID)
	const code = "payment_intent_payment_attempt_expired"
	m := o.ledger.PaymentMethods.Get(p.Method)
	p.PIXCode, p.PIXExpiresAt = "", 0
	o.FailIntent(p, Object{
		"code": code, "doc_url": DocURL(code), "message": "The payment attempt expired.", "payment_method": m.render(),
		"type": TypeRequest,
	}, "")
}

func (o Jobs) payPIXJob(id string) {
	if p := o.ledger.PendingPIX(id); p != nil {
		o.PayPIX(p)
	}
}

func (o Jobs) expirePIXJob(id string) {
	if p := o.ledger.PendingPIX(id); p != nil {
		o.ExpirePIX(p)
	}
}

// DocURL is the page about an error's code.
func DocURL(code string) string {
	return "https://stripe.com/docs/error-codes/" + strings.ReplaceAll(code, "_", "-")
}
