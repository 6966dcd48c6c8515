package payments_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"marquee/modules/payments/gateway"
	"marquee/modules/payments/gwa"
	"marquee/modules/payments/paymentstest"
	"marquee/platform/clock"
	"marquee/platform/objectid"
	"marquee/testutil/sandbox/stage"
)

func TestA_CancelledPixIsGone(t *testing.T) {
	t.Parallel()
	g := paymentstest.NewGateways(t)
	payer := termsA(t, g, paymentstest.CardApproved).Payer
	order := objectid.New()
	made, err := g.A.CreatePix(t.Context(), gateway.PixTerms{
		Reference: order, Payer: payer, Amount: 4990, DueDate: g.Sandbox.GWA.Now(),
	})
	require.NoError(t, err)
	_, err = g.Sandbox.GWA.ExpirePIX(made.Payment.ID)
	require.NoError(t, err)
	require.NoError(t, g.A.CancelPix(t.Context(), made.Payment.ID, order))
	read, err := g.A.ReadPix(t.Context(), made.Payment.ID, order)
	if err == nil {
		require.True(t, read.Expired)
		require.Equal(t, gateway.PaymentStatusGone, read.Payment.Status)
	} else {
		require.ErrorIs(t, err, gateway.ErrMissing)
	}
}

func TestA_CodeThatIsNotThereYetIsAskedForAgain(t *testing.T) {
	t.Parallel()
	g := paymentstest.NewGateways(t)
	terms := gateway.PixTerms{
		Reference: objectid.New(), Payer: termsA(t, g, paymentstest.CardApproved).Payer, Amount: 4990,
		DueDate: g.Sandbox.GWA.Now(),
	}
	require.NoError(t, g.Sandbox.GWA.Stage().Faults.Plan(stage.Fault{
		Method: "GET", Path: "/v3/payments/", Suffix: "/pixQrCode", Kind: stage.FaultStatus, Status: 400, Times: 2,
	}))
	made, err := g.A.CreatePix(t.Context(), terms)
	require.NoError(t, err)
	require.NotEmpty(t, made.Payload)

	terms.Reference = objectid.New()
	require.NoError(t, g.Sandbox.GWA.Stage().Faults.Plan(stage.Fault{
		Method: "GET", Path: "/v3/payments/", Suffix: "/pixQrCode", Kind: stage.FaultStatus, Status: 400, Times: 50,
	}))
	_, err = g.A.CreatePix(t.Context(), terms)
	require.ErrorIs(t, err, gateway.ErrOutcomeUnknown, "the payment was made")
	g.Sandbox.GWA.Stage().Faults.Clear()
	found, ok, err := g.A.FindPix(t.Context(), terms)
	require.NoError(t, err)
	require.True(t, ok)
	require.NotEmpty(t, found.Payload)
}

// A platform whose days are not those of São Paulo asks for its own, but for none
// that is over there.
func TestA_DueDaysAreThoseOfTheReports(t *testing.T) {
	t.Parallel()
	g := paymentstest.NewGateways(t)
	now := clock.NewFake(g.Sandbox.GWA.Now())
	payer := termsA(t, g, paymentstest.CardApproved).Payer
	today := now.Now().In(zoneA(t)).Format(time.DateOnly)
	for _, tc := range []struct {
		zone string
		days int // from today in that zone
	}{
		{"UTC", 0},
		{"UTC", 7},
		{"Asia/Tokyo", 0},
		{"Asia/Tokyo", 7},
		{"America/Los_Angeles", 0},
		{"America/Los_Angeles", 7},
	} {
		zone, err := time.LoadLocation(tc.zone)
		require.NoError(t, err)
		a := gwa.New(gwa.Config{URL: g.Sandbox.GWAURL(), APIKey: "$aact_hmlg_sandbox", Days: zone, Clock: now})
		year, month, day := now.Now().In(zone).Date()
		due := time.Date(year, month, day+tc.days, 0, 0, 0, 0, zone)
		made, err := a.CreatePix(t.Context(), gateway.PixTerms{
			Reference: objectid.New(), Payer: payer, Amount: 4990, DueDate: due.UTC(),
		})
		require.NoError(t, err, tc)
		require.Equal(t, max(due.Format(time.DateOnly), today), made.Payment.DueDate.In(zoneA(t)).Format(time.DateOnly),
			tc)
	}
}

func zoneA(t *testing.T) *time.Location {
	t.Helper()
	zone, err := time.LoadLocation("America/Sao_Paulo")
	require.NoError(t, err)
	return zone
}

func TestA_PixBelowTheMinimumIsRejected(t *testing.T) {
	t.Parallel()
	g := paymentstest.NewGateways(t)
	_, err := g.A.CreatePix(t.Context(), gateway.PixTerms{
		Reference: objectid.New(), Payer: termsA(t, g, paymentstest.CardApproved).Payer, Amount: 499,
		DueDate: g.Sandbox.GWA.Now(),
	})
	var rejected *gateway.Rejected
	require.ErrorAs(t, err, &rejected)
	require.Equal(t, "invalid_object", rejected.Code)
}

func TestB_PixExpires(t *testing.T) {
	t.Parallel()
	b := setupB(t, paymentstest.TokenApproved)
	order := objectid.New()
	made, err := b.B.CreatePix(t.Context(), gateway.PixTerms{
		Reference: order, Kind: "ticket_order", Payer: b.terms.Payer, Amount: 24000, ExpiresIn: time.Hour,
	})
	require.NoError(t, err)
	require.WithinDuration(t, paymentstest.Now().Add(time.Hour), *made.ExpiresAt, time.Minute)
	require.False(t, made.ClientSecret.Empty())
	require.NoError(t, b.Sandbox.GWB.ExpirePIX(made.Payment.ID))
	read, err := b.B.ReadPix(t.Context(), made.Payment.ID, order)
	require.NoError(t, err)
	require.True(t, read.Expired)
	require.Empty(t, read.Payload)
	require.Equal(t, gateway.PaymentStatusGone, read.Payment.Status)
}
