package gwb

import (
	"fmt"
	"html/template"
	"net/http"
	"strings"
	"time"

	"github.com/skip2/go-qrcode"

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

const qrPixels = 300

// showPIX gives a confirmed intent its code. The payer's e-mail chooses what happens next (docs/gateway-facts.md, B7).
func (o *op) showPIX(p *paymentIntent, m *paymentMethod) {
	now := o.g.stage.Clock.Now()
	expires := now.Add(time.Duration(p.PIXSeconds) * time.Second)
	p.Status, p.Method, p.LastError, p.PIXExpiresAt = intentRequiresAction, m.ID, nil, expires.Unix()
	p.PIXCode = stage.BRCode{
		Location: "pix.sandbox.example/qr/v2/" + strings.ToLower(random(32)), Name: o.g.opts.MerchantName,
		City:        o.g.opts.MerchantCity,
		AmountCents: p.Amount,
	}.String()
	o.emitAbout("payment_intent.requires_action", p.ID)

	payer, clock := m.Billing.Email, o.g.stage.Clock
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

func (g *Gateway) pixAction(p *paymentIntent) object {
	return object{
		"pix_display_qr_code": object{
			"data": p.PIXCode, "expires_at": p.PIXExpiresAt, "hosted_instructions_url": g.baseURL + "/pix/" + p.ID,
			"image_url_png": g.baseURL + "/pix/" + p.ID + ".png", "image_url_svg": g.baseURL + "/pix/" + p.ID + ".svg",
		},
		"type": "pix_display_qr_code",
	}
}

// pendingPIX finds an intent that shows a code.
func (g *Gateway) pendingPIX(id string) *paymentIntent {
	if p := g.data.Intents.Get(id); p != nil && p.Status == intentRequiresAction && p.PIXCode != "" {
		return p
	}
	return nil
}

func (o *op) payPIX(p *paymentIntent) {
	o.g.stage.Clock.Cancel(jobPIXPay, p.ID)
	o.g.stage.Clock.Cancel(jobPIXExpire, p.ID)
	o.succeed(p, o.g.data.PaymentMethods.Get(p.Method))
}

// expirePIX gives the intent back for another try; it is not cancelled.
func (o *op) expirePIX(p *paymentIntent) {
	o.g.stage.Clock.Cancel(jobPIXPay, p.ID)
	o.g.stage.Clock.Cancel(jobPIXExpire, p.ID)
	const code = "payment_intent_payment_attempt_expired"
	m := o.g.data.PaymentMethods.Get(p.Method)
	p.PIXCode, p.PIXExpiresAt = "", 0
	o.failIntent(p, object{
		"code": code, "doc_url": docURL(code), "message": "The payment attempt expired.", "payment_method": m.render(),
		"type": typeRequest,
	}, "")
}

func (o *op) payPIXJob(id string) {
	if p := o.g.pendingPIX(id); p != nil {
		o.payPIX(p)
	}
}

func (o *op) expirePIXJob(id string) {
	if p := o.g.pendingPIX(id); p != nil {
		o.expirePIX(p)
	}
}

func docURL(code string) string {
	return "https://stripe.com/docs/error-codes/" + strings.ReplaceAll(code, "_", "-")
}

var pixPage = template.Must(template.New("pix").
	Parse(`<!doctype html><html lang="pt-BR"><meta charset="utf-8"><title>PIX</title>
<h1>Pague com PIX</h1><p><img src="/pix/{{.ID}}.png" alt="QR" width="300" height="300"><p><code>{{.Code}}</code></html>
`))

// servePIX serves what next_action links to: /pix/{id} as a page, .png and .svg as images. 404 when no code is shown
// (any more).
func (g *Gateway) servePIX(w http.ResponseWriter, r *http.Request) {
	name := strings.TrimPrefix(r.URL.Path, "/pix/")
	id, kind, _ := strings.Cut(name, ".")
	g.stage.Lock()
	code := ""
	if p := g.pendingPIX(id); p != nil {
		code = p.PIXCode
	}
	g.stage.Unlock()
	if code == "" {
		http.NotFound(w, r)
		return
	}
	switch kind {
	case "png":
		png, err := stage.QRPNG(code, qrPixels)
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		w.Header().Set("Content-Type", "image/png")
		_, _ = w.Write(png)
	case "svg":
		w.Header().Set("Content-Type", "image/svg+xml")
		_, _ = w.Write([]byte(qrSVG(code)))
	default:
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		_ = pixPage.Execute(w, map[string]string{"ID": id, "Code": code})
	}
}

// qrSVG draws one unit square a dark module.
func qrSVG(code string) string {
	qr, err := qrcode.New(code, qrcode.Medium)
	if err != nil {
		return ""
	}
	rows := qr.Bitmap()
	var b strings.Builder
	fmt.Fprintf(&b,
		`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" shape-rendering="crispEdges"><path d="`, len(rows),
		len(rows))
	for y, row := range rows {
		for x, dark := range row {
			if dark {
				fmt.Fprintf(&b, "M%d %dh1v1h-1z", x, y)
			}
		}
	}
	b.WriteString(`"/></svg>`)
	return b.String()
}
