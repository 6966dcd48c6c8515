package accounts_test

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	stdimage "image"
	"image/color"
	"image/jpeg"
	"image/png"
	"mime/multipart"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gen2brain/webp"
	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"marquee/modules/accounts"
	"marquee/modules/accounts/accountstest"
	"marquee/modules/files"
	"marquee/platform/httpapi"
	"marquee/platform/objectid"
	"marquee/testutil/apitest"
)

// avatarBundle is accounts and files behind one API.
type avatarBundle struct {
	*bundle
	t        *testing.T
	files    *files.Service
	client   *apitest.Client // nobody
	customer *apitest.Client
	id       objectid.ID
	username string
}

func setupAvatars(t *testing.T) *avatarBundle {
	t.Helper()
	b := &avatarBundle{t: t}
	b.bundle = setup(t, func(d *accounts.Deps) { b.files = d.Files })
	b.files.Connect(files.Above{Users: b.svc, Records: []files.Records{b.svc.FileRecords()}})
	api := httpapi.New(httpapi.Config{
		Auth: b.svc, PublicURL: "http://marquee.test", Log: accountstest.Deps(t, b.db).Log,
	})
	b.svc.Routes(api)
	b.files.Routes(api)
	b.client = apitest.New(t, api)
	c := accountstest.Customer(t, b.db)
	b.id, b.username = c.ID, c.Username
	b.customer = b.client.As(accountstest.Token(t, b.db, c.Username))
	return b
}

func picture(w, h int) stdimage.Image {
	m := stdimage.NewRGBA(stdimage.Rect(0, 0, w, h))
	for y := range h {
		for x := range w {
			m.Set(x, y, color.RGBA{R: uint8(x), G: uint8(y), B: 128, A: 255})
		}
	}
	return m
}

func pngBytes(t testing.TB, w, h int) []byte {
	t.Helper()
	var out bytes.Buffer
	require.NoError(t, png.Encode(&out, picture(w, h)))
	return out.Bytes()
}

func jpegBytes(t testing.TB, w, h int) []byte {
	t.Helper()
	var out bytes.Buffer
	require.NoError(t, jpeg.Encode(&out, picture(w, h), nil))
	return out.Bytes()
}

func webpBytes(t testing.TB, w, h int) []byte {
	t.Helper()
	var out bytes.Buffer
	require.NoError(t, webp.Encode(&out, picture(w, h)))
	return out.Bytes()
}

func avatarForm(t testing.TB, field, filename string, data []byte) (contentType string, body []byte) {
	t.Helper()
	var out bytes.Buffer
	w := multipart.NewWriter(&out)
	part, err := w.CreateFormFile(field, filename)
	require.NoError(t, err)
	_, err = part.Write(data)
	require.NoError(t, err)
	require.NoError(t, w.Close())
	return w.FormDataContentType(), out.Bytes()
}

func (b *avatarBundle) post(c *apitest.Client, filename string, data []byte) *apitest.Response {
	b.t.Helper()
	contentType, body := avatarForm(b.t, "file", filename, data)
	return c.Send(http.MethodPost, "/me/avatar", contentType, body)
}

func (b *avatarBundle) set(data []byte) string {
	b.t.Helper()
	id, _ := b.post(b.customer, "me.png", data).Expect(200).Map()["avatar_id"].(string)
	require.True(b.t, objectid.Valid(id))
	return id
}

func (b *avatarBundle) avatarID() any {
	b.t.Helper()
	return b.customer.Get("/customers/me").Expect(200).Map()["docs"].([]any)[0].(map[string]any)["avatar_id"]
}

func (b *avatarBundle) rows(sql string) (n int) {
	b.t.Helper()
	require.NoError(b.t, b.db.QueryRow(b.t.Context(), sql).Scan(&n))
	return n
}

