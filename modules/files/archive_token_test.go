package files_test

import (
	"context"
	"testing"
	"time"

	"github.com/riverqueue/river"
	"github.com/stretchr/testify/require"

	"marquee/modules/files"
	"marquee/platform/clock"
	"marquee/platform/fault"
	"marquee/platform/httpapi"
	"marquee/platform/jobs"
	"marquee/platform/objectid"
	"marquee/testutil/pgtest"
	"marquee/testutil/secrettest"
)

// everybody is users of whom nobody has gone.
type everybody struct{}

func (everybody) Caller(_ context.Context, claims httpapi.Claims) (httpapi.Caller, error) {
	return httpapi.Caller{ID: claims.UserID, Claims: claims}, nil
}

func TestArchiveTokenLivesTwelveHours(t *testing.T) {
	t.Parallel()
	db, now := pgtest.DB(t), clock.NewFake(time.Now())
	s := files.New(files.Deps{Pool: db, Clock: now})
	user := objectid.New()
	s.Connect(files.Above{Users: everybody{}})
	issued := now.Now()
	first, expires, err := s.IssueArchiveToken(t.Context(), db, user, "")
	require.NoError(t, err)
	require.Equal(t, issued.Add(12*time.Hour), expires)
	now.Advance(time.Hour)
	second, _, err := s.IssueArchiveToken(t.Context(), db, user, "")
	require.NoError(t, err)
	require.NotEqual(t, first, second)
	owner, err := s.CallerByArchiveToken(t.Context(), first)
	require.NoError(t, err, "older tokens live on")
	require.Equal(t, user, owner.ID)
	require.True(t, issued.Equal(owner.Claims.IssuedAt), "%v", owner.Claims.IssuedAt)

	now.Advance(11 * time.Hour)
	_, err = s.CallerByArchiveToken(t.Context(), first)
	require.True(t, fault.Is(err, fault.KindForbidden), "%v", err)
	_, err = s.CallerByArchiveToken(t.Context(), second)
	require.NoError(t, err)
	for _, unknown := range []string{"", "x", second + "x"} {
		_, err = s.CallerByArchiveToken(t.Context(), unknown)
		require.True(t, fault.Is(err, fault.KindForbidden), "%v", err)
	}
	var stored string
	require.NoError(t, db.QueryRow(t.Context(), `SELECT string_agg(a::text, ' ') FROM files.archive_tokens a`).
		Scan(&stored))
	require.NotContains(t, stored, first)
	require.NotContains(t, stored, second)
}

func TestSweepRemovesExpiredTokensAlone(t *testing.T) {
	t.Parallel()
	db, now := pgtest.DB(t), clock.NewFake(time.Now())
	s := files.New(files.Deps{Pool: db, Clock: now, Config: files.Config{ArchiveTokenTTL: time.Minute}})
	s.Connect(files.Above{Users: everybody{}})
	_, _, err := s.IssueArchiveToken(t.Context(), db, objectid.New(), "")
	require.NoError(t, err)
	now.Advance(time.Minute)
	live, _, err := s.IssueArchiveToken(t.Context(), db, objectid.New(), "")
	require.NoError(t, err)

	workers := river.NewWorkers()
	s.Workers(workers)
	client, err := jobs.New(db, jobs.Options{Workers: workers, Periodic: s.Periodic(), Log: secrettest.Logger(t)})
	require.NoError(t, err)
	_, err = client.Insert(t.Context(), files.SweepArgs{}, nil)
	require.NoError(t, err)
	require.NoError(t, client.Start(t.Context()))
	t.Cleanup(func() { <-client.Stopped() })
	require.Eventually(t, func() bool {
		var left int
		require.NoError(t, db.QueryRow(t.Context(), `SELECT count(*) FROM files.archive_tokens`).Scan(&left))
		return left == 1
	}, time.Minute, 20*time.Millisecond)
	_, err = s.CallerByArchiveToken(t.Context(), live)
	require.NoError(t, err)
}
