package gwa

import (
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/google/uuid"

	"marquee/testutil/sandbox/stage"
)

// Delivery rules (docs/gateway-facts.md, A10).
const (
	pauseAfterFailures = 15
	keepUndelivered    = 14 * 24 * time.Hour
	minTokenLength     = 32

	sendSequentially    = "SEQUENTIALLY"
	sendNonSequentially = "NON_SEQUENTIALLY"
)

// retryLadder is the wait before the second and each further attempt: 30 s, 1 min, 3.5 min, 5 min, 15 min, 25 min, five
// times 1 h, twice 2 h, 3 h. Where the queue is not paused meanwhile it goes on every 3 h until the event is too old.
var retryLadder = append([]time.Duration{
	30 * time.Second, time.Minute, 210 * time.Second, 5 * time.Minute, 15 * time.Minute, 25 * time.Minute,
	time.Hour, time.Hour, time.Hour, time.Hour, time.Hour, 2 * time.Hour, 2 * time.Hour,
}, slices.Repeat([]time.Duration{3 * time.Hour}, int(keepUndelivered/(3*time.Hour)))...)

// Webhook is where events go. The vendor allows ten of them; this gateway carries one, which is all that one platform
// needs, and refuses a second.
type Webhook struct {
	ID         string   `json:"id"`
	Order      int64    `json:"order"`
	Name       string   `json:"name"`
	URL        string   `json:"url"`
	Email      string   `json:"email"`
	Enabled    bool     `json:"enabled"`
	Token      string   `json:"token"`
	Sequential bool     `json:"sequential"`
	Events     []string `json:"events"`
}

// tokenCell holds the token for the delivery worker, which runs without the stage's lock.
type tokenCell struct{ v atomic.Pointer[string] }

func (t *tokenCell) set(token string) { t.v.Store(&token) }

func (t *tokenCell) get() string {
	if p := t.v.Load(); p != nil {
		return *p
	}
	return ""
}

func (g *Gateway) deliveryRules(o Options) stage.WebhookOptions {
	return stage.WebhookOptions{
		Ladder:     retryLadder,
		Success:    func(status int) bool { return status == http.StatusOK },
		Headers:    g.deliveryHeaders,
		Timeout:    o.WebhookTimeout,
		Sequential: true,
		PauseAfter: pauseAfterFailures,
		KeepFor:    keepUndelivered,
	}
}

// deliveryHeaders carry the fixed secret; the body isn't signed.
func (g *Gateway) deliveryHeaders([]byte, time.Time) http.Header {
	h := http.Header{"User-Agent": {"Java/1.8.0_282"}}
	if token := g.token.get(); token != "" {
		h.Set("asaas-access-token", token)
	}
	return h
}

// setUpWebhook applies the options' webhook, or the one that the state file remembers.
func (g *Gateway) setUpWebhook(o Options) {
	hook := g.webhook()
	if o.WebhookURL != "" {
		if hook == nil {
			hook = g.addWebhook(&Webhook{Name: "marquee", Enabled: true, Sequential: true})
		}
		hook.URL, hook.Token = o.WebhookURL, o.WebhookToken
	}
	g.applyWebhook()
}

// webhook is the account's webhook or nil.
func (s *state) webhook() *Webhook {
	for id := range s.Webhooks.All() {
		return s.Webhooks.Get(id)
	}
	return nil
}

func (s *state) addWebhook(w *Webhook) *Webhook {
	w.ID, w.Order = uuid.NewString(), s.order()
	s.Webhooks.Put(w.ID, w)
	return w
}

// applyWebhook makes the queue follow the webhook. A removed or disabled one leaves waiting events waiting.
func (g *Gateway) applyWebhook() {
	hook := g.webhook()
	if hook == nil || !hook.Enabled {
		g.stage.Webhooks.SetURL("")
		return
	}
	g.token.set(hook.Token)
	g.stage.Webhooks.SetSequential(hook.Sequential)
	g.stage.Webhooks.SetURL(hook.URL)
}