func TestAvatarIsSetShownReplacedAndRemoved(t *testing.T) {
	t.Parallel()
	b := setupAvatars(t)
	first := b.set(jpegBytes(t, 300, 200))
	require.Equal(t, first, b.avatarID())
	a := b.client.Get("/avatars/" + first).Expect(200)
	require.Equal(t, "image/jpeg", a.Header.Get("Content-Type"))
	require.Equal(t, "public, max-age=31536000, immutable", a.Header.Get("Cache-Control"))
	require.Contains(t, a.Header.Get("Content-Security-Policy"), "sandbox")
	b.client.Get("/avatars/" + strings.ToUpper(first)).Expect(200)
	b.client.Get("/avatars/" + first + "?w=64").Expect(200)

	second := b.set(webpBytes(t, 50, 50))
	require.NotEqual(t, first, second)
	require.Equal(t, second, b.avatarID())
	b.client.Get("/avatars/" + first).Expect(404)
	require.Equal(t, "NOT_FOUND", b.client.Get("/avatars/"+first+"?w=64").Expect(404).Code(),
		"its variants are gone with it")
	require.Equal(t, 1, b.rows(`SELECT count(*) FROM files.contents`))

	for range 2 { // removing none is no mistake
		require.NotEmpty(t, b.customer.Delete("/me/avatar", nil).Expect(200).Map()["message"])
		require.Nil(t, b.avatarID())
		b.client.Get("/avatars/" + second).Expect(404)
	}
	require.Zero(t, b.rows(`SELECT count(*) FROM files.contents`))
	b.client.Get("/avatars/" + objectid.New().String()).Expect(404)
	b.client.Get("/avatars/nonsense").Expect(404)
}

func TestAvatarTakenOffTheRecordIsDeleted(t *testing.T) {
	t.Parallel()
	b := setupAvatars(t)
	rows := func() int { return b.rows(`SELECT count(*) FROM files.files WHERE purpose = 'avatar'`) }
	put := func(c *apitest.Client, path string, object map[string]any) {
		c.Put(path, []any{object}).Expect(200)
	}
	id := b.set(pngBytes(t, 8, 8))
	put(b.customer, "/customers/me", map[string]any{"avatar_id": id, "full_name": "Ana Souza"})
	put(b.customer, "/customers/me", map[string]any{"full_name": "Ana B. Souza"})
	require.Equal(t, 1, rows(), "what stays is kept")
	put(b.customer, "/customers/me", map[string]any{"avatar_id": nil})
	require.Zero(t, rows())
	b.customer.Get("/avatars/" + id).Expect(404)

	b.set(pngBytes(t, 8, 8))
	admin := accountstest.Admin(t, b.db)
	colleague := b.customer.As(accountstest.Token(t, b.db, admin.Username))
	put(colleague, "/customers", map[string]any{"_id": b.id, "avatar_id": nil})
	require.Zero(t, rows(), "by an admin")
	avatarID, _ := b.post(colleague, "me.png", pngBytes(t, 8, 8)).Expect(200).Map()["avatar_id"].(string)
	put(colleague, "/my-user", map[string]any{"avatar_id": strings.ToUpper(avatarID)})
	require.Equal(t, 1, rows())
	put(colleague, "/my-user", map[string]any{"avatar_id": nil})
	require.Zero(t, rows(), "an admin's own")
}

