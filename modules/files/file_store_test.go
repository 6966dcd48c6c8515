package files_test

import (
	"bytes"
	"errors"
	"io"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/riverqueue/river"
	"github.com/stretchr/testify/require"

	"marquee/modules/files"
	"marquee/platform/fault"
	"marquee/platform/jobs"
	"marquee/platform/objectid"
	"marquee/platform/postgres"
	"marquee/testutil/secrettest"
)

func TestFileLivesAndDiesWithItsTransaction(t *testing.T) {
	t.Parallel()
	b := setup(t)
	place := files.Place{Purpose: files.Attachment, Kind: "requisition", RecordID: objectid.New()}
	stop := errors.New("stop")
	err := postgres.InTx(t.Context(), b.db, func(tx pgx.Tx) error {
		f, err := b.svc.StoreTx(t.Context(), tx, "a.bin", "", bytes.NewReader(noise(600_000)), place)
		require.NoError(t, err)
		listed, err := b.svc.FilesOfRecords(t.Context(), tx, "requisition", place.RecordID)
		require.NoError(t, err)
		require.Equal(t, []files.File{f}, listed)
		return stop
	})
	require.ErrorIs(t, err, stop)
	require.Zero(t, b.count(`SELECT count(*) FROM files.contents`))

	first := b.store("1", "", []byte("1"), place)
	b.clock.Advance(time.Second)
	second := b.store("2", "", []byte("2"), place)
	other := b.store("3", "", []byte("3"), files.Place{
		Purpose: files.Attachment, Kind: "requisition", RecordID: objectid.New(),
	})
	listed, err := b.svc.FilesOfRecords(t.Context(), b.db, "requisition", place.RecordID)
	require.NoError(t, err)
	require.Equal(t, []files.File{first, second}, listed)

	tx := func(f func(pgx.Tx) error) error { return postgres.InTx(t.Context(), b.db, f) }
	err = tx(func(tx pgx.Tx) error { return b.svc.DeleteTx(t.Context(), tx, "requisition", other.RecordID, first.ID) })
	require.True(t, fault.Is(err, fault.KindNotFound), "%v", err)
	require.NoError(t,
		tx(func(tx pgx.Tx) error { return b.svc.DeleteTx(t.Context(), tx, "requisition", place.RecordID, first.ID) }))
	require.NoError(t, tx(func(tx pgx.Tx) error {
		return b.svc.DeletePurposeTx(t.Context(), tx, "requisition", place.RecordID, files.Avatar)
	}))
	require.Equal(t, 2, b.count(`SELECT count(*) FROM files.chunks`))
	require.NoError(t,
		tx(func(tx pgx.Tx) error { return b.svc.DeleteOfRecordTx(t.Context(), tx, "requisition", place.RecordID) }))
	require.Equal(t, 1, b.count(`SELECT count(*) FROM files.chunks`))
	_, err = b.svc.File(t.Context(), second.ID)
	require.True(t, fault.Is(err, fault.KindNotFound), "%v", err)
}

func TestReaderSeeks(t *testing.T) {
	t.Parallel()
	b := setup(t)
	data := noise(600_000)
	r := b.svc.Open(t.Context(), b.store("a", "", data, files.Place{Purpose: files.Record}))
	for _, c := range []struct {
		offset int64
		whence int
		at     int
	}{
		{offset: -10, whence: io.SeekEnd, at: 599_990},
		{offset: 262_140, whence: io.SeekStart, at: 262_140},
		{offset: 100, whence: io.SeekCurrent, at: 262_140 + 16 + 100},
		{offset: 0, whence: io.SeekStart, at: 0},
	} {
		at, err := r.Seek(c.offset, c.whence)
		require.NoError(t, err)
		require.EqualValues(t, c.at, at)
		got := make([]byte, min(16, len(data)-c.at))
		_, err = io.ReadFull(r, got)
		require.NoError(t, err)
		require.Equal(t, data[c.at:c.at+len(got)], got)
	}
	_, err := r.Seek(-1, io.SeekStart)
	require.Error(t, err)
	_, err = r.Seek(1<<40, io.SeekStart)
	require.NoError(t, err)
	_, err = r.Read(make([]byte, 1))
	require.ErrorIs(t, err, io.EOF)
}

