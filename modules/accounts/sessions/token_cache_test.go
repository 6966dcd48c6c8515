package sessions

import (
	"crypto/sha256"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"marquee/platform/clock"
	"marquee/platform/httpapi"
	"marquee/platform/objectid"
)

func newRing(t testing.TB, clk clock.Clock) *keyRing {
	t.Helper()
	ring, err := parseKeyRing("k1:"+strings.Repeat("s", MinKeyBytes), clk)
	require.NoError(t, err)
	return ring
}

// A remembered token is as good as a checked one, and no better.
func TestRememberedTokens(t *testing.T) {
	t.Parallel()
	clk := clock.NewFake(time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC))
	ring := newRing(t, clk)
	id := objectid.New()
	token, _, err := ring.sign(accessKind, httpapi.Caller{ID: id}, objectid.New(), clk.Now(), time.Hour)
	require.NoError(t, err)
	first, err := ring.verify(accessKind, token)
	require.NoError(t, err)
	again, err := ring.verify(accessKind, token)
	require.NoError(t, err)
	require.Equal(t, first, again)
	require.Equal(t, id, again.UserID)
	require.Len(t, ring.seen.known, 1)

	for _, other := range []string{token + "x", token[:len(token)-2], strings.ToUpper(token), ""} {
		_, err = ring.verify(accessKind, other)
		require.ErrorIs(t, err, errToken)
	}
	_, err = ring.verify(refreshKind, token)
	require.ErrorIs(t, err, errToken, "an access token does not become a refresh token")
	require.Len(t, ring.seen.known, 1, "what does not hold is not remembered")

	clk.Advance(time.Hour - time.Millisecond)
	_, err = ring.verify(accessKind, token)
	require.NoError(t, err)
	clk.Advance(time.Millisecond)
	_, err = ring.verify(accessKind, token)
	require.ErrorIs(t, err, errToken, "it is over")
}

// Tokens are remembered with the keys that checked them: a process with other keys begins with none.
func TestOtherKeysRememberNoTokens(t *testing.T) {
	t.Parallel()
	clk := clock.NewFake(time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC))
	ring := newRing(t, clk)
	token, _, err := ring.sign(accessKind, httpapi.Caller{ID: objectid.New()}, objectid.New(), clk.Now(), time.Hour)
	require.NoError(t, err)
	_, err = ring.verify(accessKind, token)
	require.NoError(t, err)
	require.Len(t, ring.seen.known, 1)
	changed, err := parseKeyRing("k1:"+strings.Repeat("o", MinKeyBytes), clk)
	require.NoError(t, err)
	require.Empty(t, changed.seen.known)
	_, err = changed.verify(accessKind, token)
	require.ErrorIs(t, err, errToken)
	require.Empty(t, changed.seen.known)
}

func TestRememberedTokensAreBounded(t *testing.T) {
	t.Parallel()
	var v verifiedTokens
	for i := range 2*maxVerified + 1 {
		v.keep(sha256.Sum256([]byte(strconv.Itoa(i))), verifiedToken{kind: accessKind})
		require.LessOrEqual(t, len(v.known), maxVerified)
	}
}

func BenchmarkVerify(b *testing.B) {
	ring := newRing(b, clock.System{})
	token, _, err := ring.sign(accessKind, httpapi.Caller{ID: objectid.New()}, "", time.Now(), time.Hour)
	require.NoError(b, err)
	for name, forget := range map[string]bool{"first": true, "again": false} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if forget {
					ring.seen.known = nil
				}
				if _, err := ring.verify(accessKind, token); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
