package account

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

// DeliveryRules are how the queue sends events; an answer may take so long.
func (l *Ledger) DeliveryRules(timeout time.Duration) stage.WebhookOptions {
	return stage.WebhookOptions{
		Ladder:     retryLadder,
		Success:    func(status int) bool { return status == http.StatusOK },
		Headers:    l.deliveryHeaders,
		Timeout:    timeout,
		Sequential: true,
		PauseAfter: pauseAfterFailures,
		KeepFor:    keepUndelivered,
	}
}

// deliveryHeaders carry the fixed secret; the body isn't signed.
func (l *Ledger) deliveryHeaders([]byte, time.Time) http.Header {
	h := http.Header{"User-Agent": {"Java/1.8.0_282"}}
	if token := l.token.get(); token != "" {
		h.Set("asaas-access-token", token)
	}
	return h
}

// SetWebhook sets the address and the token of the account's webhook, as the vendor's panel would. Waiting events go
// there.
func (l *Ledger) SetWebhook(url, token string) {
	hook := l.Webhook()
	if hook == nil {
		hook = l.addWebhook(&Webhook{Name: "marquee", Enabled: true, Sequential: true})
	}
	hook.URL, hook.Token = url, token
	l.ApplyWebhook()
}

// Webhook is the account's webhook or nil.
func (s *state) Webhook() *Webhook {
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

// ApplyWebhook makes the queue follow the webhook. A removed or disabled one leaves waiting events waiting.
func (l *Ledger) ApplyWebhook() {
	hook := l.Webhook()
	if hook == nil || !hook.Enabled {
		l.stage.Webhooks.SetURL("")
		return
	}
	l.token.set(hook.Token)
	l.stage.Webhooks.SetSequential(hook.Sequential)
	l.stage.Webhooks.SetURL(hook.URL)
}

// wanted tells whether an event of this name is queued: a disabled webhook collects nothing, one without a list of
// names gets all. Before any webhook is set up events are collected.
func (s *state) wanted(name string) bool {
	hook := s.Webhook()
	return hook == nil || hook.Enabled && (len(hook.Events) == 0 || slices.Contains(hook.Events, name))
}

// WebhookInput is the body of a creation or change; absent fields stay as they are.
type WebhookInput struct {
	Name        *string   `json:"name"`
	URL         *string   `json:"url"`
	Email       *string   `json:"email"`
	Enabled     *bool     `json:"enabled"`
	Interrupted *bool     `json:"interrupted"`
	AuthToken   *string   `json:"authToken"`
	SendType    *string   `json:"sendType"`
	Events      *[]string `json:"events"`
}

// CreateWebhook sets up the account's webhook.
func (l *Ledger) CreateWebhook(in WebhookInput) (*Webhook, *APIError) {
	if l.Webhook() != nil {
		return nil, errAction("Esta conta de testes permite um webhook. Altere ou remova o existente.")
	}
	w := &Webhook{Enabled: true, Sequential: true}
	if err := in.apply(w); err != nil {
		return nil, err
	}
	l.addWebhook(w)
	l.syncQueue(in)
	return w, nil
}

// UpdateWebhook changes what the body names.
func (l *Ledger) UpdateWebhook(id string, in WebhookInput) (*Webhook, *APIError) {
	w, ok := l.Webhooks.Find(id)
	if !ok {
		return nil, NotFound()
	}
	changed := *w
	if err := in.apply(&changed); err != nil {
		return nil, err
	}
	*w = changed
	l.syncQueue(in)
	return w, nil
}

// syncQueue carries a change over to the queue. interrupted false is how the panel resumes a paused queue.
func (l *Ledger) syncQueue(in WebhookInput) {
	l.ApplyWebhook()
	switch {
	case in.Interrupted == nil:
	case *in.Interrupted:
		l.stage.Webhooks.Pause()
	default:
		l.stage.Webhooks.RemoveBackoff()
	}
}

func (in WebhookInput) apply(w *Webhook) *APIError {
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
			return BadRequest("invalid_sendType", "O tipo de envio informado é inválido.")
		}
		w.Sequential = *in.SendType == sendSequentially
	}
	if !strings.HasPrefix(w.URL, "http://") && !strings.HasPrefix(w.URL, "https://") {
		return BadRequest("invalid_url", "A URL informada é inválida.")
	}
	if len(w.Token) < minTokenLength {
		return BadRequest("invalid_authToken", "O token de autenticação deve ter no mínimo 32 caracteres.")
	}
	return nil
}

// WebhookView is a webhook as it is printed.
type WebhookView struct {
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

// WebhookView prints a webhook; its token is never shown again.
func (l *Ledger) WebhookView(w *Webhook) WebhookView {
	v := WebhookView{
		ID: w.ID, Name: w.Name, URL: w.URL, Email: orNull(w.Email), Enabled: w.Enabled, APIVersion: 3,
		HasAuthToken: w.Token != "", SendType: sendNonSequentially, Events: w.Events,
		Interrupted: l.stage.Webhooks.Status().Paused,
	}
	if w.Sequential {
		v.SendType = sendSequentially
	}
	if v.Events == nil {
		v.Events = []string{}
	}
	return v
}

// WriteWebhook prints a webhook unless there was an error.
func (l *Ledger) WriteWebhook(w *Webhook, err *APIError) (v WebhookView, _ *APIError) {
	if err != nil {
		return v, err
	}
	return l.WebhookView(w), nil
}
