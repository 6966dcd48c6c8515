package payments_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"marquee/modules/payments/gateway"
	"marquee/modules/payments/paymentstest"
	"marquee/platform/money"
	"marquee/platform/objectid"
	sandboxgwa "marquee/testutil/sandbox/gwa/account"
	sandboxgwb "marquee/testutil/sandbox/gwb/account"
	"marquee/testutil/sandbox/stage"
)

func authorizationTerms(t *testing.T, g *paymentstest.Gateways) gateway.AuthorizationTerms {
	t.Helper()
	return gateway.AuthorizationTerms{
		SubscriptionID: objectid.New(), Payer: termsA(t, g, paymentstest.CardApproved).Payer,
		Description: "Plus, monthly, with a name longer than allowed", PeriodMonths: 1, FirstAmount: 4990,
		Amount: 4990, FirstDebit: g.Sandbox.GWA.Now().AddDate(0, 1, 0), ExpiresIn: time.Hour,
	}
}

func TestA_AutomaticPix(t *testing.T) {
	t.Parallel()
	g, c := live(t)
	terms := authorizationTerms(t, g)
	a, err := g.A.AuthorizePix(t.Context(), terms)
	require.NoError(t, err)
	require.Equal(t, gateway.AuthorizationStatusCreated, a.Status)
	require.Equal(t, terms.SubscriptionID, a.SubscriptionID)
	require.NotEmpty(t, a.ConciliationID)
	require.NotEmpty(t, a.Payload)
	require.NotEmpty(t, a.EncodedImage)
	require.False(t, a.Expired)
	require.WithinDuration(t, g.Sandbox.GWA.Now().Add(time.Hour), *a.ExpiresAt, time.Minute)

	_, err = g.Sandbox.GWA.PayPIX(a.Payload)
	require.NoError(t, err)
	activated := c.wait(t, "PIX_AUTOMATIC_RECURRING_AUTHORIZATION_ACTIVATED")
	require.Equal(t, gateway.AuthorizationActivated, activated.Kind())
	require.Equal(t, a.ID, activated.AuthorizationID)
	require.Equal(t, terms.SubscriptionID, activated.Reference, "the contract")
	first := c.wait(t, "PAYMENT_RECEIVED")
	require.Equal(t, a.ConciliationID, first.ConciliationID)
	require.Empty(t, first.Reference)
	require.NotEqual(t, terms.Payer.GatewayID, first.CustomerID, "under a customer of the gateway's own making")

	debit := gateway.DebitTerms{
		SubscriptionID: terms.SubscriptionID, AuthorizationID: a.ID, Payer: terms.Payer, Cycle: terms.FirstDebit,
		DueDate: g.Sandbox.GWA.Now().AddDate(0, 0, 7), Amount: 4990, Description: "Plus, monthly",
	}
	_, ok, err := g.A.FindPixDebit(t.Context(), debit)
	require.NoError(t, err)
	require.False(t, ok)
	made, err := g.A.DebitPix(t.Context(), debit)
	require.NoError(t, err)
	found, ok, err := g.A.FindPixDebit(t.Context(), debit)
	require.NoError(t, err)
	require.True(t, ok)
	require.Equal(t, made.ID, found.ID)
	debit.Cycle = debit.Cycle.AddDate(0, 1, 0)
	_, ok, err = g.A.FindPixDebit(t.Context(), debit)
	require.NoError(t, err)
	require.False(t, ok, "of another cycle there is none")

	require.NoError(t, g.Sandbox.GWA.Advance(8*24*time.Hour))
	paid := c.wait(t, "PAYMENT_CONFIRMED")
	require.Equal(t, made.ID, paymentOf(paid).ID)
	require.Equal(t, a.ID, paid.AuthorizationID)
	require.Equal(t, terms.SubscriptionID, paid.Reference)

	ref := gateway.AuthorizationRef{
		ID: a.ID, SubscriptionID: terms.SubscriptionID, CustomerGatewayID: terms.Payer.GatewayID,
	}
	require.NoError(t, g.A.CancelPixAuthorization(t.Context(), ref))
	require.NoError(t, g.A.CancelPixAuthorization(t.Context(), ref), "over already")
	nobody := ref
	nobody.ID = "00000000-0000-0000-0000-000000000000"
	require.NoError(t, g.A.CancelPixAuthorization(t.Context(), nobody))
	c.wait(t, "PIX_AUTOMATIC_RECURRING_AUTHORIZATION_CANCELLED")
	read, err := g.A.ReadPixAuthorization(t.Context(), ref)
	require.NoError(t, err)
	require.Equal(t, gateway.AuthorizationStatusCancelled, read.Status)
	require.True(t, read.Expired)
	_, err = g.A.DebitPix(t.Context(), debit)
	var rejected *gateway.Rejected
	require.ErrorAs(t, err, &rejected, "no debit without an active authorization")
}

