package app_test

import (
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/stretchr/testify/require"

	"marquee/modules/payments/paymentstest"
)

// raceForTheLastSeat lets a promo code and a sale at one seat, at the same
// instant, round after round. One of them gets it; when it is the code, no money
// has moved.
func (s *sellout) raceForTheLastSeat(rounds int) {
	t := s.w.T
	s.seats = 1
	won := map[string]int{}
	for round := range rounds {
		won[s.lastSeat(round)]++
		s.settled()
		s.check()
		require.Empty(t, s.problems, "round %d", round)
	}
	require.Zero(t, won["both"]+won["nobody"], "%v", won)
	t.Logf("the last seat: %v", won)
}

// giveTheLastSeatTwice: with the condition taken away, a sale first and a code
// after it both get it.
func (s *sellout) giveTheLastSeatTwice() {
	s.seats = 1
	require.Eventually(s.w.T, func() bool { return s.lastSeat(1) == "both" }, time.Minute, time.Millisecond)
	s.settled()
	s.check()
	require.Contains(s.w.T, strings.Join(s.problems, "; "), "in the end 2 seats are taken, of 1")
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
