package attacks

import (
	"bytes"
	"fmt"
	"mime/multipart"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"marquee/cmd/internal/app/platformtest"
	"marquee/modules/subscriptions/subscriptionstest"
	"marquee/platform/objectid"
	"marquee/testutil/apitest"
)

// upload keeps bytes with a record, as an admin does.
func (p *platform) upload(admin *apitest.Client, record objectid.ID, name string, data []byte) string {
	p.T.Helper()
	return p.uploading(admin, record.String(), name, data).Expect(200).Map()["file_id"].(string)
}

// uploading sends bytes for a record.
func (p *platform) uploading(admin *apitest.Client, record, name string, data []byte) *apitest.Response {
	p.T.Helper()
	var body bytes.Buffer
	form := multipart.NewWriter(&body)
	part, err := form.CreateFormFile("file", name)
	require.NoError(p.T, err)
	_, err = part.Write(data)
	require.NoError(p.T, err)
	require.NoError(p.T, form.Close())
	return admin.Send(http.MethodPost, "/upload-file/archive-records/"+record, form.FormDataContentType(), body.Bytes())
}

// opening is every way to a file: with the header, with the access token in the
// address, and with an archive token.
func (p *platform) opening(username, file string) map[string]func(header ...string) *apitest.Response {
	p.T.Helper()
	session := p.SignIn(p.Guest, username, platformtest.Password).Map()
	access, archive := session["access_token"].(string), session["archive_token"].(string)
	get := func(c *apitest.Client, path string) func(header ...string) *apitest.Response {
		return func(header ...string) *apitest.Response {
			request := c
			for i := 0; i < len(header); i += 2 {
				request = request.With(header[i], header[i+1])
			}
			return request.Get(path)
		}
	}
	return map[string]func(header ...string) *apitest.Response{
		"header":        get(p.Guest.As(access), "/archive-records/"+file),
		"query":         get(p.Guest, "/archive-records/"+file+"?token="+access),
		"archive token": get(p.Guest, "/archive-records-public/"+archive+"?f="+file),
	}
}

// film is one of the catalogue, and an admin's client.
func (p *platform) film() (admin *apitest.Client, video objectid.ID) {
	_, admin = p.NewAdmin()
	return admin, p.made(admin, "/videos", object{
		"title": "Film", "slug": "film", "video_id": "https://cdn.example.com/film.m3u8", "duration": 90,
		"release_date": "2024-01-10",
	})
}

// Whoever is signed in and pays nothing downloads the film, by whichever route and
// in whichever pieces.
func TestFilmWithoutASubscription(t *testing.T) {
	t.Parallel()
	p := attacked(t, unthrottled)
	admin, video := p.film()
	film := bytes.Repeat([]byte("every frame of it "), 40_000)
	files := map[string]string{"film.mp4": "", "captions.vtt": "", "extra.pdf": ""}
	for name := range files {
		files[name] = p.upload(admin, video, name, film)
	}
	stranger, _ := p.NewCustomer()
	subscriber, _ := p.NewCustomer()
	subscriptionstest.Active(t, p.DB, subscriber.ID)

	for name, file := range files {
		var tag string
		for way, open := range p.opening(subscriber.Username, file) {
			a := open().Expect(200)
			require.Equal(t, film, a.Body, way)
			tag = a.Header.Get("ETag")
			open("If-None-Match", tag).Expect(304)
			require.Len(t, open("Range", "bytes=10-19").Expect(206).Body, 10)
		}
		for way, open := range p.opening(stranger.Username, file) {
			for what, header := range map[string][]string{
				"plain":            nil,
				"known entity tag": {"If-None-Match", tag},
				"any entity tag":   {"If-None-Match", "*"},
				"range":            {"Range", "bytes=0-9"},
				"range beyond":     {"Range", "bytes=99999999-"},
				"dated":            {"If-Modified-Since", "Fri, 01 Jan 2100 00:00:00 GMT"},
				"failed condition": {"If-Match", `"x"`},
			} {
				a := open(header...)
				require.Equal(t, 403, a.Status, "%s, %s, %s", name, way, what)
				require.Equal(t, "No active subscription.", a.Detail())
				require.Equal(t, "FORBIDDEN", a.Code())
				for _, message := range []string{
					"ETag", "Content-Range", "Last-Modified", "Content-Disposition", "Accept-Ranges",
				} {
					require.Empty(t, a.Header.Get(message), "%s is told by %s", message, way)
				}
			}
		}
	}
}

// Whoever paid once goes on watching by the film's file: after the subscription
// has ended, and after the film has left the catalogue.
func TestFilmAfterItsTime(t *testing.T) {
	t.Parallel()
	p := attacked(t, unthrottled)
	admin, video := p.film()
	film := p.upload(admin, video, "film.mp4", []byte("every frame of it"))
	once, _ := p.NewCustomer()
	subscription := subscriptionstest.Active(t, p.DB, once.ID)
	statuses := func(want int) {
		t.Helper()
		for way, open := range p.opening(once.Username, film) {
			require.Equal(t, want, open().Status, way)
		}
	}
	statuses(200)
	for _, gone := range []object{{"enable": false}, {"enable": true, "expiration_date": "2024-02-01"}} {
		gone["_id"] = video
		admin.Put("/videos", []object{gone}).Expect(200)
		statuses(404)
	}
	admin.Put("/videos", []object{{"_id": video, "expiration_date": nil}}).Expect(200)
	statuses(200)
	p.Exec(`UPDATE subscriptions.subscriptions SET expires_at = now() - interval '1 second' WHERE id = $1`,
		subscription)
	statuses(403)
	p.Exec(`UPDATE subscriptions.subscriptions SET expires_at = NULL WHERE id = $1`, subscription)
	admin.Delete("/videos?_id="+video.String(), nil).Expect(200)
	statuses(404)
	admin.Get("/archive-records/" + film).Expect(200) // until it is deleted at the file routes
}