func TestA_AuthorizationIsFoundAfterLostAnswer(t *testing.T) {
	t.Parallel()
	g := paymentstest.NewGateways(t)
	terms := authorizationTerms(t, g)
	st := g.Sandbox.GWA.Stage()
	require.NoError(t, st.Faults.Plan(stage.Fault{
		Method: "POST", Path: "/v3/pix/automatic/authorizations", Kind: stage.FaultResetAfter, Times: 1,
	}))
	_, err := g.A.AuthorizePix(t.Context(), terms)
	require.ErrorIs(t, err, gateway.ErrOutcomeUnknown)
	found, ok, err := g.A.FindPixAuthorization(t.Context(), terms)
	require.NoError(t, err)
	require.True(t, ok)
	require.NotEmpty(t, found.Payload)
	terms.SubscriptionID = objectid.New()
	_, ok, err = g.A.FindPixAuthorization(t.Context(), terms)
	require.NoError(t, err)
	require.False(t, ok)
}

func TestA_AuthorizationPeriods(t *testing.T) {
	t.Parallel()
	g := paymentstest.NewGateways(t)
	terms := authorizationTerms(t, g)
	for _, months := range []int{1, 3, 6, 12} {
		terms.PeriodMonths, terms.SubscriptionID = months, objectid.New()
		_, err := g.A.AuthorizePix(t.Context(), terms)
		require.NoError(t, err, months)
	}
	terms.PeriodMonths = 2
	_, err := g.A.AuthorizePix(t.Context(), terms)
	var rejected *gateway.Rejected
	require.ErrorAs(t, err, &rejected)
}

func TestA_RefusedDebitAndOverdueAreOneAttempt(t *testing.T) {
	t.Parallel()
	g, c := live(t)
	terms := authorizationTerms(t, g)
	a, err := g.A.AuthorizePix(t.Context(), terms)
	require.NoError(t, err)
	_, err = g.Sandbox.GWA.PayPIX(a.Payload)
	require.NoError(t, err)
	made, err := g.A.DebitPix(t.Context(), gateway.DebitTerms{
		SubscriptionID: terms.SubscriptionID, AuthorizationID: a.ID, Payer: terms.Payer, Cycle: terms.FirstDebit,
		DueDate: g.Sandbox.GWA.Now().AddDate(0, 0, 7), Amount: 4990,
	})
	require.NoError(t, err)
	_, err = g.Sandbox.GWA.FailDebit(made.ID)
	require.NoError(t, err)
	require.NoError(t, g.Sandbox.GWA.Advance(12*24*time.Hour))
	refused := c.wait(t, "PIX_AUTOMATIC_RECURRING_PAYMENT_INSTRUCTION_REFUSED")
	overdue := c.wait(t, "PAYMENT_OVERDUE")
	for _, e := range []gateway.Event{refused, overdue} {
		require.Equal(t, gateway.PaymentFailed, e.Kind())
		require.Equal(t, made.ID, paymentOf(e).ID)
		require.Equal(t, 1, e.Payload.(gateway.FailedPayment).Attempt)
		require.Equal(t, a.ID, e.AuthorizationID)
		require.Equal(t, gateway.PaymentStatusPending, paymentOf(e).Status, "it can still be paid")
	}
}

