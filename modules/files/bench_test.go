package files_test

import (
	"bytes"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"marquee/modules/files"
	"marquee/platform/clock"
	"marquee/platform/httpapi"
	"marquee/platform/objectid"
	"marquee/platform/postgres"
	"marquee/testutil/pgtest"
)

// BenchmarkTenMegabytes measures a file of 10 MB: kept in one transaction, taken
// over HTTP, and given out over HTTP, whole and in part.
func BenchmarkTenMegabytes(b *testing.B) {
	db := pgtest.DB(b)
	s := files.New(files.Deps{Pool: db, Clock: clock.System{}, Log: slog.New(slog.DiscardHandler)})
	admin := httpapi.Caller{ID: objectid.New(), Username: "admin", Type: httpapi.TypeAdmin}
	crowd := &people{byID: map[objectid.ID]httpapi.Caller{admin.ID: admin}}
	record := objectid.New()
	place := files.Place{Purpose: files.Record, Kind: "video", RecordID: record, Visibility: files.Members}
	s.Connect(files.Above{Users: crowd, Records: []files.Records{
		&kind{name: "video", records: map[objectid.ID]files.Place{record: place}},
	}})
	api := httpapi.New(httpapi.Config{Auth: crowd, Log: slog.New(slog.DiscardHandler)})
	s.Routes(api)
	server := httptest.NewServer(api.Handler())
	defer server.Close()
	data := noise(10 << 20)
	var stored files.File
	store := func() {
		require.NoError(b, postgres.InTx(b.Context(), db, func(tx pgx.Tx) (err error) {
			stored, err = s.StoreTx(b.Context(), tx, "ten.bin", "", bytes.NewReader(data), place)
			return err
		}))
	}
	store()
	call := func(method, path, contentType, ranged string, body []byte) {
		req, err := http.NewRequestWithContext(b.Context(), method, server.URL+httpapi.Prefix+path,
			bytes.NewReader(body))
		require.NoError(b, err)
		req.Header.Set("Authorization", "Bearer admin")
		req.Header.Set("Content-Type", contentType)
		if ranged != "" {
			req.Header.Set("Range", ranged)
		}
		res, err := http.DefaultClient.Do(req)
		require.NoError(b, err)
		defer res.Body.Close()
		require.Less(b, res.StatusCode, 300)
		_, err = io.Copy(io.Discard, res.Body)
		require.NoError(b, err)
	}
	b.Run("store in a transaction", func(b *testing.B) {
		b.SetBytes(10 << 20)
		for b.Loop() {
			store()
		}
	})
	b.Run("upload", func(b *testing.B) {
		contentType, body := multipartBody(b, part{field: "file", filename: "ten.bin", data: data})
		b.SetBytes(10 << 20)
		b.ReportAllocs()
		for b.Loop() {
			call(http.MethodPost, "/upload-file/archive-records/"+record.String(), contentType, "", body)
		}
	})
	b.Run("download", func(b *testing.B) {
		b.SetBytes(10 << 20)
		b.ReportAllocs()
		for b.Loop() {
			call(http.MethodGet, "/archive-records/"+stored.ID.String(), "", "", nil)
		}
	})
	b.Run("range of 64 KB", func(b *testing.B) {
		b.SetBytes(64 << 10)
		for b.Loop() {
			call(http.MethodGet, "/archive-records/"+stored.ID.String(), "", "bytes=5000000-5065535", nil)
		}
	})
}
