package subscriptions_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"marquee/modules/payments/gateway"
	"marquee/modules/payments/paymentstest"
	"marquee/modules/subscriptions"
	"marquee/modules/subscriptions/subscriptionstest"
	"marquee/platform/objectid"
)

// remote tells the events of one gateway B subscription.
type remote struct {
	id    string
	local objectid.ID
	epoch time.Time
}

func remoteOf(t *testing.T, b *bundle, id objectid.ID) remote {
	t.Helper()
	return remote{
		id: column[string](t, b, id, "gwb_subscription_id"), local: id, epoch: b.clock.Now().Truncate(time.Second),
	}
}

func (r remote) at(second int) time.Time { return r.epoch.Add(time.Duration(second) * time.Second) }

// invoiceID is a gateway's id of an invoice of the subscription, unlike those of all
// others.
func (r remote) invoiceID(name string) string { return name + "_" + r.local.String() }

// invoice is an event about one of the subscription's invoices.
func (r remote) invoice(second int, p gateway.Payload) gateway.Event {
	return gateway.Event{
		Gateway: gateway.GWB, CreatedAt: r.at(second), SubscriptionID: r.id, Reference: r.local, Payload: p,
	}
}

func (r remote) payment(status gateway.PaymentStatus, invoice string, second int) gateway.Payment {
	at := r.at(second)
	invoice = r.invoiceID(invoice)
	return gateway.Payment{
		ID: invoice, InvoiceID: invoice, Status: status, NativeStatus: string(status), Method: gateway.MethodCard,
		Amount: 4990, SettledAt: &at,
	}
}

func (r remote) paid(invoice string, second int) gateway.Event {
	return r.invoice(second, gateway.SettledPayment{Payment: r.payment(gateway.PaymentStatusSettled, invoice, second)})
}

func (r remote) failed(invoice string, attempt, second int) gateway.Event {
	return r.invoice(second, gateway.FailedPayment{
		Payment: r.payment(gateway.PaymentStatusFailed, invoice, second), Attempt: attempt,
	})
}

func (r remote) updated(status gateway.RemoteStatus, second int, invoice ...string) gateway.Event {
	next := r.at(second).AddDate(0, 1, 0)
	sub := gateway.RemoteSubscription{GatewayID: r.id, Status: status, NextBilling: &next}
	for _, id := range invoice {
		sub.LatestPayment = &gateway.Payment{ID: r.invoiceID(id), InvoiceID: r.invoiceID(id)}
	}
	return gateway.Event{
		Gateway: gateway.GWB, Type: "customer.subscription.updated", CreatedAt: r.at(second),
		SubscriptionID: r.id, Reference: r.local, Payload: gateway.SubscriptionChange{Subscription: sub},
	}
}

// leaving has a status event tell which status the subscription had before.
func leaving(status gateway.RemoteStatus, e gateway.Event) gateway.Event {
	e.Payload = gateway.SubscriptionChange{
		Subscription: e.Payload.(gateway.SubscriptionChange).Subscription, Left: status,
	}
	return e
}

func (r remote) created(status gateway.RemoteStatus, second int) gateway.Event {
	e := r.updated(status, second)
	e.Type = "customer.subscription.created"
	return e
}

func (r remote) deleted(second int) gateway.Event {
	e := r.updated(gateway.RemoteCanceled, second)
	e.Type = "customer.subscription.deleted"
	e.Payload = gateway.SubscriptionEnd{Subscription: e.Payload.(gateway.SubscriptionChange).Subscription}
	return e
}

// editPayment changes the payment that an event tells of.
func editPayment(e *gateway.Event, edit func(p *gateway.Payment)) {
	switch p := e.Payload.(type) {
	case gateway.SettledPayment:
		edit(&p.Payment)
		e.Payload = p
	case gateway.FailedPayment:
		edit(&p.Payment)
		e.Payload = p
	}
}

// subscriptionIn makes the customer's subscription in a state.
func subscriptionIn(t *testing.T, b *bundle, status string) (objectid.ID, remote) {
	t.Helper()
	id := subscriptionstest.In(t, b.db, b.customer.ID, status)
	return id, remoteOf(t, b, id)
}