// Whoever could name any file as their picture would have the sweep, or the next
// change, delete or keep what is not theirs, and show it as theirs.
func TestAvatarIsOnesOwnPicture(t *testing.T) {
	t.Parallel()
	b := setupAvatars(t)
	avatarID := b.set(pngBytes(t, 8, 8))
	admin := accountstest.Admin(t, b.db)
	colleague := b.customer.As(accountstest.Token(t, b.db, admin.Username))
	theirs, _ := b.post(colleague, "me.png", pngBytes(t, 8, 8)).Expect(200).Map()["avatar_id"].(string)
	root := b.customer.As(accountstest.Token(t, b.db, accountstest.Root(t, b.db).Username))
	for _, try := range []struct {
		c         *apitest.Client
		path, as  string
		id        objectid.ID
		pictureOf string
	}{
		{c: b.customer, path: "/customers/me", as: "somebody else's", id: "", pictureOf: theirs},
		{c: b.customer, path: "/customers/me", as: "nobody's", id: "", pictureOf: objectid.New().String()},
		{c: colleague, path: "/my-user", as: "somebody else's", id: "", pictureOf: avatarID},
		{c: colleague, path: "/my-user", as: "nobody's", id: "", pictureOf: objectid.New().String()},
		{c: colleague, path: "/customers", as: "the admin's own", id: b.id, pictureOf: theirs},
		{c: root, path: "/users", as: "a customer's", id: admin.ID, pictureOf: avatarID},
	} {
		object := map[string]any{"avatar_id": try.pictureOf}
		if try.id != "" {
			object["_id"] = try.id
		}
		a := try.c.Put(try.path, []any{object}).Expect(422)
		require.Equal(t, "avatar_id", a.Field(), "%s at %s", try.as, try.path)
	}
	a := root.Post("/users", []any{map[string]any{
		"username": "newcomer", "email": "newcomer@example.com", "password": "long enough 1", "name": "Newcomer",
		"avatar_id": theirs,
	}}).Expect(422)
	require.Equal(t, "avatar_id", a.Field())
	require.Equal(t, 2, b.rows(`SELECT count(*) FROM files.files WHERE purpose = 'avatar'`), "nothing is lost")
	for _, sent := range []any{avatarID, strings.ToUpper(avatarID), nil, nil} {
		b.customer.Put("/customers/me", []any{map[string]any{"avatar_id": sent}}).Expect(200)
	}
}

func TestAvatarOfAnAdmin(t *testing.T) {
	t.Parallel()
	b := setupAvatars(t)
	admin := accountstest.Admin(t, b.db)
	a := b.post(b.client.As(accountstest.Token(t, b.db, admin.Username)), "a.png", pngBytes(t, 20, 20)).Expect(200)
	var stored string
	require.NoError(t, b.db.QueryRow(t.Context(), `SELECT avatar_id FROM accounts.users WHERE id = $1`, admin.ID).
		Scan(&stored))
	require.Equal(t, stored, a.Map()["avatar_id"])
}

// bomb is a PNG of a few kB that says it has 50,000 by 50,000 pixels.
func bomb(t testing.TB) []byte {
	t.Helper()
	data := pngBytes(t, 100, 100)
	binary.BigEndian.PutUint32(data[16:], 50_000)
	binary.BigEndian.PutUint32(data[20:], 50_000)
	binary.BigEndian.PutUint32(data[29:], crc32.ChecksumIEEE(data[12:29]))
	return data
}

func TestAvatarRefusals(t *testing.T) {
	t.Parallel()
	b := setupAvatars(t)
	require.Equal(t, "Not authenticated", b.post(b.client, "a.png", pngBytes(t, 9, 9)).Expect(401).Detail())
	require.Equal(t, "Access Denied: Could not validate token.",
		b.post(b.client.As("forged"), "a.png", pngBytes(t, 9, 9)).Expect(403).Detail())
	b.client.Delete("/me/avatar", nil).Expect(401)

	for name, data := range map[string][]byte{
		"SVG named .png":   []byte(`<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>`),
		"GIF":              []byte("GIF89a\x01\x00\x01\x00\x00\x00\x00;"),
		"HTML":             []byte("<html>"),
		"nothing":          {},
		"half a PNG":       pngBytes(t, 100, 100)[:200],
		"50,000 by 50,000": bomb(t),
		"5 MB and 1 byte":  append(pngBytes(t, 10, 10), make([]byte, 5<<20+1-len(pngBytes(t, 10, 10)))...),
		"9 MB of anything": make([]byte, 9<<20),
	} {
		a := b.post(b.customer, "me.png", data).Expect(400)
		require.Equal(t, "VALIDATION_ERROR", a.Code(), name)
		require.Equal(t, "file", a.Field(), name)
	}
	contentType, body := avatarForm(t, "picture", "a.png", pngBytes(t, 9, 9))
	require.Equal(t, "file", b.customer.Send(http.MethodPost, "/me/avatar", contentType, body).Expect(422).Field())
	b.customer.Post("/me/avatar", `{}`).Expect(415)
	require.Nil(t, b.avatarID())
	require.Zero(t, b.rows(`SELECT count(*) FROM files.contents`))
}

