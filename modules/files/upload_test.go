package files_test

import (
	"bytes"
	"context"
	"fmt"
	"image"
	"image/png"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"marquee/modules/files"
	"marquee/platform/httpapi"
	"marquee/platform/objectid"
	"marquee/platform/postgres"
)

func TestUploadStoresTheFile(t *testing.T) {
	t.Parallel()
	b := setup(t)
	data := noise(700_000)
	up := b.uploadOK("admin", b.video, part{filename: "trailer notes.bin", contentType: "application/zip", data: data})
	require.Equal(t, uploaded{
		FileID: up.FileID, Filename: "trailer notes.bin", ContentType: "application/zip", Size: 700_000,
	}, up)
	f, err := b.svc.File(t.Context(), up.FileID)
	require.NoError(t, err)
	require.Equal(t, files.File{
		ID: up.FileID, Purpose: files.Record, Visibility: files.Members, Kind: "video", RecordID: b.video,
		Filename: "trailer notes.bin", ContentType: "application/zip", Size: 700_000, SHA256: f.SHA256,
		CreatedBy: b.id("admin"), CreatedAt: f.CreatedAt,
	}, f)
	got, err := io.ReadAll(b.svc.Open(t.Context(), f))
	require.NoError(t, err)
	require.True(t, bytes.Equal(data, got))
	require.Equal(t, 3, b.count(`SELECT count(*) FROM files.chunks`))
}

func TestUploadLimitIsExact(t *testing.T) {
	t.Parallel()
	b := setup(t)
	data := noise(10<<20 + 1)
	up := b.uploadOK("root", b.video, part{filename: "ten.bin", data: data[:10<<20]})
	require.EqualValues(t, 10<<20, up.Size)
	over := b.upload("root", b.video, part{field: "file", filename: "more.bin", data: data}).Expect(422)
	require.Equal(t, "VALIDATION_ERROR", over.Code())
	require.Equal(t, "file", over.Field())
	require.Contains(t, over.Detail(), "10 MB")
	b.upload("root", b.video, part{field: "file", filename: "much.bin", data: noise(14 << 20)}).Expect(422)
	require.Equal(t, 1, b.count(`SELECT count(*) FROM files.contents`), "what is refused leaves nothing")
}

func TestEmptyFileIsAFile(t *testing.T) {
	t.Parallel()
	b := setup(t)
	up := b.uploadOK("admin", b.video, part{filename: "empty.txt", contentType: "text/plain"})
	require.Zero(t, up.Size)
	a := b.as("alice").Get("/archive-records/" + up.FileID.String()).Expect(200)
	require.Empty(t, a.Body)
}

func TestUploadRefusals(t *testing.T) {
	t.Parallel()
	b := setup(t)
	file := part{field: "file", filename: "a.txt", data: []byte("hello")}
	path := "/upload-file/archive-records/" + b.video.String()

	b.upload("", b.video, file).Expect(401)
	require.Equal(t, "FORBIDDEN", b.upload("alice", b.video, file).Expect(403).Code())
	require.Equal(t, "Access Denied: Could not validate token.", b.upload("forged", b.video, file).Expect(403).Detail())
	require.Equal(t, "NOT_FOUND", b.upload("admin", objectid.New(), file).Expect(404).Code())
	b.as("admin").Post("/upload-file/archive-records/nonsense", `{}`).Expect(404)

	require.Equal(t, "file", b.upload("admin", b.video, file, file).Expect(422).Field(), "two files")
	require.Equal(t, "file", b.upload("admin", b.video, part{
		field: "other", filename: "a", data: []byte("x"),
	}).Expect(422).Field())
	b.upload("admin", b.video).Expect(422)
	b.as("admin").Post(path, `{"file":"x"}`).Expect(415)
	b.as("admin").Send(http.MethodPost, path, "", nil).Expect(415)
	b.as("admin").Send(http.MethodPost, path, "multipart/form-data", []byte("x")).Expect(422)
	contentType, body := multipartBody(t, file)
	b.as("admin").Send(http.MethodPost, path, contentType, body[:len(body)-20]).Expect(422)
	b.as("admin").Send(http.MethodPost, path, contentType, []byte("no boundary in here")).Expect(422)
	require.Zero(t, b.count(`SELECT count(*) FROM files.files`))
	require.Zero(t, b.count(`SELECT count(*) FROM files.contents`))
}