func TestStatusMappingOfGatewayB(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for _, tc := range []struct {
		from   string
		remote gateway.RemoteStatus
		want   string
	}{
		{"pending", gateway.RemoteActive, "active"},
		{"pending", gateway.RemoteTrialing, "active"},
		{"suspended", gateway.RemoteActive, "active"},
		{"active", gateway.RemotePastDue, "suspended"},
		{"active", gateway.RemoteUnpaid, "suspended"},
		{"active", gateway.RemotePaused, "suspended"},
		{"active", gateway.RemoteCanceled, "cancelled"},
		{"active", gateway.RemoteIncomplete, "pending"},
		{"pending", gateway.RemoteIncompleteExpired, "expired"},
		{"cancelled", gateway.RemoteActive, "cancelled"},
		{"cancelled", gateway.RemoteIncompleteExpired, "cancelled"},
		{"expired", gateway.RemoteCanceled, "expired"},
	} {
		t.Run(tc.from+" "+string(tc.remote), func(t *testing.T) {
			b.newcomer(t)
			id, r := subscriptionIn(t, b, tc.from)
			result := b.apply(t, r.updated(tc.remote, 1))
			require.Equal(t, tc.want, b.status(t, id))
			require.Equal(t, tc.want, *result.NewStatus)
			require.Equal(t, id, *result.SubscriptionID)
			if tc.want == "cancelled" || tc.want == "expired" {
				require.Empty(t, b.current(t))
			} else {
				require.Equal(t, id, b.current(t))
			}
			if tc.want == "suspended" {
				require.Equal(t, 1, column[int](t, b, id, "payment_failures"))
			}
		})
	}
}

func TestEchoOfADeclinedFirstPaymentIsCancelled(t *testing.T) {
	t.Parallel()
	b := setup(t)
	id, r := subscriptionIn(t, b, "pending")
	b.set(t, id, "intent_open = true")
	b.apply(t, r.updated(gateway.RemoteIncompleteExpired, 1))
	require.Equal(t, "cancelled", b.status(t, id), "what the answer is about to say")
}

func TestStatusEventsOutOfOrder(t *testing.T) {
	t.Parallel()
	b := setup(t)
	const active, pastDue, incomplete = gateway.RemoteActive, gateway.RemotePastDue, gateway.RemoteIncomplete
	for name, tc := range map[string]struct {
		from   string
		events func(r remote) []gateway.Event
		want   string
	}{
		"an older one never overwrites": {"pending", func(r remote) []gateway.Event {
			return []gateway.Event{r.updated(active, 5), r.updated(pastDue, 4)}
		}, "active"},
		"a newer one does": {"pending", func(r remote) []gateway.Event {
			return []gateway.Event{r.updated(active, 5), r.updated(pastDue, 6)}
		}, "suspended"},
		"on a tie nothing worse": {"pending", func(r remote) []gateway.Event {
			return []gateway.Event{r.updated(active, 5), r.updated(incomplete, 5), r.updated(pastDue, 5)}
		}, "active"},
		"on a tie something better": {"pending", func(r remote) []gateway.Event {
			return []gateway.Event{r.updated(incomplete, 5), r.updated(active, 5)}
		}, "active"},
		"on a tie what left the present state": {"pending", func(r remote) []gateway.Event {
			return []gateway.Event{r.updated(active, 5), leaving(active, r.updated(pastDue, 5))}
		}, "suspended"},
		"on a tie what left another state": {"pending", func(r remote) []gateway.Event {
			return []gateway.Event{r.updated(active, 5), leaving(incomplete, r.updated(pastDue, 5))}
		}, "active"},
		"on a tie a failure of what is paid by now": {"active", func(r remote) []gateway.Event {
			return []gateway.Event{
				r.paid("in_2", 5), r.updated(active, 5), leaving(active, r.updated(pastDue, 5, "in_2")),
			}
		}, "active"},
		"an end holds on a tie": {"active", func(r remote) []gateway.Event {
			return []gateway.Event{r.updated(active, 5), r.updated(gateway.RemoteCanceled, 5)}
		}, "cancelled"},
		"created late after the payment": {"pending", func(r remote) []gateway.Event {
			return []gateway.Event{r.paid("in_1", 2), r.created(incomplete, 3)}
		}, "active"},
		"payment before the status": {"pending", func(r remote) []gateway.Event {
			return []gateway.Event{r.paid("in_1", 2), r.updated(active, 2), r.created(incomplete, 1)}
		}, "active"},
		"deleted, then a renewal paid before": {"active", func(r remote) []gateway.Event {
			return []gateway.Event{r.deleted(9), r.paid("in_2", -60)}
		}, "cancelled"},
		"deleted twice": {"active", func(r remote) []gateway.Event {
			return []gateway.Event{r.deleted(9), r.deleted(9), r.updated(active, 10)}
		}, "cancelled"},
	} {
		t.Run(name, func(t *testing.T) {
			b.newcomer(t)
			id, r := subscriptionIn(t, b, tc.from)
			for _, e := range tc.events(r) {
				b.apply(t, e)
			}
			require.Equal(t, tc.want, b.status(t, id))
		})
	}
}

