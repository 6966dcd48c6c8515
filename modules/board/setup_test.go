package board_test

import (
	"bytes"
	"mime/multipart"
	"net/http"
	"net/textproto"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"marquee/modules/accounts"
	"marquee/modules/accounts/accountstest"
	"marquee/modules/board"
	"marquee/modules/files"
	"marquee/platform/clock"
	"marquee/platform/httpapi"
	"marquee/platform/objectid"
	"marquee/platform/resource"
	"marquee/platform/stream"
	"marquee/testutil/apitest"
	"marquee/testutil/cleanup"
	"marquee/testutil/pgtest"
	"marquee/testutil/secrettest"
)

// bundle is the board behind HTTP with real users, on a database of its own.
type bundle struct {
	t     testing.TB
	db    *pgxpool.Pool
	svc   *board.Service
	files *files.Service
	api   *httpapi.API
	anon  *apitest.Client // without a token
	admin *apitest.Client // with all permissions
	user  accounts.User   // behind admin
	token string          // of admin
}

// maxAttachment is the limit of these tests, in bytes; the contract's 10 MB (docs/contract/board.md, Attachments)
// is proved once.
const maxAttachment = 64 << 10

func setup(t testing.TB, set ...func(*files.Config)) *bundle {
	t.Helper()
	b := &bundle{t: t, db: pgtest.DB(t)}
	log := secrettest.Logger(t)
	who := accountstest.Service(t, b.db)
	cfg := files.Config{
		FileKey: []byte("fedcba9876543210fedcba9876543210"), PublicURL: "http://marquee.test",
		MaxAttachmentBytes: maxAttachment,
	}
	for _, f := range set {
		f(&cfg)
	}
	b.files = files.New(files.Deps{Pool: b.db, Clock: clock.System{}, Log: log, Config: cfg})
	streams := stream.New(stream.Config{Longest: time.Millisecond}) // nobody here waits for a change
	cleanup.Add(t, streams.Close)
	b.svc = board.New(board.Deps{
		Pool: b.db, Clock: clock.System{}, Log: log, Accounts: who, Files: b.files, Streams: streams,
	})
	b.files.Connect(files.Above{Users: who, Records: []files.Records{b.svc.FileRecords()}})
	b.api = httpapi.New(httpapi.Config{
		Version: "test", PublicURL: "http://marquee.test", Auth: who, Trail: who, Log: log,
	})
	b.files.Routes(b.api)
	b.svc.Routes(b.api)
	lists := resource.Routes{Pool: b.db, Clock: clock.System{}, Log: log}
	httpapi.Route(b.api, http.MethodGet, "/search/{collection_name}", "search", httpapi.SignedIn,
		lists.Search(b.svc.RequisitionSearch()), resource.SearchDoc()...)
	b.anon = apitest.New(t, b.api)
	b.user = accountstest.Admin(t, b.db)
	b.token = accountstest.Token(t, b.db, b.user.Username)
	b.admin = b.anon.As(b.token)
	return b
}

func (b *bundle) login(username string) *apitest.Client {
	b.t.Helper()
	return b.anon.As(accountstest.Token(b.t, b.db, username))
}

// holder makes an admin who holds these handlers and no others.
func (b *bundle) holder(handlers ...string) accounts.User {
	b.t.Helper()
	u := accountstest.Admin(b.t, b.db)
	b.grant(u.ID, handlers...)
	return u
}

// grant gives the admin a new profile with these handlers alone. Lists of
// a profile do not differ in what they permit, so they go around.
func (b *bundle) grant(user objectid.ID, handlers ...string) {
	b.t.Helper()
	lists := [4][]string{{}, {}, {}, {}}
	for _, h := range handlers {
		id := 0 // a name counts in its own list alone, which its ending tells
		for i, endings := range [4]string{"get download", "post upload", "put", "delete"} {
			if slices.Contains(strings.Fields(endings), h[strings.LastIndex(h, "_")+1:]) {
				id = i
			}
		}
		lists[id] = append(lists[id], h)
	}
	_, err := b.db.Exec(b.t.Context(), `
		INSERT INTO accounts.users_type (id, name, view, "create", "update", "delete", created_at, updated_at)
		VALUES ($1::text, 'Of ' || $1::text, $2, $3, $4, $5, now(), now())
		ON CONFLICT (id) DO UPDATE SET view = $2, "create" = $3, "update" = $4, "delete" = $5`,
		user.String(), lists[0], lists[1], lists[2], lists[3])
	require.NoError(b.t, err)
	_, err = b.db.Exec(b.t.Context(), `UPDATE accounts.users SET type_user = ARRAY[$1::text] WHERE id = $1::text`,
		user.String())
	require.NoError(b.t, err)
}

