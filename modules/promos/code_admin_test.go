package promos_test

import (
	"bytes"
	"image"
	"image/png"
	"mime/multipart"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"marquee/platform/objectid"
)

func TestCodesAreMadeUp(t *testing.T) {
	t.Parallel()
	b := setup(t)
	seen := map[string]bool{}
	many := make([]doc, 50)
	for i := range many {
		many[i] = doc{"title": "x", "code": nil, "code_type": "promo"}
	}
	for _, d := range b.admin.Post("/admin/promo-codes", many).Expect(200).Map()["docs"].([]any) {
		code := d.(doc)["code"].(string)
		require.Regexp(t, `^[2-9A-HJKMNP-Z]{6}$`, code)
		require.False(t, seen[code])
		seen[code] = true
	}
}

func TestCodesThatAreRefused(t *testing.T) {
	t.Parallel()
	b := setup(t)
	event := b.event(nil)
	b.code(doc{"code": "TAKEN2", "code_type": "promo"})
	for name, tc := range map[string]struct {
		body   doc
		status int
		field  string
	}{
		"no title":   {body: doc{"code_type": "promo"}, status: 422, field: "title"},
		"no type":    {body: doc{"title": "x"}, status: 422, field: "code_type"},
		"other type": {body: doc{"title": "x", "code_type": "gift"}, status: 422, field: "code_type"},
		"short code": {body: doc{"title": "x", "code_type": "promo", "code": "ABC"}, status: 422, field: "code"},
		"taken": {
			body: doc{"title": "x", "code_type": "promo", "code": "taken2"}, status: 409, field: "code",
		},
		"ticket, no event": {body: doc{"title": "x", "code_type": "ticket"}, status: 422, field: "event_id"},
		"unknown event": {
			body: doc{"title": "x", "code_type": "ticket", "event_id": objectid.New()}, status: 422, field: "event_id",
		},
		"discount on ticket": {
			body: doc{"title": "x", "code_type": "ticket", "event_id": event, "discount_first_month": 1}, status: 422,
			field: "discount_first_month",
		},
		"below zero": {
			body: doc{"title": "x", "code_type": "promo", "discount_first_month": -1}, status: 422,
			field: "discount_first_month",
		},
		"bonus on promo": {
			body: doc{"title": "x", "code_type": "promo", "bonus_tickets": 1}, status: 422, field: "bonus_tickets",
		},
		"no bonus": {
			body: doc{"title": "x", "code_type": "ticket", "event_id": event, "bonus_tickets": 0}, status: 422,
			field: "bonus_tickets",
		},
		"unknown child": {
			body: doc{"title": "x", "code_type": "promo", "children_code_ids": []any{objectid.New()}}, status: 422,
			field: "children_code_ids",
		},
		"unknown target": {
			body: doc{
				"title": "x", "code_type": "ticket", "event_id": event, "target_customer_ids": []any{objectid.New()},
			},
			status: 422, field: "target_customer_ids",
		},
		"window": {
			body:   doc{"title": "x", "code_type": "promo", "valid_from": "2026-02-02", "valid_until": "2026-01-01"},
			status: 422, field: "valid_until",
		},
		"unknown field": {body: doc{"title": "x", "code_type": "promo", "search": "x"}, status: 422, field: "search"},
	} {
		a := b.admin.Post("/admin/promo-codes", []doc{tc.body})
		require.Equal(t, tc.status, a.Status, "%s: %s", name, a.Body)
		require.Contains(t, a.Field(), tc.field, name)
	}
	b.me.Post("/admin/promo-codes", []doc{}).Expect(403)
	b.nobody.Get("/admin/promo-codes").Expect(401)
	require.Equal(t, 1, b.count(`SELECT count(*) FROM promos.promo_codes`))
}

func TestBundlesHaveNoCycles(t *testing.T) {
	t.Parallel()
	b := setup(t)
	ticket := b.code(doc{"code_type": "ticket", "event_id": b.event(nil)})
	one := b.code(doc{"code_type": "promo"})
	two := b.code(doc{"code_type": "promo", "children_code_ids": []any{one["_id"]}})
	three := b.code(doc{"code_type": "promo", "children_code_ids": []any{two["_id"], one["_id"]}})
	put := func(code doc, children ...any) int {
		a := b.admin.Put("/admin/promo-codes/"+code["_id"].(string), doc{"children_code_ids": children})
		if a.Status == 422 {
			require.Equal(t, "children_code_ids", a.Field())
		}
		return a.Status
	}
	require.Equal(t, 422, put(one, one["_id"]), "itself")
	require.Equal(t, 422, put(one, two["_id"]), "its parent")
	require.Equal(t, 422, put(one, three["_id"]), "its grandparent")
	require.Equal(t, 422, put(ticket, one["_id"]), "a ticket code is no bundle")
	require.Equal(t, 200, put(one, ticket["_id"]))
	b.admin.Delete("/admin/promo-codes/"+one["_id"].(string), nil).Expect(200)
	require.Equal(t, []any{two["_id"]},
		first(b.admin.Get("/admin/promo-codes/" + three["_id"].(string)))["children_code_ids"],
		"a deleted code is in no bundle")

	// Two changes at once cannot close a cycle between them.
	four := b.code(doc{"code_type": "promo"})
	five := b.code(doc{"code_type": "promo"})
	statuses := make(chan int, 2)
	go func() { statuses <- put(four, five["_id"]) }()
	go func() { statuses <- put(five, four["_id"]) }()
	require.ElementsMatch(t, []int{200, 422}, []int{<-statuses, <-statuses})
}

