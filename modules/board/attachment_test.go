package board_test

import (
	"bytes"
	"crypto/rand"
	"io"
	"math"
	"net/http"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"marquee/modules/files"
	"marquee/platform/httpapi"
	"marquee/platform/objectid"
	"marquee/platform/postgres"
)

var png = append([]byte("\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR"), make([]byte, 20)...)

func TestAttachmentIsKeptShownAndDeleted(t *testing.T) {
	t.Parallel()
	b := setup(t)
	parent := b.card("held", b.made("To do")[0].ID)
	data := []byte("a,b\n1,2\n")
	changed := docs[card](b.upload(b.admin, parent.ID, "../Relatório \"final\".csv", "text/csv", data))[0]
	require.Len(t, changed.Files, 1)
	file := changed.Files[0]
	require.Equal(t, attachment{
		FileID: file.FileID, Filename: `Relatório "final".csv`, ContentType: "text/csv", Size: int64(len(data)),
	}, file)
	require.True(t, changed.UpdatedAt.After(parent.UpdatedAt))
	second := b.attached(parent.ID, "empty", nil)
	require.Equal(t, []attachment{file, second}, b.read(parent.ID).Files, "oldest first")

	path := cards + "/files/" + file.FileID.String()
	res := b.admin.Get(path).Expect(200)
	require.Equal(t, data, res.Body)
	require.Equal(t, "text/csv", res.Header.Get("Content-Type"))
	require.Equal(t, `attachment; filename="Relat_rio _final_.csv"; filename*=UTF-8''Relat%C3%B3rio%20%22final%22.csv`,
		res.Header.Get("Content-Disposition"))
	require.Empty(t, b.admin.Get(cards+"/files/"+second.FileID.String()).Expect(200).Body)

	left := docs[card](b.admin.Delete(cards+"/"+parent.ID.String()+"/files/"+file.FileID.String(), nil))[0]
	require.Equal(t, []attachment{second}, left.Files)
	require.True(t, left.UpdatedAt.After(changed.UpdatedAt))
	b.admin.Get(path).Expect(404)
	require.Equal(t, 1, b.count("SELECT count(*) FROM files.contents"))
}

// TestOnlyRasterImagesAndPDFShowInline: by their content, whatever the client says.
func TestOnlyRasterImagesAndPDFShowInline(t *testing.T) {
	t.Parallel()
	b := setup(t)
	parent := b.card("held", b.made("To do")[0].ID)
	for _, one := range []struct {
		declared string
		data     []byte
		inline   bool
	}{
		{"image/png", png, true},
		{"text/plain", png, true},
		{"application/pdf", []byte("%PDF-1.7\n"), true},
		{"image/jpeg", []byte("\xff\xd8\xff\xe0\x00\x10JFIF"), true},
		{"image/svg+xml", []byte(`<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>`), false},
		{"text/html", []byte("<!DOCTYPE html><script>alert(1)</script>"), false},
		{"image/png", []byte("<script>alert(1)</script>"), false},
		{"application/pdf", []byte("no pdf"), false},
		{"application/zip", []byte("PK\x03\x04"), false},
	} {
		all := docs[card](b.upload(b.admin, parent.ID, "name.bin", one.declared, one.data))[0].Files
		res := b.admin.Get(cards + "/files/" + all[len(all)-1].FileID.String()).Expect(200)
		want := `attachment; filename="name.bin"`
		if one.inline {
			want = `inline; filename="name.bin"`
		}
		require.Equal(t, want, res.Header.Get("Content-Disposition"), "%s %q", one.declared, one.data)
		require.Equal(t, "nosniff", res.Header.Get("X-Content-Type-Options"))
		require.Contains(t, res.Header.Get("Content-Security-Policy"), "sandbox")
		require.Equal(t, one.data, res.Body)
	}
}

func TestAttachmentErrors(t *testing.T) {
	t.Parallel()
	b := setup(t)
	col := b.made("To do")[0].ID
	parent, other := b.card("held", col), b.card("other", col)
	const unknown = objectid.ID("66f0a1b2c3d4e5f607182a01")

	b.upload(b.admin, parent.ID, "just.bin", "application/zip", make([]byte, maxAttachment)).Expect(200)
	res := b.upload(b.admin, parent.ID, "over.bin", "application/zip", make([]byte, maxAttachment+1)).Expect(422)
	require.Equal(t, "VALIDATION_ERROR", res.Code())
	require.Equal(t, "file", res.Field())
	require.Equal(t, 1, b.count("SELECT count(*) FROM files.contents"), "nothing is left of it")

	require.Equal(t, "NOT_FOUND", b.upload(b.admin, unknown, "a", "text/plain", []byte("x")).Expect(404).Code())
	require.Equal(t, "NOT_FOUND", b.upload(b.admin, "nonsense", "a", "text/plain", []byte("x")).Expect(404).Code())
	b.admin.Post(cards+"/"+parent.ID.String()+"/files", `{}`).Expect(415)
	b.admin.Send(http.MethodPost, cards+"/"+parent.ID.String()+"/files", "multipart/form-data; boundary=x",
		[]byte("--x--\r\n")).Expect(422)

	file := b.read(parent.ID).Files[0].FileID.String()
	for _, path := range []string{
		other.ID.String() + "/files/" + file, parent.ID.String() + "/files/" + unknown.String(),
		parent.ID.String() + "/files/nonsense", unknown.String() + "/files/" + file, "nonsense/files/" + file,
	} {
		require.Equal(t, "NOT_FOUND", b.admin.Delete(cards+"/"+path, nil).Expect(404).Code(), path)
	}
	require.Len(t, b.read(parent.ID).Files, 1)
	require.Equal(t, other.UpdatedAt, b.read(other.ID).UpdatedAt, "a refused change leaves no date")
	for _, id := range []string{unknown.String(), "nonsense", "history"} {
		require.Equal(t, "NOT_FOUND", b.admin.Get(cards+"/files/"+id).Expect(404).Code())
	}
}