func TestA_PromoFirstMonthAndThenThePlan(t *testing.T) {
	t.Parallel()
	g := paymentstest.NewGateways(t)
	terms := termsA(t, g, paymentstest.CardApproved)
	first, err := g.A.ChargeCard(t.Context(), gateway.CardTerms{
		Reference: terms.SubscriptionID, Kind: gateway.KindFirstMonth, Payer: terms.Payer, Amount: 990,
		Description: "Plus, first month", Instrument: terms.Instrument,
	})
	require.NoError(t, err)
	require.Equal(t, "CONFIRMED", first.Payment.NativeStatus)
	require.False(t, first.CardToken.Empty())
	require.Equal(t, "8829", first.Card.Last4)

	terms.Instrument = gateway.Instrument{CardToken: first.CardToken, RemoteIP: terms.Instrument.RemoteIP}
	terms.FirstDue = g.Sandbox.GWA.Now().AddDate(0, 0, 30)
	sub, err := g.A.Subscribe(t.Context(), terms)
	require.NoError(t, err)
	require.NoError(t, g.Sandbox.GWA.Advance(time.Hour))
	read, err := g.A.ReadSubscription(t.Context(), sub.GatewayID, terms.SubscriptionID)
	require.NoError(t, err)
	require.Equal(t, "PENDING", read.PaymentStatus, "charged on day 30, not now")
	all, err := g.A.ListPayments(t.Context(), gateway.PaymentsQuery{
		SubscriptionID: terms.SubscriptionID, SubscriptionGatewayID: sub.GatewayID,
	})
	require.NoError(t, err)
	require.Len(t, all, 2, "the first month and the plan's first charge")

	other := termsA(t, g, paymentstest.CardApproved)
	other.Instrument = terms.Instrument
	_, err = g.A.Subscribe(t.Context(), other)
	var declined *gateway.Declined
	require.ErrorAs(t, err, &declined, "a token belongs to one customer")
}

func TestA_CardUnderRiskAnalysisWaits(t *testing.T) {
	t.Parallel()
	g, c := live(t)
	_, err := g.Sandbox.GWA.ChangeSettings(func(s *sandboxgwa.Settings) { s.RiskAnalysis = true })
	require.NoError(t, err)
	terms := termsA(t, g, paymentstest.CardApproved)
	charge := gateway.CardTerms{
		Reference: terms.SubscriptionID, Kind: gateway.KindTicketOrder, Payer: terms.Payer, Amount: 24000,
		Instrument: terms.Instrument,
	}
	made, err := g.A.ChargeCard(t.Context(), charge)
	require.NoError(t, err)
	require.Equal(t, gateway.PaymentStatusPending, made.Payment.Status)
	require.Nil(t, made.Payment.SettledAt)
	_, err = g.Sandbox.GWA.EndRiskAnalysis(made.Payment.ID, false)
	require.NoError(t, err)
	failed := c.wait(t, "PAYMENT_REPROVED_BY_RISK_ANALYSIS")
	require.Equal(t, gateway.PaymentFailed, failed.Kind())
	require.Equal(t, charge.Reference, failed.Reference)
}

func TestB_OffersNoAutomaticPix(t *testing.T) {
	t.Parallel()
	g := paymentstest.NewGateways(t)
	_, err := g.B.AuthorizePix(t.Context(), gateway.AuthorizationTerms{})
	require.ErrorIs(t, err, gateway.ErrUnsupported)
	_, err = g.B.DebitPix(t.Context(), gateway.DebitTerms{})
	require.ErrorIs(t, err, gateway.ErrUnsupported)
	_, err = g.A.SetCancelAtPeriodEnd(t.Context(), "sub_1", objectid.New(), true)
	require.ErrorIs(t, err, gateway.ErrUnsupported)
	_, err = g.A.InvoiceOf(t.Context(), "pi_1")
	require.ErrorIs(t, err, gateway.ErrUnsupported)
}

func TestB_CancelAtPeriodEndAndBack(t *testing.T) {
	t.Parallel()
	b := setupB(t, paymentstest.TokenApproved)
	sub, err := b.B.Subscribe(t.Context(), b.terms)
	require.NoError(t, err)
	ending, err := b.B.SetCancelAtPeriodEnd(t.Context(), sub.GatewayID, b.terms.SubscriptionID, true)
	require.NoError(t, err)
	require.Equal(t, gateway.RemoteActive, ending.Status)
	require.True(t, ending.CancelAtPeriodEnd)
	require.Equal(t, sub.NextBilling, ending.NextBilling)
	going, err := b.B.SetCancelAtPeriodEnd(t.Context(), sub.GatewayID, b.terms.SubscriptionID, false)
	require.NoError(t, err)
	require.False(t, going.CancelAtPeriodEnd)
	_, err = b.B.SetCancelAtPeriodEnd(t.Context(), "sub_0", objectid.New(), true)
	require.ErrorIs(t, err, gateway.ErrMissing)
}