type column struct {
	ID    objectid.ID `json:"_id"`
	Name  string      `json:"name"`
	Index *int        `json:"index"`
	Color *string     `json:"color"`
}

type attachment struct {
	FileID      objectid.ID `json:"file_id"`
	Filename    string      `json:"filename"`
	ContentType string      `json:"content_type"`
	Size        int64       `json:"size"`
}

type card struct {
	ID          objectid.ID  `json:"_id"`
	Name        string       `json:"name"`
	StatusID    objectid.ID  `json:"status_id"`
	StatusName  string       `json:"status_name"`
	Description []string     `json:"description"`
	Priority    string       `json:"priority"`
	Files       []attachment `json:"files"`
	CreatedBy   objectid.ID  `json:"document_created_by_id"`
	CreatedAt   time.Time    `json:"register_date"`
	UpdatedAt   time.Time    `json:"register_update_date"`
}

type entry struct {
	At        time.Time      `json:"created_at"`
	ActorID   objectid.ID    `json:"actor_id"`
	ActorName string         `json:"actor_name"`
	Action    string         `json:"action"`
	Before    map[string]any `json:"before"`
	After     map[string]any `json:"after"`
}

// docs reads the documents of an envelope.
func docs[T any](a *apitest.Response) []T {
	var env httpapi.Envelope[T]
	a.Expect(http.StatusOK).JSON(&env)
	return env.Docs
}

// made makes columns with these names, in order.
func (b *bundle) made(names ...string) []column {
	b.t.Helper()
	var body []map[string]any
	for i, name := range names {
		body = append(body, map[string]any{"name": name, "index": i})
	}
	return docs[column](b.admin.Post("/admin/requisition-status", body))
}

func (b *bundle) card(name string, in objectid.ID) card {
	b.t.Helper()
	return docs[card](b.admin.Post("/admin/requisitions", []map[string]any{{"name": name, "status_id": in}}))[0]
}

func (b *bundle) read(id objectid.ID) card {
	b.t.Helper()
	return docs[card](b.admin.Get("/admin/requisitions?_id=" + id.String()))[0]
}

func (b *bundle) history(id objectid.ID) []entry {
	b.t.Helper()
	return docs[entry](b.admin.Get("/admin/requisitions/" + id.String() + "/history?qty_docs_page=1000"))
}

// listed are the names that a list shows, in order.
func (b *bundle) listed(path, query, sort string) []string {
	b.t.Helper()
	names := []string{}
	for _, d := range docs[column](b.admin.Get(path + "?query=" + url.QueryEscape(query) + "&sort=" +
		url.QueryEscape(sort))) {
		names = append(names, d.Name)
	}
	return names
}

func multipartFile(t testing.TB, filename, contentType string, data []byte) (formType string, body []byte) {
	t.Helper()
	var out bytes.Buffer
	w := multipart.NewWriter(&out)
	h := textproto.MIMEHeader{"Content-Type": {contentType}}
	h.Set("Content-Disposition", multipart.FileContentDisposition("file", filename))
	part, err := w.CreatePart(h)
	require.NoError(t, err)
	_, err = part.Write(data)
	require.NoError(t, err)
	require.NoError(t, w.Close())
	return w.FormDataContentType(), out.Bytes()
}

func (b *bundle) upload(as *apitest.Client, card objectid.ID, filename, contentType string,
	data []byte,
) *apitest.Response {
	b.t.Helper()
	formType, body := multipartFile(b.t, filename, contentType, data)
	return as.Send(http.MethodPost, "/admin/requisitions/"+card.String()+"/files", formType, body)
}

// attached uploads a file and returns it as the card shows it, the newest last.
func (b *bundle) attached(to objectid.ID, filename string, data []byte) attachment {
	b.t.Helper()
	all := docs[card](b.upload(b.admin, to, filename, "text/plain", data))[0].Files
	return all[len(all)-1]
}

func (b *bundle) count(sql string) (n int) {
	b.t.Helper()
	require.NoError(b.t, b.db.QueryRow(b.t.Context(), sql).Scan(&n))
	return n
}
