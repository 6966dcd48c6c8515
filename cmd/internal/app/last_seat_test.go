package app

import (
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"marquee/modules/payments/paymentstest"
	"marquee/testutil/soak"
)

// TestTheLastSeatSoak: a promo code and a sale at one seat, at the same instant.
// One of them gets it; when it is the code, no money has moved.
func TestTheLastSeatSoak(t *testing.T) {
	t.Parallel()
	s := newSellout(t, 3, 1)
	won := map[string]int{}
	for round := range soak.Rounds(6, 200) {
		won[s.lastSeat(round)]++
		s.settled()
		s.check()
		require.Empty(t, s.problems, "round %d", round)
	}
	require.Zero(t, won["both"]+won["nobody"], "%v", won)
	t.Log(won)
}

// TestTheLastSeatWithoutTheGuard: with the condition taken away, both get it.
func TestTheLastSeatWithoutTheGuard(t *testing.T) {
	t.Parallel()
	s := newSellout(t, 3, 1)
	s.removeGuard()
	require.Eventually(t, func() bool { return s.lastSeat(1) == "both" }, time.Minute, time.Millisecond, "a sale first, then a code")
	s.settled()
	s.check()
	require.Contains(t, strings.Join(s.problems, "; "), "in the end 2 seats are taken, of 1")
}

// lastSeat opens an event with one seat and tells who got it.
func (s *sellout) lastSeat(round int) string {
	s.open(1)
	var code, sale int
	var both sync.WaitGroup
	both.Go(func() { code = s.customers[1].Put("/customers/me/redeem-promo-code?code="+s.promo, nil).Status })
	both.Go(func() { sale = s.buyCard(round%2, 1, paymentstest.TokenApproved).Status })
	both.Wait()
	switch [2]bool{code == http.StatusOK, sale == http.StatusOK} {
	case [2]bool{true, false}:
		return "code"
	case [2]bool{false, true}:
		return "sale"
	case [2]bool{true, true}:
		return "both"
	}
	return "nobody"
}
