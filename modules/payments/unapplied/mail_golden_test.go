package unapplied

import (
	"testing"

	"github.com/stretchr/testify/require"

	"marquee/platform/mail"
	"marquee/platform/money"
	"marquee/testutil/golden"
	"marquee/web"
)

// TestMailsAsPeopleReadThem pins the mail about money that was given back by itself, in
// both languages, with a name and without, as HTML and as text.
func TestMailsAsPeopleReadThem(t *testing.T) {
	t.Parallel()
	templates, err := mail.ParseTemplates(web.Mail())
	require.NoError(t, err)
	for _, language := range []string{"pt", "en"} {
		total := money.Cents(124100).In(language)
		for name, message := range map[string]unappliedMail{
			"payment-refund":          {Name: "Ana <Souza> & Filhos", Total: total},
			"payment-refund-nameless": {Total: total},
			"payment-refund-used":     {Name: "Ana <Souza> & Filhos", Total: total, Used: true},
		} {
			m, err := templates.Render(t.Context(), mailUnappliedRefund, language, "ana@example.com", message)
			require.NoError(t, err)
			path := "testdata/mail/" + name + "." + language
			golden.Equal(t, path+".html", m.HTML)
			golden.Equal(t, path+".txt", "Subject: "+m.Subject+"\n\n"+m.Text)
		}
	}
}