func TestB_OpenInvoiceIsPaidByTheNewCard(t *testing.T) {
	t.Parallel()
	b := setupB(t, paymentstest.TokenApproved)
	card, err := b.Sandbox.GWB.CreateCard(sandboxgwb.Card{Number: "4242424242424242", ExpMonth: 5, ExpYear: 2035})
	require.NoError(t, err)
	b.terms.Instrument = paymentstest.Token(card)
	sub, err := b.B.Subscribe(t.Context(), b.terms)
	require.NoError(t, err)
	require.NoError(t, b.Sandbox.GWB.SetOutcome(card, paymentstest.TokenDeclined))
	require.NoError(t, b.Sandbox.GWB.Renew(sub.GatewayID))

	request := gateway.InvoicePayment{
		AttemptID: objectid.New(), SubscriptionID: b.terms.SubscriptionID, SubscriptionGatewayID: sub.GatewayID,
	}
	_, open, err := b.B.PayOpenInvoice(t.Context(), request)
	var declined *gateway.Declined
	require.ErrorAs(t, err, &declined, "the card still refuses")
	require.True(t, open)

	_, err = b.B.ChangeCard(t.Context(), gateway.CardChange{
		ChangeID: objectid.New(), SubscriptionID: b.terms.SubscriptionID, SubscriptionGatewayID: sub.GatewayID,
		Payer: b.terms.Payer, Instrument: paymentstest.Token("pm_card_mastercard"),
	})
	require.NoError(t, err)
	request.AttemptID = objectid.New()
	paid, open, err := b.B.PayOpenInvoice(t.Context(), request)
	require.NoError(t, err)
	require.True(t, open)
	require.Equal(t, gateway.PaymentStatusSettled, paid.Status)
	require.NotEqual(t, sub.LatestPayment.ID, paid.ID)
	require.NotEmpty(t, paid.PaymentIntentID)
	intent, err := b.B.InvoiceOf(t.Context(), paid.PaymentIntentID)
	require.NoError(t, err)
	require.Equal(t, paid.ID, intent)
	_, open, err = b.B.PayOpenInvoice(t.Context(), request)
	require.NoError(t, err)
	require.False(t, open)
	read, err := b.B.ReadSubscription(t.Context(), sub.GatewayID, b.terms.SubscriptionID)
	require.NoError(t, err)
	require.Equal(t, gateway.RemoteActive, read.Status)
}

func TestB_AuthenticationIsADeclineWhereNoStepFollows(t *testing.T) {
	t.Parallel()
	b := setupB(t, paymentstest.TokenAuthentication)
	_, err := b.B.ChargeCard(t.Context(), gateway.CardTerms{
		Reference: objectid.New(), Kind: gateway.KindTicketOrder, Payer: b.terms.Payer, Amount: 24000,
		Instrument: b.terms.Instrument,
	})
	var declined *gateway.Declined
	require.ErrorAs(t, err, &declined)
	require.Equal(t, "authentication_required", declined.Code)
}

func TestB_CustomerListIsTheLastResort(t *testing.T) {
	t.Parallel()
	b := setupB(t, paymentstest.TokenApproved)
	_, err := b.B.ChargeCard(t.Context(), gateway.CardTerms{
		Reference: objectid.New(), Kind: gateway.KindTicketOrder, Payer: b.terms.Payer, Amount: 24000,
		Instrument: b.terms.Instrument,
	})
	require.NoError(t, err)
	sub, err := b.B.Subscribe(t.Context(), b.terms)
	require.NoError(t, err)
	q := gateway.PaymentsQuery{
		SubscriptionID: objectid.New(), SubscriptionGatewayID: "sub_of_another_account",
		CustomerGatewayID: b.terms.Payer.GatewayID,
	}
	all, err := b.B.ListPayments(t.Context(), q)
	require.NoError(t, err)
	require.Len(t, all, 1, "never the ticket order")
	require.Equal(t, sub.LatestPayment.PaymentIntentID, all[0].PaymentIntentID)
	q.SubscriptionGatewayID = ""
	all, err = b.B.ListPayments(t.Context(), q)
	require.NoError(t, err)
	require.Empty(t, all, "a PIX that nobody paid is not shown what a card has paid for another subscription")
}

