// Package operators writes to the people who run the platform (OPERATORS_MAIL)
// about what nobody but them can mend. A mail is a job in the transaction that
// found the reason.
package operators

import (
	"context"
	"errors"
	"fmt"
	"html"

	"github.com/jackc/pgx/v5"
	"github.com/riverqueue/river"

	"marquee/platform/jobs"
	"marquee/platform/mail"
)

// Mailer writes to the operators. A nil one, and one without addresses, writes
// nothing.
type Mailer struct {
	jobs *jobs.Client
	mail mail.Sender
	to   []string
}

// New makes a mailer to the addresses.
func New(client *jobs.Client, sender mail.Sender, to []string) *Mailer {
	return &Mailer{jobs: client, mail: sender, to: to}
}

// Args is a mail to one operator. It holds no personal data but ids.
type Args struct {
	To      string `json:"to"`
	Subject string `json:"subject"`
	Text    string `json:"text"`
}

// Kind names the job.
func (Args) Kind() string { return "operators_mail" }

// NotifyTx has every operator mailed once the transaction commits: a subject of one
// line, and plain text that says what happened and where in docs/operations.md it
// says what to do.
func (m *Mailer) NotifyTx(ctx context.Context, tx pgx.Tx, subject, text string) error {
	if m == nil {
		return nil
	}
	for _, to := range m.to {
		_, err := m.jobs.InsertTx(ctx, tx, Args{To: to, Subject: subject, Text: text},
			&river.InsertOpts{Queue: jobs.QueueMail})
		if err != nil {
			return fmt.Errorf("mail to the operators: %w", err)
		}
	}
	return nil
}

// Workers adds the job that sends.
func (m *Mailer) Workers(w *river.Workers) {
	river.AddWorker(w, river.WorkFunc(func(ctx context.Context, job *river.Job[Args]) error {
		if m.mail == nil {
			return errors.New("there is no mail server")
		}
		a := job.Args
		return m.mail.Send(ctx, mail.Message{
			To: a.To, Subject: a.Subject, Text: a.Text, HTML: "<pre>" + html.EscapeString(a.Text) + "</pre>",
		})
	}))
}