// A file whose chunks are damaged breaks off; it never ends early as if whole.
func TestMissingChunkIsAnError(t *testing.T) {
	t.Parallel()
	b := setup(t)
	f := b.store("a", "", noise(600_000), files.Place{Purpose: files.Record})
	_, err := b.db.Exec(t.Context(), `DELETE FROM files.chunks WHERE n = 1`)
	require.NoError(t, err)
	_, err = io.ReadAll(b.svc.Open(t.Context(), f))
	require.ErrorContains(t, err, "chunk 1")
	_, err = b.db.Exec(t.Context(), `UPDATE files.chunks SET data = 'short' WHERE n = 0`)
	require.NoError(t, err)
	_, err = io.ReadAll(b.svc.Open(t.Context(), f))
	require.ErrorIs(t, err, io.ErrUnexpectedEOF)
}

// The database itself refuses what the table of purposes does not allow.
func TestVisibilityIsConstrained(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for _, p := range []files.Place{
		{Purpose: "other", Kind: "user", RecordID: b.alice},
		{Purpose: files.Record, Visibility: files.Public, Kind: "user", RecordID: b.alice},
		{Purpose: files.Record, Visibility: files.Members, ReaderID: b.alice, Kind: "user", RecordID: b.alice},
		{Purpose: files.Record, Kind: "User;", RecordID: b.alice},
	} {
		err := postgres.InTx(t.Context(), b.db, func(tx pgx.Tx) error {
			_, err := b.svc.StoreTx(t.Context(), tx, "a", "", bytes.NewReader(nil), p)
			return err
		})
		require.NotEmpty(t, postgres.Constraint(err), "%+v: %v", p, err)
	}
}

func TestSweepOfOrphans(t *testing.T) {
	t.Parallel()
	b := setup(t)
	place := files.Place{Purpose: files.Record, Kind: "user", RecordID: b.alice}
	stored, gone := b.store("kept", "", []byte("x"), place), b.store("gone", "", []byte("x"), place)
	unknown := b.store("of a module that is not there", "", []byte("x"), files.Place{Purpose: files.Attachment})
	_, err := b.db.Exec(t.Context(), `INSERT INTO files.contents (id, received_at) VALUES ($1, $2)`, objectid.New(),
		b.clock.Now())
	require.NoError(t, err)
	b.clock.Advance(25 * time.Hour)
	young := b.store("young", "", []byte("x"), place)
	b.users.gone[gone.ID], b.users.gone[young.ID] = true, true

	workers := river.NewWorkers()
	b.svc.Workers(workers)
	client, err := jobs.New(b.db, jobs.Options{Workers: workers, Periodic: b.svc.Periodic(), Log: secrettest.Logger(t)})
	require.NoError(t, err)
	for range 2 { // a second one of the same day is none
		_, err = client.Insert(t.Context(), files.SweepOrphansArgs{}, nil)
		require.NoError(t, err)
	}
	require.Equal(t, 1, b.count(`SELECT count(*) FROM jobs.river_job WHERE kind = 'files_sweep_orphans'`))
	require.NoError(t, client.Start(t.Context()))
	t.Cleanup(func() { <-client.Stopped() })
	require.Eventually(t, func() bool { return b.count(`SELECT count(*) FROM files.contents`) == 3 }, time.Minute,
		20*time.Millisecond)
	for _, f := range []files.File{stored, unknown, young} {
		_, err := b.svc.File(t.Context(), f.ID)
		require.NoError(t, err, f.Filename)
	}
}
