package secrettest

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/go-chi/chi/v5/middleware"
)

// observed bounds what is kept of one body: secrets come in small ones.
const observed = 64 << 10

// fields are the JSON fields, form fields and query parameters that carry a secret.
var fields = map[string]string{
	"password": "password", "current_password": "password", "new_password": "password", "old_password": "password",
	"code": "code", "verification_code": "code", "number": "card number",
	"access_token": "access token", "refresh_token": "refresh token", "id_token": "access token",
	"archive_token": "archive token", "token": "token",
	"totp": secondFactor, "recovery_codes": secondFactor, "secret": "authenticator's secret",
}

// secondFactor is what a code of an authenticator is, or a recovery code.
const secondFactor = "code of a second factor"

// masked is what the audit trail shows for a password.
const masked = "[hidden]"

// headers are those whose value is a secret.
var headers = []string{"Authorization", "Gwa-Access-Token", "Asaas-Access-Token", "Device-Token"}

// Observe notes the secrets that go through the handler in requests and answers.
func Observe(t testing.TB, next http.Handler) http.Handler {
	if _, ok := t.(*testing.B); ok {
		return next
	}
	secrets := Of(t)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		for _, name := range headers {
			secrets.addField("token", strings.TrimPrefix(r.Header.Get(name), "Bearer "))
		}
		secrets.addForm(r.URL.Query())
		var sent, received bounded
		if r.Body != nil && r.Body != http.NoBody { // which the handler knows by its identity
			r = r.WithContext(r.Context()) // a copy: the server looks at its own request's body to end the connection
			r.Body = tee{Reader: io.TeeReader(r.Body, &sent), Closer: r.Body}
		}
		out := middleware.NewWrapResponseWriter(w, r.ProtoMajor)
		out.Tee(&received)
		next.ServeHTTP(out, r)
		secrets.addContent(r.Header.Get("Content-Type"), sent.Bytes())
		secrets.addContent(out.Header().Get("Content-Type"), received.Bytes())
	})
}

type tee struct {
	io.Reader
	io.Closer
}

// bounded keeps the beginning of what is written to it.
type bounded struct{ bytes.Buffer }

func (b *bounded) Write(p []byte) (int, error) {
	if room := observed - b.Len(); room > 0 {
		_, _ = b.Buffer.Write(p[:min(room, len(p))])
	}
	return len(p), nil
}

func (s *Secrets) addContent(contentType string, body []byte) {
	switch {
	case strings.Contains(contentType, "json"):
		s.AddBody(body)
	case strings.HasPrefix(contentType, "application/x-www-form-urlencoded"):
		if form, err := url.ParseQuery(string(body)); err == nil {
			s.addForm(form)
		}
	}
}

// AddBody notes the secrets in a body that was sent or received: JSON, a form, or what is sent
// as JSON.
func (s *Secrets) AddBody(body any) {
	raw, ok := body.([]byte)
	if form, isForm := body.(url.Values); isForm {
		s.addForm(form)
		return
	}
	if !ok {
		raw, _ = json.Marshal(body)
	}
	var v any
	if json.Unmarshal(raw, &v) == nil {
		s.addJSON(v)
	}
}

func (s *Secrets) addForm(form url.Values) {
	for name, values := range form {
		for _, value := range values {
			s.addField(name, value)
		}
	}
}

func (s *Secrets) addJSON(v any) {
	switch v := v.(type) {
	case []any:
		for _, item := range v {
			s.addJSON(item)
		}
	case map[string]any:
		_, titled := v["title"]
		for name, item := range v {
			if name == "code" && titled { // an event's or a promotion's
				continue
			}
			switch item := item.(type) {
			case string:
				s.addField(name, item)
			case []any:
				for _, one := range item {
					if text, ok := one.(string); ok {
						s.addField(name, text)
					}
				}
				s.addJSON(item)
			default:
				s.addJSON(item)
			}
		}
	}
}

var (
	digits = regexp.MustCompile(`^\d{6}$`)
	number = regexp.MustCompile(`^\d{13,19}$`)
)

// addField tells a mailed code from a promo code and from an error's code, a card's number from a
// house's, and a token from the short names that tests of one module use for their users.
func (s *Secrets) addField(field, value string) {
	kind := fields[field]
	switch kind {
	case "":
		return
	case secondFactor:
		if !digits.MatchString(value) && len(value) < shortest {
			return
		}
	case "code":
		if !digits.MatchString(value) {
			return
		}
	case "card number":
		if !number.MatchString(value) {
			return
		}
	case "password":
		if value == masked || len(value) < 8 { // shorter ones are refused
			return
		}
	default:
		if len(value) < 32 {
			return
		}
	}
	s.Add(kind, value)
}