func TestOtherFormFieldsAreLeftAside(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.upload("admin", b.video, part{
		field: "note", data: []byte("n"),
	}, part{field: "file", filename: "a", data: []byte("x")}, part{field: "z"}).Expect(200)
}

// raw sends a request byte by byte as no good client would, and may then end its
// half of the connection.
func (b *bundle) raw(head string, body []byte, end bool) string {
	b.t.Helper()
	conn, err := net.Dial("tcp", strings.TrimPrefix(b.client.URL(), "http://"))
	require.NoError(b.t, err)
	defer conn.Close()
	require.NoError(b.t, conn.SetDeadline(time.Now().Add(time.Minute)))
	_, err = io.WriteString(conn, head+"\r\n\r\n")
	require.NoError(b.t, err)
	_, err = conn.Write(body)
	require.NoError(b.t, err)
	if end {
		require.NoError(b.t, conn.(*net.TCPConn).CloseWrite())
	}
	output, _ := io.ReadAll(conn)
	line, _, _ := strings.Cut(string(output), "\r\n")
	return line
}

// TestAnUploadThatStalls is told so, as every body is.
func TestAnUploadThatStalls(t *testing.T) {
	t.Parallel()
	b := setupStalling(t, 2*time.Second)
	contentType, body := multipartBody(t, part{field: "file", filename: "a.bin", data: noise(1000)})
	head := fmt.Sprintf("POST %s/upload-file/archive-records/%s HTTP/1.1\r\nHost: x\r\nConnection: close\r\nAuthorization: Bearer admin\r\nContent-Type: %s\r\n",
		httpapi.Prefix, b.video, contentType)
	require.Contains(t, b.raw(head+fmt.Sprintf("Content-Length: %d", len(body)), body[:200], false), " 408 ")
	require.Contains(t, b.raw(head+"Transfer-Encoding: chunked", []byte("zz\r\n"), false), " 422 ", "a malformed chunk")
	require.Zero(t, b.count(`SELECT count(*) FROM files.contents`))
}

func TestLyingContentLength(t *testing.T) {
	t.Parallel()
	b := setup(t)
	contentType, body := multipartBody(t, part{field: "file", filename: "a.bin", data: noise(1000)})
	head := func(length int) string {
		return fmt.Sprintf("POST %s/upload-file/archive-records/%s HTTP/1.1\r\nHost: x\r\nConnection: close\r\nAuthorization: Bearer admin\r\nContent-Type: %s\r\nContent-Length: %d",
			httpapi.Prefix, b.video, contentType, length)
	}
	require.Contains(t, b.raw(head(len(body)+500), body, true), " 422 ", "more was announced than came")
	require.Contains(t, b.raw(head(len(body)-100), body, false), " 422 ", "less was announced than came")
	require.Contains(t, b.raw(head(1<<40), body, true), " 422 ", "far too much was announced")
	require.Zero(t, b.count(`SELECT count(*) FROM files.contents`))
	require.Contains(t, b.raw(head(len(body)), body, false), " 200 ")
}

// Clients that send slowly hold no connection of the pool, which here has four.
func TestSlowUploadsHoldNoConnection(t *testing.T) {
	t.Parallel()
	b := setup(t)
	contentType, body := multipartBody(t, part{field: "file", filename: "slow.bin", data: noise(600_000)})
	statuses := make(chan int)
	var ends []*io.PipeWriter
	for range 12 {
		r, w := io.Pipe()
		ends = append(ends, w)
		go func() {
			req, err := http.NewRequest(http.MethodPost, b.client.URL()+httpapi.Prefix+"/upload-file/archive-records/"+
				b.video.String(), r)
			if err != nil {
				panic(err)
			}
			req.Header.Set("Content-Type", contentType)
			req.Header.Set("Authorization", "Bearer admin")
			res, err := http.DefaultClient.Do(req)
			if err != nil {
				panic(err)
			}
			_ = res.Body.Close()
			statuses <- res.StatusCode
		}()
		_, err := w.Write(body[:400_000])
		require.NoError(t, err)
	}
	b.as("admin").Get("/archive-records/" + objectid.New().String()).Expect(404)
	require.LessOrEqual(t, b.db.Stat().AcquiredConns(), int32(4))
	for _, w := range ends {
		go func() {
			_, _ = w.Write(body[400_000:])
			_ = w.Close()
		}()
	}
	for range ends {
		require.Equal(t, 200, <-statuses)
	}
}