func TestFailedRenewalCountsOnce(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for name, events := range map[string]func(r remote) []gateway.Event{
		"the invoice first": func(r remote) []gateway.Event {
			return []gateway.Event{
				r.failed("in_2", 1, 5), r.updated(gateway.RemotePastDue, 5, "in_2"), r.failed("in_2", 1, 5),
			}
		},
		"the status first": func(r remote) []gateway.Event {
			return []gateway.Event{
				r.updated(gateway.RemotePastDue, 5, "in_2"), r.failed("in_2", 1, 5),
				r.updated(gateway.RemotePastDue, 7, "in_2"),
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			b.newcomer(t)
			id, r := subscriptionIn(t, b, "active")
			for _, e := range events(r) {
				b.apply(t, e)
			}
			require.Equal(t, "suspended", b.status(t, id))
			require.Equal(t, 1, column[int](t, b, id, "payment_failures"))
			require.False(t, b.access(t))

			b.apply(t, r.paid("in_2", 20))
			require.Equal(t, "active", b.status(t, id), "paid, it opens again")
			require.Equal(t, 0, column[int](t, b, id, "payment_failures"))
			b.apply(t, r.failed("in_2", 2, 15))
			require.Equal(t, 0, column[int](t, b, id, "payment_failures"),
				"a failure of an invoice that has been paid since")
		})
	}
}

func TestThirdFailureInARowSuspends(t *testing.T) {
	t.Parallel()
	b := setup(t, func(c *subscriptions.Config) { c.PastDueOnlyCounts = true })
	id, r := subscriptionIn(t, b, "active")
	b.apply(t, r.failed("in_2", 1, 1))
	b.apply(t, r.updated(gateway.RemotePastDue, 1, "in_2"))
	require.Equal(t, "active", b.status(t, id), "PAST_DUE_SUSPENDS=false")
	b.apply(t, r.failed("in_2", 2, 2))
	require.Equal(t, "active", b.status(t, id))
	require.Equal(t, 2, column[int](t, b, id, "payment_failures"))
	require.True(t, b.access(t))
	result := b.apply(t, r.failed("in_2", 3, 3))
	require.Equal(t, "suspended", *result.NewStatus)
	require.Equal(t, 3, column[int](t, b, id, "payment_failures"))
	require.False(t, b.access(t))
	require.Equal(t, "active>suspended payment_failure webhook", b.history(t, id)[1])
	refused(t, b.expect(t, 409, http.MethodPost, "/gwb/subscribe", gwbCard("pm_card_visa")), "CONFLICT", "")
}

func TestFirstPaymentsDoNotCountAsFailures(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for _, status := range []string{"pending", "cancelled"} {
		b.newcomer(t)
		id, r := subscriptionIn(t, b, status)
		b.apply(t, r.failed("in_1", 1, 1))
		require.Equal(t, status, b.status(t, id))
		require.Equal(t, 0, column[int](t, b, id, "payment_failures"))
	}
	b.newcomer(t)
	id, r := subscriptionIn(t, b, "active")
	e := r.failed("in_1", 1, 1)
	first := e.Payload.(gateway.FailedPayment)
	first.First = true // of the challenge that was passed since
	e.Payload = first
	require.Equal(t, gateway.ResultIgnored, b.apply(t, e).Status)
	require.Equal(t, 0, column[int](t, b, id, "payment_failures"))
}