func TestAvatarOfExactlyFiveMegabytes(t *testing.T) {
	t.Parallel()
	b := setupAvatars(t)
	data := pngBytes(t, 10, 10)
	id := b.set(append(data, make([]byte, 5<<20-len(data))...))
	require.Less(t, len(b.client.Get("/avatars/"+id).Expect(200).Body), 1000, "only the picture was kept")
}

func TestAvatarVariants(t *testing.T) {
	t.Parallel()
	b := setupAvatars(t)
	id := b.set(jpegBytes(t, 400, 200))
	for query, want := range map[string]struct {
		format string
		size   stdimage.Point
	}{
		"":                       {"jpeg", stdimage.Pt(400, 200)},
		"?w=100":                 {"jpeg", stdimage.Pt(100, 50)},
		"?w=16":                  {"jpeg", stdimage.Pt(16, 8)},
		"?w=1024":                {"jpeg", stdimage.Pt(400, 200)},
		"?fmt=png":               {"png", stdimage.Pt(400, 200)},
		"?w=40&q=50&fmt=webp":    {"webp", stdimage.Pt(40, 20)},
		"?q=100":                 {"jpeg", stdimage.Pt(400, 200)},
		"?w=101&q=1&fmt=jpeg":    {"jpeg", stdimage.Pt(101, 51)},
		"?unknown=parameter&q=1": {"jpeg", stdimage.Pt(400, 200)},
	} {
		a := b.client.Get("/avatars/" + id + query).Expect(200)
		m, format, err := stdimage.Decode(bytes.NewReader(a.Body))
		require.NoError(t, err, query)
		require.Equal(t, want.format, format, query)
		require.Equal(t, "image/"+want.format, a.Header.Get("Content-Type"), query)
		require.Equal(t, want.size, m.Bounds().Size(), query)
		require.Equal(t, a.Body, b.client.Get("/avatars/"+id+query).Expect(200).Body, "the same again")
	}
	low, high := b.client.Get("/avatars/"+id+"?q=1"), b.client.Get("/avatars/"+id+"?q=100")
	require.Less(t, len(low.Body), len(high.Body))
	for query, field := range map[string]string{
		"?w=15": "w", "?w=1025": "w", "?w=": "w", "?w=x": "w", "?w=1e2": "w", "?w=-100": "w",
		"?w=99999999999999999999": "w",
		"?q=0":                    "q", "?q=101": "q", "?q=80.5": "q", "?fmt=gif": "fmt", "?fmt=": "fmt",
		"?fmt=JPEG": "fmt", "?fmt=svg": "fmt",
	} {
		a := b.client.Get("/avatars/" + id + query).Expect(422)
		require.Equal(t, "VALIDATION_ERROR", a.Code(), query)
		require.Equal(t, field, a.Field(), query)
	}
}

func TestAvatarEntityTags(t *testing.T) {
	t.Parallel()
	b := setupAvatars(t)
	id := b.set(pngBytes(t, 60, 60))
	tags := map[string]bool{}
	for _, query := range []string{"", "?w=20", "?w=21", "?w=20&q=10", "?w=20&fmt=webp"} {
		tag := b.client.Get("/avatars/" + id + query).Expect(200).Header.Get("ETag")
		require.Regexp(t, `^"[^"]+"$`, tag)
		require.False(t, tags[tag], "each form has its own")
		tags[tag] = true
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet,
			b.client.URL()+httpapi.Prefix+"/avatars/"+id+query, nil)
		require.NoError(t, err)
		req.Header.Set("If-None-Match", tag)
		res, err := http.DefaultClient.Do(req)
		require.NoError(t, err)
		require.NoError(t, res.Body.Close())
		require.Equal(t, http.StatusNotModified, res.StatusCode)
	}
}

// Two changes at once end with one file, and the user points to it.
func TestAvatarsAtOnceLeaveOne(t *testing.T) {
	t.Parallel()
	b := setupAvatars(t)
	contentType, body := avatarForm(t, "file", "a.png", pngBytes(t, 30, 30))
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() { b.customer.Send(http.MethodPost, "/me/avatar", contentType, body) })
	}
	wg.Wait()
	require.Equal(t, 1, b.rows(`SELECT count(*) FROM files.contents`))
	id, _ := b.avatarID().(string)
	b.client.Get("/avatars/" + id).Expect(200)
}

