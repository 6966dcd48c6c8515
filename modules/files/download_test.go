package files_test

import (
	"bytes"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"marquee/modules/files"
	"marquee/platform/httpapi"
	"marquee/platform/objectid"
)

func TestRanges(t *testing.T) {
	t.Parallel()
	b := setup(t)
	data := noise(900_000) // four chunks, the last one short
	f := b.store("film.bin", "application/x-film", data, files.Place{Purpose: files.Record, Visibility: files.Members})
	path := "/archive-records/" + f.ID.String() + "?token=alice"
	for ranged, want := range map[string][2]int{
		"bytes=0-0":           {0, 1},
		"bytes=262143-262144": {262143, 262145}, // over the edge of a chunk
		"bytes=262144-524287": {262144, 524288}, // one chunk
		"bytes=100000-":       {100000, 900000},
		"bytes=-5":            {899995, 900000},
		"bytes=899999-999999": {899999, 900000},
	} {
		res, body := b.client.Fetch(path, "Range", ranged)
		require.Equal(t, http.StatusPartialContent, res.StatusCode, ranged)
		require.Equal(t, fmt.Sprintf("bytes %d-%d/900000", want[0], want[1]-1), res.Header.Get("Content-Range"))
		require.True(t, bytes.Equal(data[want[0]:want[1]], body), ranged)
	}
	res, body := b.client.Fetch(path)
	require.Equal(t, http.StatusOK, res.StatusCode)
	require.EqualValues(t, 900000, res.ContentLength)
	require.Equal(t, "bytes", res.Header.Get("Accept-Ranges"))
	require.True(t, bytes.Equal(data, body))

	for _, outside := range []string{
		"bytes=900000-", "bytes=-0", "Bytes=900000-900001, -0", "bytes=99999999999999999999-",
		"bytes=99999999999999999999-99999999999999999999",
	} {
		res, body = b.client.Fetch(path, "Range", outside)
		require.Equal(t, http.StatusRequestedRangeNotSatisfiable, res.StatusCode, outside)
		require.Equal(t, "bytes */900000", res.Header.Get("Content-Range"), outside)
		require.Equal(t, "application/json", res.Header.Get("Content-Type"), outside)
		require.JSONEq(t, `{"detail":"The range is outside the file."}`, string(body), outside)
		require.Empty(t, res.Header.Get("Content-Disposition"))
	}
	for _, aside := range []string{
		"lines=0-9", "bytes", "bytes=", "bytes=,", "bytes=a-b", "bytes=9-0", "bytes=0-9,x", "bytes=5", "bytes=-",
		"bytes=--5", "bytes=0-9-",
	} {
		res, body = b.client.Fetch(path, "Range", aside)
		require.Equal(t, http.StatusOK, res.StatusCode, aside)
		require.True(t, bytes.Equal(data, body), aside)
		require.Empty(t, res.Header.Get("Content-Range"), aside)
	}
	for part, want := range map[string]int{
		"BYTES=0-9": 10, "bytes = 0-9": 10, "bytes=0-99999999999999999999": 900000, "bytes=-0,-4": 4,
		"bytes=900000-,2-3": 2,
	} {
		res, body = b.client.Fetch(path, "Range", part)
		require.Equal(t, http.StatusPartialContent, res.StatusCode, part)
		require.Len(t, body, want, part)
	}
	res, _ = b.client.Fetch(path, "Range", "bytes=-0", "If-None-Match", res.Header.Get("ETag"))
	require.Equal(t, http.StatusNotModified, res.StatusCode, "a condition comes first")
	res, body = b.client.Fetch(path, "Range", "bytes=0-1,500000-500003")
	require.Equal(t, http.StatusPartialContent, res.StatusCode)
	require.Contains(t, res.Header.Get("Content-Type"), "multipart/byteranges")
	require.True(t, bytes.Contains(body, data[500000:500004]))
	res, _ = b.client.Fetch(path, "Range", "bytes=0-9", "If-Range", `"another"`)
	require.Equal(t, http.StatusOK, res.StatusCode, "a part of another version is of no use")
	require.EqualValues(t, 900000, res.ContentLength)
}