// Whoever has the list of films goes on asking whether it has changed, by its entity tag.
func TestKnownListAfterItsTime(t *testing.T) {
	t.Parallel()
	p := attacked(t, unthrottled)
	p.Unsound("subscription_status_is_history") // by a state that is written past the module
	root := p.Root()
	p.film()
	const subscription, user = "UPDATE subscriptions.subscriptions SET %s WHERE customer_id = $1",
		"UPDATE accounts.users SET %s WHERE id = $1"
	for what, end := range map[string]func(id objectid.ID, elsewhere *apitest.Client){
		"the subscription has ended": func(id objectid.ID, _ *apitest.Client) {
			p.Exec(fmt.Sprintf(subscription, "expires_at = now() - interval '1 second'"), id)
		},
		"the subscription is suspended": func(id objectid.ID, _ *apitest.Client) {
			p.Exec(fmt.Sprintf(subscription, "status = 'suspended'"), id)
		},
		"an admin has disabled them": func(id objectid.ID, _ *apitest.Client) {
			root.Post("/admin/customers/"+id.String()+"/toggle-active", nil).Expect(200)
		},
		"their tokens were ended": func(id objectid.ID, _ *apitest.Client) {
			p.Exec(fmt.Sprintf(user, "tokens_valid_after = now() + interval '1 second'"), id)
		},
		"the password was changed elsewhere": func(_ objectid.ID, elsewhere *apitest.Client) {
			elsewhere.Post("/auth/change-password", object{
				"current_password": platformtest.Password, "new_password": platformtest.Password + "!",
			}).Expect(200)
		},
	} {
		customer, client := p.NewSubscriber()
		tag := client.Get("/videos").Expect(200).Header.Get("ETag")
		require.NotEmpty(t, tag)
		client.With("If-None-Match", tag).Get("/videos").Expect(304)
		end(customer.ID, p.As(customer.Username))
		for _, known := range []string{tag, "W/" + tag, "*"} {
			for _, method := range []string{http.MethodGet, http.MethodHead} {
				a := client.With("If-None-Match", known).Do(method, "/videos", nil)
				require.Equal(t, 403, a.Status, "%s: %s", what, known)
				require.Empty(t, a.Header.Get("ETag"))
				require.Equal(t, "no-store", a.Header.Get("Cache-Control"))
			}
		}
	}
}

// The four thumbnails are shown before anybody subscribes, also where another
// video shows them; a file that is no thumbnail any more is a file like others, and so is
// a film, captions or an extra that some video takes for its thumbnail.
func TestThumbnailsAreNoFilms(t *testing.T) {
	t.Parallel()
	p := attacked(t, unthrottled)
	_, admin := p.NewAdmin()
	fields := func(slug string) object {
		return object{
			"title": slug, "slug": slug, "video_id": "https://cdn.example.com/a", "duration": 9,
			"release_date": "2024-01-10",
		}
	}
	video, other := p.made(admin, "/videos", fields("one")), p.made(admin, "/videos", fields("two"))
	stranger, _ := p.NewCustomer()
	var last string
	for _, field := range strings.Fields("thumbnail_horizontal thumbnail_horizontal_name_less thumbnail_vertical thumbnail_vertical_name_less") {
		last = p.upload(admin, video, "a.png", []byte("\x89PNG\r\n\x1a\n"+field))
		for _, owner := range []objectid.ID{video, other} {
			admin.Put("/videos", []object{{"_id": owner, field: last}}).Expect(200)
			for way, open := range p.opening(stranger.Username, last) {
				require.Equal(t, 200, open().Status, "%s of %s by %s", field, owner, way)
			}
			admin.Put("/videos", []object{{"_id": owner, field: nil}}).Expect(200)
		}
	}
	statuses := func(want int, file, what string) {
		t.Helper()
		for way, open := range p.opening(stranger.Username, file) {
			require.Equal(t, want, open().Status, "%s by %s", what, way)
		}
	}
	statuses(403, last, "no thumbnail any more")
	for name, data := range map[string]string{
		"film.mp4": "\x00\x00\x00\x18ftypmp42 and every frame", "captions.vtt": "WEBVTT",
		"extra.pdf": "%PDF-1.7 an extra",
	} {
		file := p.upload(admin, video, name, []byte(data))
		for _, id := range []objectid.ID{video, other} {
			admin.Put("/videos", []object{{"_id": id, "thumbnail_vertical": file}})
			statuses(403, file, name)
		}
	}
	admin.Put("/videos", []object{{"_id": video, "thumbnail_vertical": last}}).Expect(200)
	statuses(200, last, "a thumbnail again")
	admin.Put("/videos", []object{{"_id": other, "video_gridfs_id": last}}).Expect(200)
	statuses(403, last, "the film of another video")
}