// TestFileOfNoCardIsNotFound: neither another record's nor one whose pointer is gone.
func TestFileOfNoCardIsNotFound(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for _, place := range []files.Place{
		{Purpose: files.Avatar, Kind: "user", RecordID: b.user.ID},
		{Purpose: files.Record, Kind: "video", RecordID: objectid.New(), Visibility: files.Members},
		{Purpose: files.Attachment, Kind: "requisition", RecordID: objectid.New()},
	} {
		var f files.File
		require.NoError(t, postgres.InTx(t.Context(), b.db, func(tx pgx.Tx) (err error) {
			f, err = b.files.StoreTx(t.Context(), tx, "a.png", "image/png", bytes.NewReader(png), place)
			return err
		}))
		b.admin.Get(cards + "/files/" + f.ID.String()).Expect(404)
	}
}

// TestDeletingCardsDeletesTheirFiles, all or none.
func TestDeletingCardsDeletesTheirFiles(t *testing.T) {
	t.Parallel()
	b := setup(t)
	col := b.made("To do")[0].ID
	first, second, third := b.card("first", col), b.card("second", col), b.card("kept", col)
	for _, c := range []card{first, first, second, third} {
		b.attached(c.ID, "note.txt", []byte("note"))
	}
	gone := b.read(first.ID).Files[0].FileID
	_, err := b.db.Exec(t.Context(),
		`CREATE FUNCTION pg_temp_refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'refused'; END $$;
		CREATE TRIGGER refuse BEFORE DELETE ON board.requisitions FOR EACH ROW EXECUTE FUNCTION pg_temp_refuse()`)
	require.NoError(t, err)
	body := `[{"_id":"` + first.ID.String() + `"},{"_id":"` + second.ID.String() + `"}]`
	b.admin.Delete(cards, body).Expect(500)
	require.Equal(t, 4, b.count("SELECT count(*) FROM files.files"), "what fails takes no file with it")
	b.admin.Get(cards + "/files/" + gone.String()).Expect(200)
	_, err = b.db.Exec(t.Context(), "DROP TRIGGER refuse ON board.requisitions")
	require.NoError(t, err)

	res := b.admin.Delete(cards, body).Expect(200).Map()
	require.Equal(t, "2 documents were deleted.", res["msg"])
	require.Empty(t, res["docs"])
	require.Equal(t, 1, b.count("SELECT count(*) FROM files.files"))
	require.Equal(t, 1, b.count("SELECT count(*) FROM files.contents"))
	require.Equal(t, 1, b.count("SELECT count(*) FROM board.attachments"))
	b.admin.Get(cards + "/files/" + gone.String()).Expect(404)
	require.Len(t, b.read(third.ID).Files, 1)
}

// TestUploadsMeetTheDeletionOfTheirCard: whichever comes first, no file stays
// without a card.
func TestUploadsMeetTheDeletionOfTheirCard(t *testing.T) {
	t.Parallel()
	b := setup(t)
	col := b.made("To do")[0].ID
	var statuses [2]atomic.Int64
	for range 8 {
		parent := b.card("held", col)
		formType, body := multipartFile(t, "note.txt", "text/plain", []byte("note"))
		var wg sync.WaitGroup
		for i := range 3 {
			wg.Go(func() {
				if i == 0 {
					if status := b.admin.Delete(cards+"?_id="+parent.ID.String(), nil).Status; status != 200 {
						t.Errorf("deletion: status %d", status)
					}
					return
				}
				switch status := b.admin.Send(http.MethodPost, cards+"/"+parent.ID.String()+"/files", formType, body).
					Status; status {
				case 200:
					statuses[0].Add(1)
				case 404:
					statuses[1].Add(1)
				default:
					t.Errorf("status %d", status)
				}
			})
		}
		wg.Wait()
	}
	require.EqualValues(t, 16, statuses[0].Load()+statuses[1].Load())
	require.Zero(t, b.count("SELECT count(*) FROM files.files"))
	require.Zero(t, b.count("SELECT count(*) FROM board.attachments"))
}

