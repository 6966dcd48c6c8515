package mail_test

import (
	"cmp"
	"context"
	"encoding/json"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"testing"
	"testing/fstest"
	"time"

	"github.com/stretchr/testify/require"

	"marquee/platform/mail"
)

func TestSentMailIsCaught(t *testing.T) {
	t.Parallel()
	catcher, err := mail.NewCatcher("127.0.0.1:0", slog.Default())
	require.NoError(t, err)
	t.Cleanup(func() { _ = catcher.Close() })
	sender, err := mail.NewSMTP(catcher.URL(), "Marquee <no-reply@example.com>")
	require.NoError(t, err)

	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	err = sender.Send(ctx, mail.Message{
		To: "ana@example.com", Subject: "Seu código é válido", Text: "Olá, Ana: 123456",
		HTML: "<p>Olá, <b>Ana</b></p><img src=\"cid:qr1\">",
		Inline: []mail.Inline{{
			ID: "qr1", Name: "qr1.png", ContentType: "image/png", Data: []byte("\x89PNG\r\n\x1a\npicture"),
		}},
	})
	require.NoError(t, err)

	recorder := httptest.NewRecorder()
	catcher.ServeHTTP(recorder, httptest.NewRequest(http.MethodGet, "/mailbox.json", nil))
	var mails []mail.Caught
	require.NoError(t, json.Unmarshal(recorder.Body.Bytes(), &mails))
	require.Len(t, mails, 1)
	require.Equal(t, "ana@example.com", mails[0].To)
	require.Equal(t, "Marquee <no-reply@example.com>", mails[0].From)
	require.Equal(t, "Seu código é válido", mails[0].Subject)
	require.Contains(t, mails[0].Text, "Olá, Ana: 123456")
	require.Contains(t, mails[0].HTML, "<b>Ana</b>")
	require.Contains(t, mails[0].HTML, `<img src="data:image/png;base64,`)
	require.WithinDuration(t, time.Now(), mails[0].At, time.Minute)

	page := httptest.NewRecorder()
	catcher.ServeHTTP(page, httptest.NewRequest(http.MethodGet, "/mailbox", nil))
	require.Contains(t, page.Body.String(), "Seu código é válido")
}

// TestMailsComeFromTheName: a message that has a sender's name is from it at the configured address, whatever the name
// holds.
func TestMailsComeFromTheName(t *testing.T) {
	t.Parallel()
	catcher, err := mail.NewCatcher("127.0.0.1:0", slog.Default())
	require.NoError(t, err)
	t.Cleanup(func() { _ = catcher.Close() })
	for _, name := range []string{"Cine Sol", `"Ação" <x@y.z>, já`, "映画館", ""} {
		sender, err := mail.NewSMTP(catcher.URL(), "Casa <no-reply@example.com>")
		require.NoError(t, err)
		require.NoError(t, sender.Send(t.Context(), mail.Message{To: "ana@example.com", FromName: name, Subject: "s", Text: "t"}))
		require.Equal(t, cmp.Or(name, "Casa")+" <no-reply@example.com>", catcher.Mails()[0].From)
	}
	bare, err := mail.NewSMTP(catcher.URL(), "no-reply@example.com")
	require.NoError(t, err)
	require.NoError(t, bare.Send(t.Context(), mail.Message{To: "ana@example.com", Subject: "s", Text: "t"}))
	require.Equal(t, "<no-reply@example.com>", catcher.Mails()[0].From)
}

// TestMailsOfABrandComeFromIt, and those of a platform without a name of its own from whom its configuration names.
func TestMailsOfABrandComeFromIt(t *testing.T) {
	t.Parallel()
	templates, err := mail.ParseTemplates(fstest.MapFS{
		"hi.pt.subject.tmpl": &fstest.MapFile{}, "hi.pt.txt.tmpl": &fstest.MapFile{}, "hi.pt.html.tmpl": &fstest.MapFile{},
	})
	require.NoError(t, err)
	for name, from := range map[string]string{"Cine Sol": "Cine Sol", "Marquee": ""} {
		m, err := templates.Branded(func(context.Context) (mail.Brand, error) {
			return mail.Brand{Name: name}, nil
		}).Render(t.Context(), "hi", "pt", "ana@example.com", nil)
		require.NoError(t, err)
		require.Equal(t, from, m.FromName)
	}
}

func TestCatcherRefusesOtherAddresses(t *testing.T) {
	t.Parallel()
	_, err := mail.NewCatcher("0.0.0.0:0", slog.Default())
	require.ErrorContains(t, err, "loopback")
}

func TestNewSMTPNamesTheSetting(t *testing.T) {
	t.Parallel()
	for _, bad := range []string{"", "localhost:25", "http://mail.example.com", "smtp://host:x"} {
		_, err := mail.NewSMTP(bad, "a@example.com")
		require.ErrorContains(t, err, "SMTP_URL", bad)
	}
	_, err := mail.NewSMTP("smtp://user:hunter2@", "a@example.com")
	require.ErrorContains(t, err, "SMTP_URL")
	require.NotContains(t, err.Error(), "hunter2")
	_, err = mail.NewSMTP("smtp://mail.example.com", "nobody")
	require.ErrorContains(t, err, "MAIL_FROM")
}

func TestRenderFallsBackToPortuguese(t *testing.T) {
	t.Parallel()
	file := func(s string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(s)} }
	templates, err := mail.ParseTemplates(fstest.MapFS{
		"hi.pt.subject.tmpl": file("Olá\n"), "hi.pt.txt.tmpl": file("Olá {{.Name}}"),
		"hi.pt.html.tmpl": file("<b>{{.Name}}</b>"), "hi.en.subject.tmpl": file("Hello"),
		"hi.en.txt.tmpl": file("Hello {{.Name}}"), "hi.en.html.tmpl": file("<i>{{.Name}}</i>"),
	})
	require.NoError(t, err)
	data := map[string]string{"Name": "<Ana>"}
	m, err := templates.Render(t.Context(), "hi", "de-DE", "ana@example.com", data)
	require.NoError(t, err)
	require.Equal(t, mail.Message{To: "ana@example.com", Subject: "Olá", Text: "Olá <Ana>", HTML: "<b>&lt;Ana&gt;</b>"},
		m)
	m, err = templates.Render(t.Context(), "hi", "en-US", "ana@example.com", data)
	require.NoError(t, err)
	require.Equal(t, "Hello", m.Subject)
	_, err = templates.Render(t.Context(), "hi", "en", "ana@example.com", map[string]string{})
	require.Error(t, err)
}