// Without Receive, sources that stall inside a transaction take the whole pool.
func TestSlowSourcesInTransactionsHoldAllConnections(t *testing.T) {
	t.Parallel()
	b := setup(t)
	done := make(chan error)
	var ends []*io.PipeWriter
	for range 4 {
		r, w := io.Pipe()
		ends = append(ends, w)
		go func() {
			done <- postgres.InTx(context.Background(), b.db, func(tx pgx.Tx) error {
				_, err := b.svc.StoreTx(context.Background(), tx, "slow.bin", "", r, files.Place{
					Purpose: files.Attachment, Kind: "requisition", RecordID: b.video,
				})
				return err
			})
		}()
		_, err := w.Write(noise(1000))
		require.NoError(t, err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	require.ErrorIs(t, b.db.Ping(ctx), context.DeadlineExceeded)
	for _, w := range ends {
		require.NoError(t, w.Close())
		require.NoError(t, <-done)
	}
}

// What everybody will see has to be an image, and loses what it carries besides.
func TestPublicUploadHasToBeAnImage(t *testing.T) {
	t.Parallel()
	b := setup(t)
	a := b.upload("admin", b.event, part{
		field: "file", filename: "poster.png", contentType: "image/png", data: []byte("<svg/>"),
	}).Expect(400)
	require.Equal(t, "VALIDATION_ERROR", a.Code())
	var poster bytes.Buffer
	require.NoError(t, png.Encode(&poster, image.NewGray(image.Rect(0, 0, 20, 10))))
	up := b.uploadOK("admin", b.event, part{
		filename: "Alice's holiday.png", data: append(poster.Bytes(), "hidden half"...),
	})
	require.Equal(t, "image/png", up.ContentType)
	seen := b.as("").Get(strings.TrimPrefix(b.svc.PublicURL(up.FileID), "http://marquee.test")).Expect(200)
	require.NotContains(t, string(seen.Body), "hidden half")
	require.Equal(t, "inline", seen.Header.Get("Content-Disposition"), "nor does it tell what its owner called it")
	b.as("admin").Delete("/upload-file/archive-records/"+b.event.String()+"/"+up.FileID.String(), nil).Expect(200)
}

func TestHostileNames(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for given, want := range map[string]string{
		"../../etc/passwd":                    "passwd",
		`..\..\windows\system.ini`:            "system.ini",
		"a\r\nSet-Cookie: x=1.txt":            "",
		`quo"te.txt`:                          `quo"te.txt`,
		"invoice\u202egpj.exe":                "invoicegpj.exe",
		"\u200b\ufeff":                        "file",
		"...":                                 "file",
		"":                                    "file",
		"relatório final.pdf":                 "relatório final.pdf",
		strings.Repeat("x", 5000) + ".tar.gz": strings.Repeat("x", 252) + ".gz",
		strings.Repeat("é", 300):              strings.Repeat("é", 127),
		"a;b=c%0d%0a.txt":                     "a;b=c%0d%0a.txt",
		"映画.mp4":                              "映画.mp4",
		"tab\tand space .txt":                 "tab and space .txt",
		"bad\xff\xfeutf8.txt":                 "badutf8.txt",
	} {
		up := b.uploadOK("admin", b.video, part{filename: given, data: []byte("x")})
		if want != "" {
			require.Equal(t, want, up.Filename, "%q", given)
		}
		a := b.as("root").Get("/archive-records/" + up.FileID.String()).Expect(200)
		require.Empty(t, a.Header.Get("Set-Cookie"))
		require.Equal(t, up.Filename, nameIn(t, a.Header.Get("Content-Disposition")), "%q", given)
	}
}

// A name that no client library would send: NUL and bare control characters.
func TestControlCharactersInTheNameHeader(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for _, name := range []string{"nul\x00.txt", "bell\x07.txt", "cr\r.txt", "esc\x1b[2J.txt"} {
		body := "--B\r\nContent-Disposition: form-data; name=\"file\"; filename=\"" + name + "\"\r\n\r\nx\r\n--B--\r\n"
		a := b.as("admin").Send(http.MethodPost, "/upload-file/archive-records/"+b.video.String(),
			"multipart/form-data; boundary=B", []byte(body))
		if a.Status == 200 {
			require.Regexp(t, `^[a-zA-Z0-9\[. ]+$`, a.Map()["filename"])
			continue
		}
		require.Equal(t, 422, a.Status, "%q: %s", name, a.Body)
	}
}
