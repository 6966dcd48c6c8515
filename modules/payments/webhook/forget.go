package webhook

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/riverqueue/river"

	"marquee/modules/payments/internal/paymentsdb"
	"marquee/platform/objectid"
)

// ErasePersonalDataTx takes the person out of what the gateways reported of their
// payments. The ledger stays: it names nobody but the deleted customer's id.
func (s *Log) ErasePersonalDataTx(ctx context.Context, tx pgx.Tx, customerID objectid.ID) error {
	subjects, err := s.db.PaymentListSubjects(ctx, tx, customerID)
	if err != nil {
		return fmt.Errorf("list payments: %w", err)
	}
	return s.ForgetPersonTx(ctx, tx, append(subjects, customerID.String()))
}

// ForgetPersonTx has names, addresses and the like taken out of the logged
// webhooks that speak of one of the subjects: ids of subscriptions, orders,
// payments and customers, ours or a gateway's. What moved money, and can be
// applied again, stays. Two jobs do it: one now, one for what gateways still
// report of the end.
func (s *Log) ForgetPersonTx(ctx context.Context, tx pgx.Tx, subjects []string) error {
	if len(subjects) == 0 {
		return nil
	}
	now := s.deps.Clock.Now()
	for _, at := range []time.Time{now, now.Add(lastReports)} {
		if _, err := s.deps.Jobs.InsertTx(ctx, tx, ForgetPersonArgs{Subjects: subjects},
			&river.InsertOpts{ScheduledAt: at}); err != nil {
			return fmt.Errorf("queue forgetting: %w", err)
		}
	}
	return nil
}

// lastReports is longer than gateways repeat a webhook: gateway A keeps those of a
// paused queue for 14 days (docs/gateway-facts.md, A10).
const lastReports = 15 * 24 * time.Hour

// ForgetPersonArgs is the job that rewrites the logs of a deleted customer.
type ForgetPersonArgs struct {
	Subjects []string `json:"subjects"`
}

// Kind names the job.
func (ForgetPersonArgs) Kind() string { return "payments_forget_person" }

// ForgetPerson rewrites them. It may run again at any point.
func (s *Log) ForgetPerson(ctx context.Context, a ForgetPersonArgs) error {
	quoted := make([]string, len(a.Subjects))
	for i, subject := range a.Subjects {
		quoted[i] = regexp.QuoteMeta(subject)
	}
	params := paymentsdb.WebhookLogListMatchingParams{
		Pattern: `"(` + strings.Join(quoted, "|") + `)"`, PageSize: forgetPage,
	}
	if err := s.db.RefusedWebhookForget(ctx, s.deps.Pool, params.Pattern); err != nil {
		return fmt.Errorf("empty refused webhooks: %w", err)
	}
	for {
		logs, err := s.db.WebhookLogListMatching(ctx, s.deps.Pool, params)
		if err != nil {
			return fmt.Errorf("list webhooks: %w", err)
		}
		for _, log := range logs {
			if err := s.forgetLog(ctx, log.ID, log.Payload); err != nil {
				return err
			}
		}
		if len(logs) < forgetPage {
			return nil
		}
		params.After = logs[len(logs)-1].ID.String()
	}
}

// forgetPage bounds what is held in memory.
const forgetPage = 200

func (s *Log) forgetLog(ctx context.Context, id objectid.ID, body json.RawMessage) error {
	payload, changed, err := withoutPerson(body)
	if err != nil {
		return fmt.Errorf("webhook log %s: %w", id, err)
	}
	if !changed {
		return nil
	}
	if err := s.db.WebhookLogReplacePayload(ctx, s.deps.Pool,
		paymentsdb.WebhookLogReplacePayloadParams{ID: id, Payload: payload}); err != nil {
		return fmt.Errorf("rewrite webhook log: %w", err)
	}
	return nil
}

// personal matches the members of both gateways' objects that tell who somebody
// is, where they live, what card they have, or lead to a page that does.
var personal = regexp.MustCompile(`(?i)^(name|e?mail|phone|mobile_?phone|cpf_?cnpj|tax_ids?|address|address_?number|postal_?code|complement|province|city|state|line[12]|` +
	`customer_[a-z_]+|evidence|billing_address|receipt_email|receipt_number|billing_details|shipping|holder_?name|remote_?ip|` +
	`last4|iin|fingerprint|exp_(month|year)|credit_?card(_?(number|token|brand))?|payer.*|` +
	`receipt_url|hosted_invoice_url|invoice_pdf|invoice_?url|bank_?slip_?url|transaction_?receipt_?url)$`)

// erased stands where something personal was.
const erased = "[erased]"

// withoutPerson returns the payload without personal texts; numbers of the
// objects, states and ids stay.
func withoutPerson(payload json.RawMessage) (out json.RawMessage, changed bool, err error) {
	decoder := json.NewDecoder(bytes.NewReader(payload))
	decoder.UseNumber()
	var v any
	if err := decoder.Decode(&v); err != nil {
		return nil, false, fmt.Errorf("read payload: %w", err)
	}
	if v, changed = forget(v, false); !changed {
		return payload, false, nil
	}
	out, err = json.Marshal(v)
	return out, true, err
}

// forget erases the texts of personal members, and makes their numbers null, which
// readers of numbers take; inside says that v is part of one.
func forget(v any, inside bool) (out any, changed bool) {
	switch at := v.(type) {
	case map[string]any:
		for name, member := range at {
			now, did := forget(member, inside || personal.MatchString(name))
			at[name], changed = now, changed || did
		}
		return at, changed
	case []any:
		for i, member := range at {
			now, did := forget(member, inside)
			at[i], changed = now, changed || did
		}
		return at, changed
	case string:
		if inside && at != erased {
			return erased, true
		}
	case json.Number:
		if inside {
			return nil, true
		}
	}
	return v, false
}
