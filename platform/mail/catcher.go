package mail

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"html/template"
	"io"
	"log"
	"log/slog"
	"mime"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/emersion/go-smtp"
	gomail "github.com/wneessen/go-mail"
)

// mostMails bounds the catcher's memory; older mails make room.
const mostMails = 1000

// Caught is a mail that did not leave the house.
type Caught struct {
	From    string    `json:"from"`
	To      string    `json:"to"`
	Subject string    `json:"subject"`
	Text    string    `json:"text"`
	HTML    string    `json:"html"` // with its pictures in it
	At      time.Time `json:"at"`
}

// Catcher is an SMTP server on loopback that keeps what it is sent, and shows it
// as a page and as JSON. For development and tests only.
type Catcher struct {
	server *smtp.Server
	addr   string
	mu     sync.Mutex
	mails  []Caught // oldest first
}

// NewCatcher listens on addr, which has to be loopback; port 0 takes a free one.
func NewCatcher(addr string, logger *slog.Logger) (*Catcher, error) {
	listener, err := net.Listen("tcp", addr)
	if err != nil {
		return nil, fmt.Errorf("mail catcher: %w", err)
	}
	if tcp, ok := listener.Addr().(*net.TCPAddr); !ok || !tcp.IP.IsLoopback() {
		_ = listener.Close()
		return nil, errors.New("the mail catcher listens on loopback only")
	}
	c := &Catcher{addr: listener.Addr().String()}
	c.server = smtp.NewServer(smtp.BackendFunc(func(*smtp.Conn) (smtp.Session, error) {
		return &session{catcher: c},
			nil
	}))
	c.server.Domain = "localhost"
	c.server.MaxMessageBytes = 10 << 20
	c.server.ReadTimeout, c.server.WriteTimeout = 10*time.Second, 10*time.Second
	c.server.ErrorLog = log.New(io.Discard, "", 0)
	go func() {
		if err := c.server.Serve(listener); err != nil && !errors.Is(err, smtp.ErrServerClosed) {
			logger.Error("mail catcher stopped", slog.Any("error", err))
		}
	}()
	return c, nil
}

// URL is the server's address for NewSMTP.
func (c *Catcher) URL() string { return "smtp://" + c.addr }

// Close stops the server.
func (c *Catcher) Close() error { return c.server.Close() }

// Mails returns what was caught, newest first.
func (c *Catcher) Mails() []Caught {
	c.mu.Lock()
	defer c.mu.Unlock()
	mails := slices.Clone(c.mails)
	slices.Reverse(mails)
	return mails
}

func (c *Catcher) keep(m Caught) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.mails = append(c.mails, m)
	if extra := len(c.mails) - mostMails; extra > 0 {
		c.mails = slices.Delete(c.mails, 0, extra)
	}
}

// ServeHTTP shows the mails: as JSON where the path ends in .json, else as a
// page.
func (c *Catcher) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if strings.HasSuffix(r.URL.Path, ".json") {
		w.Header().Set("Content-Type", "application/json; charset=utf-8")
		_ = json.NewEncoder(w).Encode(c.Mails())
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Content-Security-Policy",
		"default-src 'none'; style-src 'unsafe-inline'; img-src data:; frame-src 'self'")
	// Parsed here: a variable would link all of html/template into binaries that catch no mail.
	page, err := template.New("mailbox").Parse(mailboxPage)
	if err == nil {
		err = page.Execute(w, c.Mails())
	}
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
	}
}

const mailboxPage = `<!doctype html>
<html lang="en"><meta charset="utf-8"><title>Mailbox</title>
<style>
body{font:16px/1.5 system-ui,sans-serif;margin:2rem auto;max-width:50rem;padding:0 1rem}
body{color:#1c1c28;background:#f6f6fa}
article{background:#fff;border-radius:12px;padding:1rem 1.25rem;margin:1rem 0;box-shadow:0 1px 3px #0002}
h2{font-size:1.05rem;margin:0}p{margin:.25rem 0;color:#667}pre{white-space:pre-wrap;font:inherit;margin:.75rem 0 0}
iframe{width:100%;height:26rem;border:1px solid #ddd;border-radius:8px;margin-top:.5rem}
</style>
<h1>Mailbox</h1>
<p>Mails that the platform sent; none left this machine. Newest first. <a href="mailbox.json">As JSON</a></p>
{{range .}}<article><h2>{{.Subject}}</h2>
<p>from {{.From}} to {{.To}} · {{.At.Format "2006-01-02 15:04:05 MST"}}</p><pre>{{.Text}}</pre>
{{if .HTML}}<details><summary>HTML</summary><iframe sandbox srcdoc="{{.HTML}}"></iframe></details>{{end}}</article>
{{else}}<p>No mail yet.</p>{{end}}
</html>
`

// session takes one message after the other on one connection.
type session struct {
	catcher *Catcher
	to      []string
}

func (s *session) Reset() { s.to = nil }

func (s *session) Logout() error { return nil }

func (s *session) Mail(string, *smtp.MailOptions) error { return nil }

func (s *session) Rcpt(to string, _ *smtp.RcptOptions) error {
	s.to = append(s.to, to)
	return nil
}

func (s *session) Data(r io.Reader) error {
	raw, err := io.ReadAll(r)
	if err != nil {
		return fmt.Errorf("read mail: %w", err)
	}
	msg, err := gomail.EMLToMsgFromReader(bytes.NewReader(raw))
	if err != nil {
		return fmt.Errorf("parse mail: %w", err)
	}
	caught := Caught{To: strings.Join(s.to, ", "), At: time.Now().UTC()}
	if from := msg.GetFrom(); len(from) > 0 {
		caught.From = from[0].String()
		if from[0].Name != "" {
			caught.From = from[0].Name + " <" + from[0].Address + ">" // as people write it, not as it is encoded
		}
	}
	if subject := msg.GetGenHeader(gomail.HeaderSubject); len(subject) > 0 {
		caught.Subject = decodeHeader(subject[0])
	}
	for _, part := range msg.GetParts() {
		content, err := part.GetContent()
		if err != nil {
			return fmt.Errorf("parse mail: %w", err)
		}
		switch part.GetContentType() {
		case gomail.TypeTextHTML:
			caught.HTML = string(content)
		case gomail.TypeTextPlain:
			caught.Text = string(content)
		}
	}
	if caught.HTML, err = showPictures(caught.HTML, msg.GetEmbeds()); err != nil {
		return err
	}
	s.catcher.keep(caught)
	return nil
}

// showPictures puts the pictures that the HTML refers to into it, as a mail
// reader shows them.
func showPictures(html string, pictures []*gomail.File) (string, error) {
	for _, p := range pictures {
		var content bytes.Buffer
		if _, err := p.Writer(&content); err != nil {
			return "", fmt.Errorf("parse mail: %w", err)
		}
		id := strings.Trim(p.Header.Get(gomail.HeaderContentID.String()), "<>")
		if id == "" {
			continue
		}
		uri := "data:" + http.DetectContentType(content.Bytes()) + ";base64," +
			base64.StdEncoding.EncodeToString(content.Bytes())
		html = strings.ReplaceAll(html, `"cid:`+id+`"`, `"`+uri+`"`)
	}
	return html, nil
}

// decodeHeader turns an encoded-word header into plain text.
func decodeHeader(s string) string {
	plain, err := new(mime.WordDecoder).DecodeHeader(s)
	if err != nil {
		return s
	}
	return plain
}