func TestB_RefundThatFailsLater(t *testing.T) {
	t.Parallel()
	g, c := live(t)
	card := termsB(t, g, "pm_card_refundFail")
	sub, err := g.B.Subscribe(t.Context(), card)
	require.NoError(t, err)
	terms := gateway.RefundTerms{
		RefundID: objectid.New(), Payment: gateway.PaymentRef{PaymentID: sub.LatestPayment.ID}, Amount: 1000,
		Reason: "A courtesy",
	}
	made, err := g.B.Refund(t.Context(), terms)
	require.NoError(t, err)
	require.Equal(t, sub.LatestPayment.PaymentIntentID, made.Report.PaymentID)
	reported := c.wait(t, "charge.refunded")
	require.Equal(t, made.Report.PaymentID, reported.Payload.(gateway.RefundChange).Report.PaymentID)
	require.EqualValues(t, 1000, reported.Payload.(gateway.RefundChange).Report.Total)
	require.Equal(t, card.Payer.GatewayID, reported.CustomerID)
	named := c.wait(t, "refund.created")
	require.Equal(t, made.ID, named.Payload.(gateway.RefundChange).Report.Singles[0].ID)
	require.Equal(t, terms.RefundID, named.Payload.(gateway.RefundChange).Report.Singles[0].RefundID)
	require.NoError(t, g.Sandbox.GWB.FinishRefund(made.ID, false))
	failed := c.wait(t, "refund.failed")
	require.Equal(t, gateway.RefundFailed, failed.Kind())
	require.Equal(t, gateway.RefundStatusFailed, failed.Payload.(gateway.RefundChange).Report.Singles[0].Status)
}

func TestB_DisputeSteps(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		inquiry, won     bool
		opened, finished gateway.DisputeState
	}{
		"lost":    {opened: gateway.DisputeOpen, finished: gateway.DisputeLost},
		"won":     {won: true, opened: gateway.DisputeOpen, finished: gateway.DisputeWon},
		"inquiry": {inquiry: true, opened: gateway.DisputeInquiry, finished: gateway.DisputeDismissed},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g, c := live(t)
			payer := paymentstest.Payer()
			var err error
			payer.GatewayID, err = g.B.EnsureCustomer(t.Context(), payer)
			require.NoError(t, err)
			made, err := g.B.ChargeCard(t.Context(), gateway.CardTerms{
				Reference: objectid.New(), Kind: gateway.KindTicketOrder, Payer: payer, Amount: 24000,
				Instrument: paymentstest.Token(paymentstest.TokenApproved),
			})
			require.NoError(t, err)
			id, err := g.Sandbox.GWB.OpenDispute(made.Payment.ID, "fraudulent", tc.inquiry)
			require.NoError(t, err)
			created := c.wait(t, "charge.dispute.created")
			require.Equal(t, gateway.DisputeOpened, created.Kind())
			require.Equal(t, tc.opened, created.Payload.(gateway.DisputeChange).Report.State)
			require.Equal(t, made.Payment.ID, created.Payload.(gateway.DisputeChange).Report.PaymentID)
			require.NoError(t, g.Sandbox.GWB.CloseDispute(id, tc.won))
			closed := c.wait(t, "charge.dispute.closed")
			require.Equal(t, gateway.DisputeClosed, closed.Kind())
			require.Equal(t, tc.finished, closed.Payload.(gateway.DisputeChange).Report.State)
		})
	}
}

// chargedA is an order of 240.00 that a card has paid at gateway A.
func chargedA(t *testing.T, g *paymentstest.Gateways) gateway.CardCharge {
	t.Helper()
	terms := termsA(t, g, paymentstest.CardApproved)
	made, err := g.A.ChargeCard(t.Context(), gateway.CardTerms{
		Reference: terms.SubscriptionID, Kind: gateway.KindTicketOrder, Payer: terms.Payer, Amount: 24000,
		Instrument: terms.Instrument,
	})
	require.NoError(t, err)
	return made
}