func TestEntityTag(t *testing.T) {
	t.Parallel()
	b := setup(t)
	f := b.store("a.txt", "text/plain", []byte("hello"), files.Place{Purpose: files.Record, Visibility: files.Members})
	path := "/archive-records/" + f.ID.String() + "?token=bob"
	res, _ := b.client.Fetch(path)
	tag := res.Header.Get("ETag")
	require.Regexp(t, `^"[0-9a-f]{32}"$`, tag)
	require.Equal(t, "private, no-cache", res.Header.Get("Cache-Control"))
	res, body := b.client.Fetch(path, "If-None-Match", tag)
	require.Equal(t, http.StatusNotModified, res.StatusCode)
	require.Empty(t, body)
	require.Equal(t, tag, res.Header.Get("ETag"))
	require.Equal(t, "private, no-cache", res.Header.Get("Cache-Control"))
	res, body = b.client.Fetch(path, "If-None-Match", `"other"`)
	require.Equal(t, http.StatusOK, res.StatusCode)
	require.Equal(t, "hello", string(body))
}

func TestHeadersOfFileAnswers(t *testing.T) {
	t.Parallel()
	b := setup(t)
	const svg = `<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>`
	for name, c := range map[string]struct{ file, declared, data, contentType, kind string }{
		"PNG":             {"a.png", "image/png", "\x89PNG\r\n\x1a\n1234", "image/png", "inline"},
		"JPEG":            {"a.jpg", "", "\xff\xd8\xff\xe0....", "image/jpeg", "inline"},
		"PDF":             {"a.pdf", "", "%PDF-1.7\n", "application/pdf", "inline"},
		"SVG":             {"a.svg", "image/svg+xml", svg, "image/svg+xml", "attachment"},
		"SVG named PNG":   {"a.png", "image/png", svg, "application/octet-stream", "attachment"},
		"HTML":            {"a.html", "text/html", "<html><script>1</script>", "text/html", "attachment"},
		"HTML named JPEG": {"a.jpg", "image/jpeg", "<html>", "application/octet-stream", "attachment"},
		"JPEG and HTML": {
			"a.html", "text/html", "\xff\xd8\xff\xe0<script>alert(1)</script>", "image/jpeg", "inline",
		},
		"PDF behind a script": {
			"a.pdf", "application/pdf", "<script>%PDF-1.7", "application/octet-stream", "attachment",
		},
		"ZIP": {"a.zip", "application/zip", "PK\x03\x04", "application/zip", "attachment"},
	} {
		up := b.uploadOK("admin", b.video, part{filename: c.file, contentType: c.declared, data: []byte(c.data)})
		require.Equal(t, c.contentType, up.ContentType, name)
		a := b.as("alice").Get("/archive-records/" + up.FileID.String()).Expect(200)
		require.Equal(t, c.contentType, a.Header.Get("Content-Type"), name)
		require.Equal(t, fmt.Sprintf(`%s; filename="%s"`, c.kind, c.file), a.Header.Get("Content-Disposition"), name)
		require.Equal(t, "nosniff", a.Header.Get("X-Content-Type-Options"))
		require.Contains(t, a.Header.Get("Content-Security-Policy"), "default-src 'none'")
		require.Contains(t, a.Header.Get("Content-Security-Policy"), "sandbox")
		require.Equal(t, c.data, string(a.Body), name)
	}
}

func TestCredentialsOfADownload(t *testing.T) {
	t.Parallel()
	b := setup(t)
	f := b.store("a.txt", "text/plain", []byte("hello"), files.Place{Purpose: files.Record, Visibility: files.Members})
	path := "/archive-records/" + f.ID.String()
	require.Equal(t, "Not authenticated", b.as("").Get(path).Expect(401).Detail())
	b.as("").Get(path + "?token=").Expect(401)
	b.as("").Get(path + "?archive_token=" + b.archiveToken("alice")).Expect(401)
	b.as("alice").Get(path).Expect(200)
	b.as("").Get(path + "?token=alice").Expect(200)
	require.Equal(t, "Access Denied: Could not validate token.",
		b.as("").Get(path+"?token=forged").Expect(403).Detail())
	b.as("forged").Get(path + "?token=alice").Expect(403) // the header is asked first
	res, _ := b.client.Fetch(path+"?token=alice", "Authorization", "Basic YTpi")
	require.Equal(t, 200, res.StatusCode, "a header of another scheme is none")
	require.Equal(t, "NOT_FOUND", b.as("alice").Get("/archive-records/"+objectid.New().String()).Expect(404).Code())
	b.as("alice").Get("/archive-records/nonsense").Expect(404)
}