func TestDisputedSubscriptionStaysClosed(t *testing.T) {
	t.Parallel()
	b := setup(t)
	id, r := subscriptionIn(t, b, "suspended")
	b.set(t, id, "has_chargeback = true")
	b.apply(t, r.updated(gateway.RemoteActive, 5))
	require.Equal(t, "suspended", b.status(t, id))
	b.apply(t, r.paid("in_2", 6))
	require.Equal(t, "suspended", b.status(t, id))
	require.NotNil(t, column[*time.Time](t, b, id, "last_payment_at"), "the payment is known all the same")
}

func TestLateMoney(t *testing.T) {
	t.Parallel()
	t.Run("of a disputed subscription stays in the ledger", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		id, r := subscriptionIn(t, b, "cancelled")
		b.set(t, id, "has_chargeback = true")
		b.apply(t, r.paid("in_1", 30))
		require.Equal(t, "cancelled", b.status(t, id))
		require.Equal(t, 1, b.count(t, "SELECT count(*) FROM payments.payments"))
	})
	t.Run("first payment of a cancelled subscription", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		id, r := subscriptionIn(t, b, "cancelled")
		b.set(t, id, "started_at = NULL")
		b.apply(t, r.paid("in_1", 30))
		require.Equal(t, "active", b.status(t, id))
		require.Equal(t, id, b.current(t))
		require.NotNil(t, column[*time.Time](t, b, id, "expires_at"),
			"the gateway charges no further month, so access ends with this one")
		b.apply(t, r.paid("in_1", 30))
		require.Equal(t, 1, b.count(t, "SELECT count(*) FROM payments.payments"))
	})
	t.Run("a settled report of a payment known before", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		id, r := subscriptionIn(t, b, "active")
		b.apply(t, r.paid("in_1", 1))
		b.apply(t, r.deleted(2))
		b.apply(t, r.paid("in_1", 3600*24*32))
		require.Equal(t, "cancelled", b.status(t, id))
	})
	t.Run("of a customer who has another one", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		old, r := subscriptionIn(t, b, "cancelled")
		b.set(t, old, "started_at = NULL")
		now, _ := subscriptionIn(t, b, "active")
		require.Equal(t, gateway.ResultIgnored, b.apply(t, r.paid("in_1", 30)).Status)
		require.Equal(t, "cancelled", b.status(t, old))
		require.Equal(t, "active", b.status(t, now))
		require.Equal(t, 1, b.count(t, "SELECT count(*) FROM payments.payments"), "the ledger has it")
		require.Equal(t, 1, b.count(t,
			"SELECT count(*) FROM payments.intents WHERE kind = 'end' AND state = 'open'"))
	})
}

func TestEndOfAnOldSubscriptionLeavesTheNewOneCurrent(t *testing.T) {
	t.Parallel()
	b := setup(t)
	old, r := subscriptionIn(t, b, "active")
	b.set(t, old, "status = 'cancelled', ended_at = $2", paymentstest.Now())
	now, _ := subscriptionIn(t, b, "active")
	b.set(t, old, "status = 'cancelled', ended_at = $2", paymentstest.Now())
	b.apply(t, r.deleted(5))
	require.Equal(t, now, b.current(t))
}

func TestCancelledAtPeriodEnd(t *testing.T) {
	t.Parallel()
	b := setup(t)
	id, r := subscriptionIn(t, b, "active")
	e := r.updated(gateway.RemoteActive, 1)
	change := e.Payload.(gateway.SubscriptionChange)
	change.Subscription.CancelAtPeriodEnd = true
	e.Payload = change
	b.apply(t, e)
	require.Equal(t, "active", b.status(t, id))
	require.True(t, change.Subscription.NextBilling.Equal(column[time.Time](t, b, id, "expires_at")))
	b.apply(t, r.updated(gateway.RemoteActive, 2))
	require.Nil(t, column[*time.Time](t, b, id, "expires_at"), "taken back, the recurrence runs on")
	e.CreatedAt = r.at(3)
	b.apply(t, e)
	b.apply(t, r.deleted(4))
	require.Equal(t, "active>cancelled customer_cancelled webhook", b.history(t, id)[1])
}