// TestUploadsToOneCardAllStay: none takes the place of another.
func TestUploadsToOneCardAllStay(t *testing.T) {
	t.Parallel()
	b := setup(t)
	parent := b.card("held", b.made("To do")[0].ID)
	formType, body := multipartFile(t, "note.txt", "text/plain", []byte("note"))
	var wg sync.WaitGroup
	for range 12 {
		wg.Go(func() {
			if a := b.admin.Send(http.MethodPost, cards+"/"+parent.ID.String()+"/files", formType,
				body); a.Status != 200 {
				t.Errorf("status %d: %s", a.Status, a.Body)
			}
		})
	}
	wg.Wait()
	require.Len(t, b.read(parent.ID).Files, 12)
	require.Len(t, b.history(parent.ID), 13)
}

// TestAbandonedAttachmentsAreKnown: the daily sweep takes what hangs on no card
// and nothing else.
func TestAbandonedAttachmentsAreKnown(t *testing.T) {
	t.Parallel()
	b := setup(t)
	parent := b.card("held", b.made("To do")[0].ID)
	file := b.attached(parent.ID, "note.txt", []byte("note"))
	lost := objectid.New()
	gone, err := b.svc.FileRecords().AbandonedFiles(t.Context(), []files.Ref{
		{FileID: file.FileID, RecordID: parent.ID, Purpose: files.Attachment},
		{FileID: lost, RecordID: parent.ID, Purpose: files.Attachment},
	})
	require.NoError(t, err)
	require.Equal(t, []objectid.ID{lost}, gone)
}

// TestTenMegabytesPassInAStream: exactly the contract's limit (docs/contract/board.md, Attachments) goes up and
// comes down, one byte more does not, and the file is never whole in memory. It
// is not parallel because it looks at the heap of the process.
func TestTenMegabytesPassInAStream(t *testing.T) {
	b := setup(t, func(c *files.Config) { c.MaxAttachmentBytes = 0 }) // the default
	parent := b.card("held", b.made("To do")[0].ID)
	const limit = 10 << 20
	formType, whole := multipartFile(t, "big.bin", "application/octet-stream", nil)
	end := bytes.LastIndex(whole, []byte("\r\n--"))
	post := func(size int64) (status int, live uint64) {
		heap := &heapWatch{source: io.LimitReader(rand.Reader, size), from: size * 3 / 4, every: 1 << 18}
		body := io.MultiReader(bytes.NewReader(whole[:end]), heap, bytes.NewReader(whole[end:]))
		return b.stream(formType, cards+"/"+parent.ID.String()+"/files", body), heap.least
	}
	status, live := post(limit)
	require.Equal(t, 200, status)
	require.Less(t, live, uint64(limit/2), "when three quarters have arrived, less than half of the file is held")
	status, _ = post(limit + 1)
	require.Equal(t, 422, status)
	file := b.read(parent.ID).Files[0]
	require.EqualValues(t, limit, file.Size)

	res, body := b.anon.Fetch(cards+"/files/"+file.FileID.String(), "Authorization", "Bearer "+b.token, "Range",
		"bytes=10485755-")
	require.Equal(t, http.StatusPartialContent, res.StatusCode)
	require.Len(t, body, 5)
	_, body = b.anon.Fetch(cards+"/files/"+file.FileID.String(), "Authorization", "Bearer "+b.token)
	require.Len(t, body, limit)
}

// heapWatch passes a source on and notes how much more the process holds than at the first
// byte: the least of what it finds once in so many bytes, behind the first ones. Other tests
// of the process come and go meanwhile; what keeps the source holds it at each look.
type heapWatch struct {
	source            io.Reader
	from, every, read int64
	base, least       uint64
}

func (h *heapWatch) Read(p []byte) (int, error) {
	if h.read == 0 {
		h.base, h.least = liveHeap(), math.MaxUint64
	}
	n, err := h.source.Read(p)
	before := h.read
	h.read += int64(n)
	if h.read >= h.from && h.read/h.every > before/h.every {
		now := liveHeap()
		h.least = min(h.least, max(now, h.base)-h.base)
	}
	return n, err
}

func liveHeap() uint64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// stream posts a body of unknown length and returns the status.
func (b *bundle) stream(contentType, path string, body io.Reader) int {
	b.t.Helper()
	req, err := http.NewRequestWithContext(b.t.Context(), http.MethodPost, b.anon.URL()+httpapi.Prefix+path, body)
	require.NoError(b.t, err)
	req.Header.Set("Content-Type", contentType)
	req.Header.Set("Authorization", "Bearer "+b.token)
	client := http.Client{Timeout: time.Minute}
	res, err := client.Do(req)
	require.NoError(b.t, err)
	defer res.Body.Close()
	_, err = io.Copy(io.Discard, res.Body)
	require.NoError(b.t, err)
	return res.StatusCode
}