func TestArchiveTokenOpensWhatItsUserMaySee(t *testing.T) {
	t.Parallel()
	b := setup(t)
	f := b.store("a.txt", "text/plain", []byte("hello"), files.Place{
		Purpose: files.Record, Kind: "user", RecordID: b.alice, ReaderID: b.alice,
	})
	alice, bob := b.archiveToken("alice"), b.archiveToken("bob")
	get := func(token string) int {
		return b.as("").Get("/archive-records-public/" + token + "?f=" + f.ID.String()).Status
	}
	require.Equal(t, 200, get(alice))
	require.Equal(t, 404, get(bob))
	require.Equal(t, 200, get(b.archiveToken("admin")))

	bad := b.as("").Get("/archive-records-public/" + alice + "x?f=" + f.ID.String()).Expect(403)
	require.Equal(t, "FORBIDDEN", bad.Code())
	b.as("").Get("/archive-records-public/x?f=").Expect(403)
	b.as("").Get("/archive-records-public/" + alice + "?f=").Expect(404)
	b.as("").Get("/archive-records-public/" + alice + "?f=nonsense").Expect(404)
	b.as("").Get("/archive-records-public/" + alice).Expect(404) // without f it has to be a public id

	b.people.gone[b.alice] = true
	require.Equal(t, "FORBIDDEN", b.as("").Get("/archive-records-public/"+alice+"?f="+f.ID.String()).Expect(403).Code(),
		"disabled, deleted, or tokens ended")
	delete(b.people.gone, b.alice)
	b.clock.Advance(12 * time.Hour)
	require.Equal(t, 403, get(alice), "expired")
}

func TestPublicIDs(t *testing.T) {
	t.Parallel()
	b := setup(t)
	png := []byte("\x89PNG\r\n\x1a\n1234")
	path := func(f files.File) string { return strings.TrimPrefix(b.svc.PublicURL(f.ID), "http://marquee.test") }
	for _, purpose := range []files.Purpose{files.EventImage, files.PromoImage} {
		f := b.store("poster.png", "", png, files.Place{Purpose: purpose})
		a := b.as("").Get(path(f)).Expect(200)
		require.Equal(t, png, a.Body)
		require.Equal(t, "public, max-age=31536000, immutable", a.Header.Get("Cache-Control"))
		require.NotContains(t, path(f), f.ID.String())
	}
	for _, place := range []files.Place{
		{Purpose: files.Attachment}, {Purpose: files.Record}, {Purpose: files.Record, Visibility: files.Members},
	} {
		f := b.store("secret.png", "", png, place)
		requireHidden(t, b.as("").Get(path(f)).Expect(404), png)
	}
	missing := files.File{ID: objectid.New()}
	require.Equal(t, "NOT_FOUND", b.as("").Get(path(missing)).Expect(404).Code())
	for _, public := range []string{
		"x", strings.Repeat("A", 54), objectid.New().String(), "%2e%2e%2f", strings.Repeat("a", 4000),
	} {
		b.as("").Get("/archive-records-public/" + public).Expect(404)
	}
}

