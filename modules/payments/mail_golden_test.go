package payments

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
		for name, payer := range map[string]string{"payment-refund": "Ana <Souza> & Filhos", "payment-refund-nameless": ""} {
			m, err := templates.Render(mailUnappliedRefund, language, "ana@example.com", unappliedMail{Name: payer, Total: money.Cents(124100).In(language)})
			require.NoError(t, err)
			path := "testdata/mail/" + name + "." + language
			golden.Equal(t, path+".html", m.HTML)
			golden.Equal(t, path+".txt", "Subject: "+m.Subject+"\n\n"+m.Text)
		}
	}
}