// Without the user's lock, both changes find nothing to delete.
func TestAvatarsAtOnceWithoutTheLockLeaveTwo(t *testing.T) {
	t.Parallel()
	b := setupAvatars(t)
	var open []pgx.Tx
	for range 2 {
		tx, err := b.db.Begin(t.Context())
		require.NoError(t, err)
		require.NoError(t, b.files.DeletePurposeTx(t.Context(), tx, "user", b.id, files.Avatar))
		open = append(open, tx)
	}
	for _, tx := range open {
		_, err := b.files.StoreTx(t.Context(), tx, "a.png", "", strings.NewReader("x"), files.Place{
			Purpose: files.Avatar, Kind: "user", RecordID: b.id,
		})
		require.NoError(t, err)
		require.NoError(t, tx.Commit(t.Context()))
	}
	require.Equal(t, 2, b.rows(`SELECT count(*) FROM files.contents`))
}

func TestArchiveTokenFollowsItsUser(t *testing.T) {
	t.Parallel()
	b := setupAvatars(t)
	id := b.set(pngBytes(t, 30, 30))
	open := func() int {
		token, _, err := b.files.IssueArchiveToken(t.Context(), b.db, b.id, "")
		require.NoError(t, err)
		return b.client.Get("/archive-records-public/" + token + "?f=" + id).Status
	}
	require.Equal(t, 200, open())
	for _, end := range []string{
		`UPDATE accounts.users SET enable = false WHERE id = $1`,
		`UPDATE accounts.users SET enable = true, tokens_valid_after = now() + interval '1 hour' WHERE id = $1`,
		`UPDATE accounts.users SET tokens_valid_after = NULL, deleted_at = now() WHERE id = $1`,
	} {
		_, err := b.db.Exec(t.Context(), end, b.id)
		require.NoError(t, err)
		require.Equal(t, 403, open(), end)
	}
}

func TestFilesOfUsers(t *testing.T) {
	t.Parallel()
	b := setupAvatars(t)
	admin := accountstest.Admin(t, b.db)
	asAdmin := b.client.As(accountstest.Token(t, b.db, admin.Username))
	other := b.client.As(accountstest.Token(t, b.db, accountstest.Customer(t, b.db).Username))
	upload := func(record objectid.ID) string {
		contentType, body := avatarForm(t, "file", "contract.pdf", []byte("%PDF-1.7 contract"))
		id, _ := asAdmin.Send(http.MethodPost, "/upload-file/archive-records/"+record.String(), contentType, body).
			Expect(200).Map()["file_id"].(string)
		return id
	}
	uploaded, theirs := upload(b.id), upload(admin.ID)
	b.customer.Get("/archive-records/" + uploaded).Expect(200)
	other.Get("/archive-records/" + uploaded).Expect(404)
	b.customer.Get("/archive-records/" + theirs).Expect(404)
	asAdmin.Get("/archive-records/" + theirs).Expect(200)

	avatar := b.set(pngBytes(t, 10, 10))
	gone := func() (all []string) {
		ids, err := b.svc.FileRecords().AbandonedFiles(t.Context(), []files.Ref{
			{FileID: objectid.ID(uploaded), RecordID: b.id, Purpose: files.Record},
			{FileID: objectid.ID(theirs), RecordID: admin.ID, Purpose: files.Record},
			{FileID: objectid.ID(avatar), RecordID: b.id, Purpose: files.Avatar},
		})
		require.NoError(t, err)
		for _, id := range ids {
			all = append(all, id.String())
		}
		return all
	}
	require.Empty(t, gone())
	_, err := b.db.Exec(t.Context(), `UPDATE accounts.users SET avatar_id = NULL WHERE id = $1`, b.id)
	require.NoError(t, err)
	require.Equal(t, []string{avatar}, gone())
	_, err = b.db.Exec(t.Context(), `UPDATE accounts.users SET deleted_at = $2 WHERE id = $1`, b.id, time.Now())
	require.NoError(t, err)
	require.Equal(t, []string{uploaded, avatar}, gone())
}