// Who may open what, on every route that gives out bytes.
func TestAccess(t *testing.T) {
	t.Parallel()
	b := setup(t)
	secret := []byte("the bytes that not everybody may see")
	place := map[string]files.Place{
		"avatar":       {Purpose: files.Avatar, Kind: "user", RecordID: b.alice},
		"event image":  {Purpose: files.EventImage},
		"thumbnail":    {Purpose: files.Record, Visibility: files.Members, Kind: "video", RecordID: b.video},
		"alice's":      {Purpose: files.Record, Kind: "user", RecordID: b.alice, ReaderID: b.alice},
		"the admins'":  {Purpose: files.Record},
		"board's card": {Purpose: files.Attachment},
	}
	all := "root admin downloader alice bob"
	may := map[string]string{
		"avatar": all, "event image": all, "thumbnail": all, "alice's": "root admin downloader alice",
		"the admins'": "root admin downloader", "board's card": "root downloader",
	}
	for what, p := range place {
		f := b.store("x.bin", "", secret, p)
		for _, who := range strings.Fields(all) {
			for _, a := range []struct {
				as, path string
			}{
				{who, "/archive-records/" + f.ID.String()},
				{"", "/archive-records/" + f.ID.String() + "?token=" + who},
				{"", "/archive-records-public/" + b.archiveToken(who) + "?f=" + f.ID.String()},
			} {
				res := b.as(a.as).Get(a.path)
				if strings.Contains(may[what], who) {
					require.Equal(t, secret, res.Expect(200).Body, "%s for %s", what, who)
					continue
				}
				requireHidden(t, res, secret)
				if who == "alice" || who == "bob" {
					require.Equal(t, 404, res.Status, "a customer does not learn that %s is there", what)
				} else {
					require.Contains(t, res.Expect(401).Detail(),
						"no permission for the handler requisition_file_download")
				}
			}
		}
		if what != "avatar" {
			requireHidden(t, b.as("").Get("/avatars/"+f.ID.String()).Expect(404), secret)
			requireHidden(t, b.as("root").Get("/avatars/"+f.ID.String()+"?w=64").Expect(404), secret)
		}
	}
}

func TestDelete(t *testing.T) {
	t.Parallel()
	b := setup(t)
	up := b.uploadOK("admin", b.video, part{filename: "a.txt", data: noise(300_000)})
	path := func(record, file objectid.ID) string {
		return "/upload-file/archive-records/" + record.String() + "/" + file.String()
	}
	b.as("").Delete(path(b.video, up.FileID), nil).Expect(401)
	require.Equal(t, "FORBIDDEN", b.as("alice").Delete(path(b.video, up.FileID), nil).Expect(403).Code())
	b.as("admin").Delete(path(b.alice, up.FileID), nil).Expect(404) // it is another record's
	b.as("admin").Delete(path(b.video, objectid.New()), nil).Expect(404)
	b.as("admin").Delete("/upload-file/archive-records/x/y", nil).Expect(404)
	require.NotEmpty(t, b.as("admin").Delete(path(b.video, up.FileID), nil).Expect(200).Map()["message"])
	require.Equal(t, "NOT_FOUND", b.as("admin").Delete(path(b.video, up.FileID), nil).Expect(404).Code())
	b.as("admin").Get("/archive-records/" + up.FileID.String()).Expect(404)
	require.Zero(t, b.count(`SELECT (SELECT count(*) FROM files.contents) + (SELECT count(*) FROM files.chunks)`))

	for _, purpose := range []files.Purpose{files.Avatar, files.Attachment} {
		f := b.store("a", "", []byte("x"), files.Place{Purpose: purpose})
		b.as("root").Delete(path(f.RecordID, f.ID), nil).Expect(404) // these have routes of their own
		_, err := b.svc.File(t.Context(), f.ID)
		require.NoError(t, err)
	}
}

// Tokens in addresses are in no log line, at any level.
func TestTokensAreNotLogged(t *testing.T) {
	t.Parallel()
	b := setup(t)
	archive := b.archiveToken("alice")
	b.as("").Get("/archive-records/" + objectid.New().String() + "?token=alice-secret-token").Expect(403)
	b.as("").Get("/archive-records-public/" + archive + "?f=" + objectid.New().String()).Expect(404)
	require.Contains(t, b.log.String(), httpapi.Prefix+"/archive-records/{file_id}")
	require.NotContains(t, b.log.String(), "alice-secret-token")
	require.NotContains(t, b.log.String(), archive)
}
