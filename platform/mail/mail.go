// Package mail sends messages by SMTP, renders them from templates, and catches
// them on machines where nothing is to leave the house.
package mail

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/mail"
	"net/url"
	"strconv"
	"time"

	gomail "github.com/wneessen/go-mail"
)

// Message is one mail to one person, in text and HTML.
type Message struct {
	To       string
	FromName string // how the sender is shown; "": as it is configured
	Subject  string
	Text     string
	HTML     string
	Inline   []Inline // pictures that the HTML shows as cid:<ID>
}

// Inline is a picture inside the HTML.
type Inline struct {
	ID          string // without angle brackets
	Name        string
	ContentType string
	Data        []byte
}

// Sender hands a message to the mail system. An error means that it was not
// taken and may be tried again.
type Sender interface {
	Send(ctx context.Context, m Message) error
}

// SMTP is a Sender that speaks to one mail server.
type SMTP struct {
	client *gomail.Client
	from   *mail.Address
}

// NewSMTP reads a server address such as smtp://user:password@host:587 (STARTTLS
// when offered) or smtps://… (TLS from the start). From is the sender, such as
// "Marquee <no-reply@example.com>": messages without a name of their own have its.
func NewSMTP(serverURL, from string) (*SMTP, error) {
	u, err := url.Parse(serverURL)
	if err != nil || u.Hostname() == "" {
		return nil,
			errors.New("SMTP_URL has to look like smtp://user:password@host:587") // the text may hold the password
	}
	sender, err := mail.ParseAddress(from)
	if err != nil {
		return nil, fmt.Errorf("MAIL_FROM: %w", err)
	}
	options := []gomail.Option{gomail.WithTimeout(15 * time.Second)}
	port := 587
	switch u.Scheme {
	case "smtps":
		port = 465
		options = append(options, gomail.WithSSL())
	case "smtp":
		options = append(options, gomail.WithTLSPolicy(gomail.TLSOpportunistic))
	default:
		return nil, errors.New("SMTP_URL has to begin with smtp:// or smtps://")
	}
	if text := u.Port(); text != "" {
		if port, err = strconv.Atoi(text); err != nil {
			return nil, errors.New("SMTP_URL has a malformed port")
		}
	}
	options = append(options, gomail.WithPort(port))
	if u.User != nil {
		password, _ := u.User.Password()
		options = append(options, gomail.WithSMTPAuth(gomail.SMTPAuthAutoDiscover),
			gomail.WithUsername(u.User.Username()), gomail.WithPassword(password))
	}
	client, err := gomail.NewClient(u.Hostname(), options...)
	if err != nil {
		return nil, fmt.Errorf("mail client: %w", err)
	}
	return &SMTP{client: client, from: sender}, nil
}

// Send delivers the message to the server.
func (s *SMTP) Send(ctx context.Context, m Message) error {
	msg := gomail.NewMsg()
	from := mail.Address{Name: cmp.Or(m.FromName, s.from.Name), Address: s.from.Address}
	if err := msg.From(from.String()); err != nil {
		return fmt.Errorf("sender: %w", err)
	}
	if err := msg.To(m.To); err != nil {
		return fmt.Errorf("recipient: %w", err)
	}
	msg.Subject(m.Subject)
	msg.SetDate()
	msg.SetMessageID()
	msg.SetBodyString(gomail.TypeTextPlain, m.Text)
	if m.HTML != "" {
		msg.AddAlternativeString(gomail.TypeTextHTML, m.HTML)
	}
	for _, p := range m.Inline {
		err := msg.EmbedReader(p.Name, bytes.NewReader(p.Data),
			gomail.WithFileContentID("<"+p.ID+">"), gomail.WithFileContentType(gomail.ContentType(p.ContentType)))
		if err != nil {
			return fmt.Errorf("inline picture: %w", err)
		}
	}
	if err := s.client.DialAndSendWithContext(ctx, msg); err != nil {
		return fmt.Errorf("send mail: %w", err)
	}
	return nil
}
