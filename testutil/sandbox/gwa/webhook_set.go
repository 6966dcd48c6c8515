package gwa

// SetWebhook sets the address and the token of the account's webhook, as the vendor's panel would; an empty token
// leaves the present one. Waiting events go there.
func (g *Gateway) SetWebhook(url, token string) {
	g.stage.Lock()
	defer g.stage.Unlock()
	hook := g.webhook()
	if hook == nil {
		hook = g.addWebhook(&Webhook{Name: "marquee", Enabled: true, Sequential: true})
	}
	hook.URL = url
	if token != "" {
		hook.Token = token
	}
	g.applyWebhook()
	g.stage.Changed()
}
