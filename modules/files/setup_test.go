package files_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"mime/multipart"
	"net/http"
	"net/textproto"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"marquee/modules/files"
	"marquee/platform/clock"
	"marquee/platform/httpapi"
	"marquee/platform/objectid"
	"marquee/platform/postgres"
	"marquee/testutil/apitest"
	"marquee/testutil/pgtest"
	"marquee/testutil/secrettest"
)

// People stand in for the module above that knows users: their access token is
// their name.
type people struct {
	mu   sync.Mutex
	byID map[objectid.ID]httpapi.Caller
	gone map[objectid.ID]bool // disabled, deleted, or tokens ended
}

func (p *people) Verify(token string) (httpapi.Claims, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for id, c := range p.byID {
		if c.Username == token {
			return httpapi.Claims{UserID: id}, nil
		}
	}
	return httpapi.Claims{}, errors.New("no such token")
}

func (p *people) Caller(_ context.Context, claims httpapi.Claims) (httpapi.Caller, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.gone[claims.UserID] {
		return httpapi.Caller{}, httpapi.ErrBadToken()
	}
	return p.byID[claims.UserID], nil
}

// kind stands in for a module that owns records.
type kind struct {
	name    string
	records map[objectid.ID]files.Place
	mu      sync.Mutex
	gone    map[objectid.ID]bool // files to be swept
}

func (k *kind) FileKind() string { return k.name }

func (k *kind) FilePlace(_ context.Context, id objectid.ID) (files.Place, bool, error) {
	place, ok := k.records[id]
	return place, ok, nil
}

func (k *kind) AbandonedFiles(_ context.Context, refs []files.Ref) (gone []objectid.ID, err error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, ref := range refs {
		if k.gone[ref.FileID] {
			gone = append(gone, ref.FileID)
		}
	}
	return gone, nil
}

// bundle is the module behind HTTP, on a database of its own.
type bundle struct {
	t      *testing.T
	db     *pgxpool.Pool
	clock  *clock.Fake
	svc    *files.Service
	people *people
	users  *kind
	api    *httpapi.API
	client *apitest.Client
	log    *secrettest.Log

	alice, bob, video, event objectid.ID
}

// setup serves the module with the people root, admin (without permissions),
// downloader (an admin with the permission for attachments), alice and bob.
func setup(t *testing.T, set ...func(*files.Config)) *bundle {
	t.Helper()
	return setupStalling(t, time.Minute, set...)
}

// setupStalling is setup with the time for which a body may stall.
func setupStalling(t *testing.T, stall time.Duration, set ...func(*files.Config)) *bundle {
	t.Helper()
	b := &bundle{t: t, db: pgtest.DB(t), clock: clock.NewFake(time.Now()), log: &secrettest.Log{}}
	b.alice, b.bob, b.video, b.event = objectid.New(), objectid.New(), objectid.New(), objectid.New()
	b.people = &people{gone: map[objectid.ID]bool{}, byID: map[objectid.ID]httpapi.Caller{}}
	for _, c := range []httpapi.Caller{
		{ID: b.alice, Username: "alice", Type: httpapi.TypeCustomer},
		{ID: b.bob, Username: "bob", Type: httpapi.TypeCustomer},
		{ID: objectid.New(), Username: "root", Type: httpapi.TypeAdmin, Root: true},
		{ID: objectid.New(), Username: "admin", Type: httpapi.TypeAdmin},
		{
			ID: objectid.New(), Username: "downloader", Type: httpapi.TypeAdmin,
			Handlers: []string{"requisition_file_download"},
		},
	} {
		b.people.byID[c.ID] = c
	}
	logger := secrettest.Logger(t, b.log)
	cfg := files.Config{FileKey: []byte("fedcba9876543210fedcba9876543210"), PublicURL: "http://marquee.test"}
	for _, f := range set {
		f(&cfg)
	}
	b.svc = files.New(files.Deps{Pool: b.db, Clock: b.clock, Log: logger, Config: cfg})
	b.users = &kind{name: "user", gone: map[objectid.ID]bool{}, records: map[objectid.ID]files.Place{
		b.alice: {Purpose: files.Record, ReaderID: b.alice},
		b.bob:   {Purpose: files.Record, ReaderID: b.bob},
	}}
	b.svc.Connect(files.Above{Users: b.people, Records: []files.Records{
		b.users,
		&kind{name: "video", records: map[objectid.ID]files.Place{
			b.video: {Purpose: files.Record, Visibility: files.Members},
		}},
		&kind{name: "event", records: map[objectid.ID]files.Place{b.event: {Purpose: files.EventImage}}},
	}})
	b.api = httpapi.New(httpapi.Config{
		Auth: b.people, Log: logger, PublicURL: "http://marquee.test", BodyStall: stall,
	})
	b.svc.Routes(b.api)
	b.client = apitest.New(t, b.api)
	return b
}