func TestOneCode(t *testing.T) {
	t.Parallel()
	b := setup(t)
	c := b.code(doc{"code": "EDITX2", "code_type": "promo"})
	path := "/admin/promo-codes/" + c["_id"].(string)
	require.Equal(t, "B", first(b.admin.Put(path, doc{
		"title": "B", "redemptions": 7, "image_id": objectid.New(),
	}).Expect(200))["title"])
	got := first(b.admin.Put(path, []doc{{"_id": c["_id"], "title": "C", "code": "EDITX2"}}).Expect(200))
	require.Equal(t, "C", got["title"])
	require.EqualValues(t, 0, got["redemptions"])
	require.Nil(t, got["image_id"])
	b.admin.Put(path, doc{"code": "OTHER2"}).Expect(422)
	b.admin.Put(path, []doc{{"_id": objectid.New(), "title": "C"}}).Expect(422)
	b.admin.Put(path, []doc{{"title": "C"}, {"title": "D"}}).Expect(422)
	b.admin.Put("/admin/promo-codes/"+objectid.New().String(), doc{"title": "C"}).Expect(404)
	b.admin.Get("/admin/promo-codes/" + objectid.New().String()).Expect(404)
	b.admin.Get("/admin/promo-codes/xyz").Expect(422)
	require.Equal(t, 3, b.count(`SELECT count(*) FROM accounts.audit_log WHERE resource = 'promo-codes'`))
	require.Empty(t, b.admin.Delete(path, nil).Expect(200).Map()["docs"])
	b.admin.Delete(path, nil).Expect(404)
}

func TestStats(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.code(doc{"code": "STATA2", "code_type": "promo", "valid_until": "2020-01-01"})
	b.code(doc{"code": "STATB2", "code_type": "ticket", "event_id": b.event(nil), "bonus_tickets": 3})
	b.me.Put("/customers/me/redeem-promo-code?code=STATB2", nil).Expect(200)
	got := b.admin.Get("/admin/promo-codes/stats").Expect(200).Map()
	for key, want := range map[string]int{
		"total": 2, "active": 1, "expired": 1, "redemptions": 1, "tickets_generated": 3,
	} {
		require.EqualValues(t, want, got[key], key)
	}
	require.Equal(t, doc{"promo": 1.0, "ticket": 1.0}, got["by_type"])
	require.Equal(t, "STATB2", got["top_codes"].([]any)[0].(doc)["code"])
}

func TestImage(t *testing.T) {
	t.Parallel()
	b := setup(t)
	c := b.code(doc{"code": "IMAGE2", "code_type": "promo"})
	path := "/admin/promo-codes/" + c["_id"].(string) + "/image"
	var picture, form bytes.Buffer
	require.NoError(t, png.Encode(&picture, image.NewRGBA(image.Rect(0, 0, 8, 8))))
	parts := multipart.NewWriter(&form)
	part, err := parts.CreateFormFile("file", "a.png")
	require.NoError(t, err)
	_, err = part.Write(picture.Bytes())
	require.NoError(t, err)
	require.NoError(t, parts.Close())
	send := func(path string) int {
		return b.admin.Send(http.MethodPost, path, parts.FormDataContentType(), form.Bytes()).Status
	}
	require.Equal(t, 200, send(path))
	require.Equal(t, 200, send(path), "replaced")
	require.Equal(t, 1, b.count(`SELECT count(*) FROM files.files WHERE owner_id = $1`, c["_id"]))
	got := b.nobody.Get("/customers/validate-promo-code?code=IMAGE2").Map()
	require.NotNil(t, got["image_id"])
	b.nobody.Get(got["image_url"].(string)[len("https://api.example.com"):]).Expect(200)
	require.Equal(t, 404, send("/admin/promo-codes/"+objectid.New().String()+"/image"))
	require.Equal(t, 400, b.admin.Send(http.MethodPost, path, parts.FormDataContentType(),
		bytes.ReplaceAll(form.Bytes(), []byte("PNG"), []byte("GNP"))).Status)
	require.Equal(t, 403, b.me.Send(http.MethodPost, path, parts.FormDataContentType(), form.Bytes()).Status)
	b.admin.Delete(path, nil).Expect(200)
	require.Zero(t, b.count(`SELECT count(*) FROM files.files WHERE owner_id = $1`, c["_id"]))
}