func TestWhomAnEventIsAbout(t *testing.T) {
	t.Parallel()
	b := setup(t)
	id, r := subscriptionIn(t, b, "pending")
	ignored := func(reason string, e gateway.Event) {
		t.Helper()
		result := b.apply(t, e)
		require.Equal(t, gateway.ResultIgnored, result.Status)
		require.EqualValues(t, reason, result.Reason)
		require.Equal(t, "pending", b.status(t, id))
	}
	other := r.paid("in_1", 1)
	other.SubscriptionID = "sub_of_somebody_else" // the reference names a row that has another subscription
	ignored("another recurrence than the subscription's", other)
	require.Equal(t, 1, b.count(t,
		"SELECT count(*) FROM payments.unapplied_payments WHERE kind = 'duplicate' AND automatic AND subscription_id = $1", id))
	require.Equal(t, 1, b.count(t, "SELECT count(*) FROM payments.payments WHERE local_id = $1", id),
		"and it is booked")
	wrongGateway := r.paid("in_2", 1)
	wrongGateway.Gateway, wrongGateway.SubscriptionID, wrongGateway.Type = gateway.GWA, "", gateway.ReadLive
	ignored("the subscription is of the other gateway", wrongGateway)
	wrongGateway.SubscriptionID = "sub_a_unknown"
	ignored("the subscription is of the other gateway", wrongGateway)
	require.Equal(t, 1, b.count(t,
		"SELECT count(*) FROM payments.unapplied_payments WHERE kind = 'foreign' AND NOT automatic AND subscription_id = $1", id))
	wrongGateway.Payload = gateway.FailedPayment{
		Payment: wrongGateway.Payload.(gateway.SettledPayment).Payment, Attempt: 1,
	}
	ignored("the subscription is of the other gateway", wrongGateway)
	stranger := r.paid("in_1", 1)
	stranger.SubscriptionID, stranger.Reference = "sub_unknown", objectid.New()
	require.True(t, b.apply(t, stranger).Unclaimed)

	b.set(t, id, "gwb_subscription_id = NULL") // the answer with the id has not been committed
	require.Equal(t, "active", *b.apply(t, r.paid("in_3", 1)).NewStatus)
	require.Equal(t, r.id, column[string](t, b, id, "gwb_subscription_id"))
}

func TestInvoiceOfNothingStartsATrial(t *testing.T) {
	t.Parallel()
	b := setup(t)
	id, r := subscriptionIn(t, b, "pending")
	b.set(t, id, "trial_days = 7")
	e := r.paid("in_1", 1)
	editPayment(&e, func(p *gateway.Payment) { p.Amount = 0 })
	b.apply(t, e)
	b.apply(t, e)
	require.Equal(t, []string{">pending subscribed subscribe", "pending>active trial_started webhook"},
		b.history(t, id))
	require.Nil(t, column[*time.Time](t, b, id, "last_payment_at"))
	require.Equal(t, 0, b.count(t, "SELECT count(*) FROM payments.payments"))
	c, err := b.accounts.CustomerByID(t.Context(), b.db, b.customer.ID)
	require.NoError(t, err)
	require.NotNil(t, c.TrialUsedAt)
}

func TestEventDeliveredManyTimes(t *testing.T) {
	t.Parallel()
	b := setup(t)
	id, r := subscriptionIn(t, b, "pending")
	e := r.paid("in_1", 1)
	e.ID = "evt_same"
	first := b.apply(t, e)
	before := column[time.Time](t, b, id, "last_payment_at")
	b.clock.Advance(time.Hour)
	for range 4 {
		again := b.apply(t, e)
		require.Equal(t, first, again)
	}
	require.Equal(t, before, column[time.Time](t, b, id, "last_payment_at"))
	require.Len(t, b.history(t, id), 2)
}