func (b *bundle) id(name string) objectid.ID {
	for id, c := range b.people.byID {
		if c.Username == name {
			return id
		}
	}
	b.t.Fatalf("nobody is called %s", name)
	return ""
}

// store keeps bytes at hand as a file.
func (b *bundle) store(filename, contentType string, data []byte, place files.Place) files.File {
	b.t.Helper()
	if place.Kind == "" {
		place.Kind, place.RecordID = "requisition", objectid.New()
	}
	var f files.File
	require.NoError(b.t, postgres.InTx(b.t.Context(), b.db, func(tx pgx.Tx) (err error) {
		f, err = b.svc.StoreTx(b.t.Context(), tx, filename, contentType, bytes.NewReader(data), place)
		return err
	}))
	return f
}

// part is one part of a multipart body.
type part struct {
	field, filename, contentType string
	data                         []byte
}

func multipartBody(t testing.TB, parts ...part) (contentType string, body []byte) {
	t.Helper()
	var out bytes.Buffer
	w := multipart.NewWriter(&out)
	for _, p := range parts {
		h := textproto.MIMEHeader{}
		h.Set("Content-Disposition", multipart.FileContentDisposition(p.field, p.filename))
		if p.contentType != "" {
			h.Set("Content-Type", p.contentType)
		}
		pw, err := w.CreatePart(h)
		require.NoError(t, err)
		_, err = pw.Write(p.data)
		require.NoError(t, err)
	}
	require.NoError(t, w.Close())
	return w.FormDataContentType(), out.Bytes()
}

type uploaded struct {
	FileID      objectid.ID `json:"file_id"`
	Filename    string      `json:"filename"`
	ContentType string      `json:"content_type"`
	Size        int64       `json:"size"`
}

// upload sends parts as the named user to the generic route.
func (b *bundle) upload(who string, record objectid.ID, parts ...part) *apitest.Response {
	b.t.Helper()
	contentType, body := multipartBody(b.t, parts...)
	return b.as(who).Send(http.MethodPost, "/upload-file/archive-records/"+record.String(), contentType, body)
}

func (b *bundle) uploadOK(who string, record objectid.ID, p part) (up uploaded) {
	b.t.Helper()
	p.field = "file"
	b.upload(who, record, p).Expect(200).JSON(&up)
	return up
}

func (b *bundle) as(who string) *apitest.Client {
	if who == "" {
		return b.client
	}
	return b.client.As(who)
}

func (b *bundle) archiveToken(who string) string {
	b.t.Helper()
	token, _, err := b.svc.IssueArchiveToken(b.t.Context(), b.db, b.id(who), "")
	require.NoError(b.t, err)
	return token
}

func (b *bundle) count(sql string) (n int) {
	b.t.Helper()
	require.NoError(b.t, b.db.QueryRow(b.t.Context(), sql).Scan(&n))
	return n
}

func noise(n int) []byte {
	data := make([]byte, n)
	_, _ = rand.Read(data)
	if n > 0 {
		data[0] = 0 // no known type begins so
	}
	return data
}

func requireHidden(t *testing.T, a *apitest.Response, secret []byte) {
	t.Helper()
	require.False(t, a.Status < 400 || bytes.Contains(a.Body, secret), "%d %s", a.Status, a.Body)
	require.True(t, slices.Contains([]int{401, 403, 404}, a.Status), "%d", a.Status)
	require.NotContains(t, string(a.Body), "sql")
}