// wanted tells whether an event of this name is queued: a disabled webhook collects nothing, one without a list of
// names gets all. Before any webhook is set up events are collected.
func (s *state) wanted(name string) bool {
	hook := s.webhook()
	return hook == nil || hook.Enabled && (len(hook.Events) == 0 || slices.Contains(hook.Events, name))
}

type webhookInput struct {
	Name        *string   `json:"name"`
	URL         *string   `json:"url"`
	Email       *string   `json:"email"`
	Enabled     *bool     `json:"enabled"`
	Interrupted *bool     `json:"interrupted"`
	AuthToken   *string   `json:"authToken"`
	SendType    *string   `json:"sendType"`
	Events      *[]string `json:"events"`
}

// createWebhook sets up the account's webhook.
func (g *Gateway) createWebhook(in webhookInput) (*Webhook, *apiError) {
	if g.webhook() != nil {
		return nil, errAction("Esta conta de testes permite um webhook. Altere ou remova o existente.")
	}
	w := &Webhook{Enabled: true, Sequential: true}
	if err := in.apply(w); err != nil {
		return nil, err
	}
	g.addWebhook(w)
	g.syncQueue(in)
	return w, nil
}

func (g *Gateway) updateWebhook(id string, in webhookInput) (*Webhook, *apiError) {
	w, ok := g.Webhooks.Find(id)
	if !ok {
		return nil, notFound()
	}
	changed := *w
	if err := in.apply(&changed); err != nil {
		return nil, err
	}
	*w = changed
	g.syncQueue(in)
	return w, nil
}

// syncQueue carries a change over to the queue. interrupted false is how the panel resumes a paused queue.
func (g *Gateway) syncQueue(in webhookInput) {
	g.applyWebhook()
	switch {
	case in.Interrupted == nil:
	case *in.Interrupted:
		g.stage.Webhooks.Pause()
	default:
		g.stage.Webhooks.RemoveBackoff()
	}
}

func (in webhookInput) apply(w *Webhook) *apiError {
	set(&w.Name, in.Name)
	set(&w.URL, in.URL)
	set(&w.Email, in.Email)
	set(&w.Token, in.AuthToken)
	if in.Enabled != nil {
		w.Enabled = *in.Enabled
	}
	if in.Events != nil {
		w.Events = *in.Events
	}
	if in.SendType != nil {
		if *in.SendType != sendSequentially && *in.SendType != sendNonSequentially {
			return badRequest("invalid_sendType", "O tipo de envio informado é inválido.")
		}
		w.Sequential = *in.SendType == sendSequentially
	}
	if !strings.HasPrefix(w.URL, "http://") && !strings.HasPrefix(w.URL, "https://") {
		return badRequest("invalid_url", "A URL informada é inválida.")
	}
	if len(w.Token) < minTokenLength {
		return badRequest("invalid_authToken", "O token de autenticação deve ter no mínimo 32 caracteres.")
	}
	return nil
}

type webhookView struct {
	ID           string   `json:"id"`
	Name         string   `json:"name"`
	URL          string   `json:"url"`
	Email        *string  `json:"email"`
	Enabled      bool     `json:"enabled"`
	Interrupted  bool     `json:"interrupted"`
	APIVersion   int      `json:"apiVersion"`
	HasAuthToken bool     `json:"hasAuthToken"`
	SendType     string   `json:"sendType"`
	Events       []string `json:"events"`
}

// webhookView prints a webhook; its token is never shown again.
func (g *Gateway) webhookView(w *Webhook) webhookView {
	v := webhookView{
		ID: w.ID, Name: w.Name, URL: w.URL, Email: orNull(w.Email), Enabled: w.Enabled, APIVersion: 3,
		HasAuthToken: w.Token != "", SendType: sendNonSequentially, Events: w.Events,
		Interrupted: g.stage.Webhooks.Status().Paused,
	}
	if w.Sequential {
		v.SendType = sendSequentially
	}
	if v.Events == nil {
		v.Events = []string{}
	}
	return v
}

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