func TestA_ChargebackSteps(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		steps []sandboxgwa.ChargebackStep
		event string
		state gateway.DisputeState
	}{
		"lost": {
			steps: []sandboxgwa.ChargebackStep{
				sandboxgwa.ChargebackRequested, sandboxgwa.ChargebackDisputed, sandboxgwa.ChargebackLost,
			},
			event: "PAYMENT_REFUNDED", state: gateway.DisputeLost,
		},
		"won": {
			steps: []sandboxgwa.ChargebackStep{sandboxgwa.ChargebackRequested, sandboxgwa.ChargebackWon},
			event: "PAYMENT_AWAITING_CHARGEBACK_REVERSAL", state: gateway.DisputeWon,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g, c := live(t)
			made := chargedA(t, g)
			for _, step := range tc.steps {
				_, err := g.Sandbox.GWA.Chargeback(made.Payment.ID, step, "")
				require.NoError(t, err)
			}
			opened := c.wait(t, "PAYMENT_CHARGEBACK_REQUESTED")
			require.Equal(t, gateway.DisputeOpen, opened.Payload.(gateway.DisputeChange).Report.State)
			closed := c.wait(t, tc.event)
			require.Equal(t, gateway.DisputeClosed, closed.Kind())
			require.Equal(t, tc.state, closed.Payload.(gateway.DisputeChange).Report.State)
			require.IsType(t, gateway.DisputeChange{}, closed.Payload, "the dispute took the money, no refund did")
			all, err := g.A.ListDisputes(t.Context(), gateway.PaymentRef{PaymentID: made.Payment.ID})
			require.NoError(t, err)
			require.Equal(t, tc.state, all[0].State)
			events, _, err := g.A.CreatedSince(t.Context(), g.Sandbox.GWA.Now().Add(-time.Hour), "")
			require.NoError(t, err)
			require.Len(t, events, 2, "the payment and its dispute, no refund")
		})
	}
}

// A chargeback stays on the payment when it is won. What is given back afterwards is
// a refund, and the dispute stays won, for events and for the reconciliation alike;
// what was given back before does not hide that one is lost.
func TestA_RefundsBesideAChargeback(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		before, after money.Cents
		last          sandboxgwa.ChargebackStep
		kind          gateway.EventKind // of PAYMENT_REFUNDED
		disputes      int               // told by the reconciliation
		refunded      money.Cents
	}{
		"refunded after it was won": {
			after: 24000, last: sandboxgwa.ChargebackWon, kind: gateway.PaymentRefunded, refunded: 24000,
		},
		"refunded in part, and then lost": {
			before: 4000, last: sandboxgwa.ChargebackLost, kind: gateway.DisputeClosed, disputes: 1, refunded: 4000,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g, c := live(t)
			made := chargedA(t, g)
			giveBack := func(amount money.Cents) {
				if amount == 0 {
					return
				}
				_, err := g.A.Refund(t.Context(), gateway.RefundTerms{
					RefundID: objectid.New(), Payment: gateway.PaymentRef{PaymentID: made.Payment.ID}, Amount: amount,
					RequestedAt: g.Sandbox.GWA.Now(),
				})
				require.NoError(t, err)
			}
			giveBack(tc.before)
			for _, step := range []sandboxgwa.ChargebackStep{sandboxgwa.ChargebackRequested, tc.last} {
				_, err := g.Sandbox.GWA.Chargeback(made.Payment.ID, step, "")
				require.NoError(t, err)
			}
			giveBack(tc.after)
			require.Equal(t, tc.kind, c.wait(t, "PAYMENT_REFUNDED").Kind())
			events, _, err := g.A.CreatedSince(t.Context(), g.Sandbox.GWA.Now().Add(-time.Hour), "")
			require.NoError(t, err)
			disputes, refunded := 0, money.Cents(0)
			for _, e := range events {
				switch p := e.Payload.(type) {
				case gateway.DisputeChange:
					disputes++
					require.Equal(t, gateway.DisputeLost, p.Report.State)
				case gateway.RefundChange:
					refunded = p.Report.Total
				}
			}
			require.Equal(t, tc.disputes, disputes)
			require.Equal(t, tc.refunded, refunded)
		})
	}
}
