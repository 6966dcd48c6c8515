package attacks

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"marquee/testutil/apitest"
)

// sent writes a request byte by byte as it stands, closes the sending half and returns
// the answer's status.
func (p *platform) sent(request string) int {
	p.T.Helper()
	statuses := p.statuses(request, true)
	require.NotEmpty(p.T, statuses)
	return statuses[0]
}

// statuses writes bytes that the server may take for several requests, and returns the
// statuses until it closes; half tells it first that no more will come.
func (p *platform) statuses(requests string, half bool) (statuses []int) {
	p.T.Helper()
	conn, err := net.Dial("tcp", strings.TrimPrefix(p.Guest.URL(), "http://"))
	require.NoError(p.T, err)
	defer conn.Close()
	require.NoError(p.T, conn.SetDeadline(time.Now().Add(time.Minute)))
	_, err = conn.Write([]byte(requests))
	require.NoError(p.T, err)
	if half {
		require.NoError(p.T, conn.(*net.TCPConn).CloseWrite())
	}
	for from := bufio.NewReader(conn); ; {
		res, err := http.ReadResponse(from, nil)
		if err != nil { // the end
			return statuses
		}
		_, _ = io.Copy(io.Discard, res.Body)
		require.NoError(p.T, res.Body.Close())
		statuses = append(statuses, res.StatusCode)
	}
}

// Bodies that end too soon or are badly chunked fill the log with errors that are none of
// ours, and the monitoring with 5xx.
func TestBrokenBodiesAreOurErrors(t *testing.T) {
	t.Parallel()
	p := attacked(t, unthrottled)
	_, admin := p.NewAdmin()
	const head = "Host: api.example.com\r\nContent-Type: application/json\r\n"
	for _, target := range []string{
		"POST /api/v1/auth/forgot-password", "POST /api/v1/customers/signup",
		"POST /api/v1/store/purchase/checkout/gwb/pix",
	} {
		for what, framed := range map[string]string{
			"shorter than announced": "Content-Length: 500\r\n\r\n" + `{"email":"a@example.com"`,
			"a size that is none":    "Transfer-Encoding: chunked\r\n\r\nzz\r\n{}\r\n0\r\n\r\n",
			"a size below nothing":   "Transfer-Encoding: chunked\r\n\r\n-2\r\n{}\r\n0\r\n\r\n",
			"a size beyond all":      "Transfer-Encoding: chunked\r\n\r\nfffffffffffffffff\r\n{}\r\n0\r\n\r\n",
			"a chunk without end":    "Transfer-Encoding: chunked\r\n\r\n2\r\n{}",
			"a chunk cut short":      "Transfer-Encoding: chunked\r\n\r\nff\r\n{}\r\n",
		} {
			require.Equal(t, http.StatusBadRequest, p.sent(target+" HTTP/1.1\r\n"+head+framed), "%s with %s", target,
				what)
		}
	}
	_, customer := p.NewCustomer()
	customer.Post("/customers/me/subscribe", object{}).Expect(http.StatusNotImplemented)
	admin.Get("/health").Expect(http.StatusOK)
	require.NotContains(t, p.Logged(), `"level":"ERROR"`)
}

// Dates at the end of what can be written are beyond what can be kept once they are in UTC;
// an offset of a day is none.
func TestDatesBeyondTheLastYear(t *testing.T) {
	t.Parallel()
	p := attacked(t, unthrottled)
	_, admin := p.NewAdmin()
	for _, date := range []string{
		"9999-12-31T23:59:59-14:00", "0001-01-01T00:00:00+14:00", "10000-01-01T00:00:00Z", "9999-12-31T23:59:60Z",
		"2026-02-30T00:00:00Z", "2027-01-01T00:00:00+24:00", "2027-01-01T00:00:00-24:59", "2027-01-01T00:00:00+14:60",
	} {
		for what, sent := range map[string]struct {
			path  string
			body  object
			field string
		}{
			"a promo code": {
				path:  "/admin/promo-codes",
				body:  object{"title": "A", "code_type": "registration", "code": "LAST", "expires_at": date},
				field: "expires_at",
			},
			"an event": {path: "/events", body: object{"title": "A", "event_date": date}, field: "event_date"},
			"a video": {
				path: "/videos",
				body: object{
					"title": "A", "slug": "a", "video_id": "https://cdn.example.com/a", "duration": 9,
					"release_date": "2024-01-10", "expiration_date": date,
				},
				field: "expiration_date",
			},
		} {
			a := admin.Post(sent.path, []object{sent.body})
			require.Equal(t, http.StatusUnprocessableEntity, a.Status, "%s until %s: %s", what, date, a.Body)
			require.Contains(t, string(a.Body), sent.field, "%s until %s", what, date)
		}
		a := admin.Put("/subscriptions", []object{{"_id": "66f0a1b2c3d4e5f607182a01", "expires_at": date}})
		require.Equal(t, http.StatusUnprocessableEntity, a.Status, "a subscription until %s: %s", date, a.Body)
		require.Contains(t, string(a.Body), "expires_at")
		for _, filter := range []string{`{"register_date":{"$gte":%q}}`, `{"register_date":%q}`} {
			a := admin.Get("/customers?query=" + escaped(fmt.Sprintf(filter, date)))
			require.Less(t, a.Status, 500, "%s: %s", date, a.Body)
		}
	}
	admin.Post("/events", []object{{
		"title": "As far as offsets go", "event_date": "2027-01-01T00:00:00+23:59",
	}}).Expect(http.StatusOK)
	require.NotContains(t, p.Logged(), `"level":"ERROR"`)
}

// Numbers that a float64 takes for whole ones are stored as what nobody sent.
func TestNumbersThatAreNearlyWhole(t *testing.T) {
	t.Parallel()
	p := attacked(t, unthrottled)
	_, admin := p.NewAdmin()
	season := func(slug, number string) *apitest.Response {
		return admin.Post("/seasons", fmt.Sprintf(`[{"name":%[1]q,"slug":%[1]q,"number":%[2]s}]`, slug, number))
	}
	for _, number := range []string{
		"1.00000000000000000001", "0.99999999999999999999", "1e-999999999", "-1e-999999999", "10e-2", "1.5",
		"1e99999999999999999999", "1e19", "9223372036854775808", `"1"`, "true",
	} {
		a := season("refused", number).Expect(http.StatusUnprocessableEntity)
		require.Equal(t, "number", a.Field(), number)
	}
	slug := 'a'
	for number, want := range map[string]int{
		"7": 7, "7.0": 7, "70e-1": 7, "0.7E+1": 7, "7.00000000000000000000": 7, "-0.0": 0, "0e999999999": 0,
	} {
		season(string(slug), number).Expect(http.StatusOK)
		require.Equal(t, 1, p.Count(`SELECT count(*) FROM catalog.seasons WHERE slug = $1 AND number = $2`,
			string(slug), want), number)
		slug++
	}
}

// A body that says it is packed is read by one as what it says, by another as it stands.
func TestBodiesThatSayTheyArePacked(t *testing.T) {
	t.Parallel()
	p := attacked(t, unthrottled)
	_, admin := p.NewAdmin()
	record := p.made(admin, "/seasons", object{"name": "One", "slug": "one"})
	for coding, refused := range map[string]bool{
		"gzip": true, "br": true, "deflate": true, "x": true, "identity, gzip": true, "": false, "identity": false,
	} {
		packed := admin.With("Content-Encoding", coding)
		for what, a := range map[string]*apitest.Response{
			"JSON of anybody":  packed.Post("/auth/forgot-password", object{"email": "a@example.com"}),
			"JSON of an admin": packed.Post("/seasons", []object{{"name": "Two"}}),
			"a form":           packed.PostForm("/token", url.Values{"username": {"a"}, "password": {"b"}}),
			"an upload":        p.uploading(packed, record.String(), "a.txt", []byte("a")),
		} {
			require.Equal(t, refused, a.Status == http.StatusUnsupportedMediaType, "%s, %s: %d %s", what, coding,
				a.Status, a.Body)
			if refused {
				require.Equal(t, "The body has to be sent without Content-Encoding.", a.Detail(), what)
			}
		}
		packed.Send(http.MethodPost, "/webhooks/gwa", "application/json", []byte("{}")).Expect(http.StatusUnauthorized)
		packed.Get("/health").Expect(http.StatusOK)
	}
}

// Two lengths of one message are two messages to whoever believes the other one.
func TestMessagesOfTwoLengths(t *testing.T) {
	t.Parallel()
	p := attacked(t, unthrottled)
	const head = "POST /api/v1/auth/forgot-password HTTP/1.1\r\nHost: api.example.com\r\nContent-Type: application/json\r\n"
	people := 0 // each is mailed once
	numbered := func(request string) string {
		people++
		return strings.ReplaceAll(request, "ab@", fmt.Sprintf("%02d@", people))
	}
	const chunked = "1a\r\n" + `{"email":"ab@example.com"}` + "\r\n0\r\n\r\n"
	for framing, want := range map[string]int{
		"Content-Length: 26\r\nContent-Length: 9\r\n\r\n" + `{"email":"ab@example.com"}`: http.StatusBadRequest,
		"Transfer-Encoding: gzip, chunked\r\n\r\n" + chunked:                             http.StatusNotImplemented,
		"Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n" + chunked:     http.StatusNotImplemented,
		"Content-Length: 9\r\nTransfer-Encoding: chunked\r\n\r\n" +
			chunked: http.StatusOK, // by its chunks
		"Content-Length: 900\r\nTransfer-Encoding: chunked\r\n\r\n" + chunked: http.StatusOK,
		"Content-Length: x\r\nTransfer-Encoding: chunked\r\n\r\n" + chunked:   http.StatusBadRequest,
	} {
		require.Equal(t, []int{want}, p.statuses(numbered(head+"Connection: close\r\n"+framing), false), framing)
	}
	// No handler sees that there was a Content-Length: net/http drops it, and reads on where the chunks end.
	const next = "GET /api/v1/health HTTP/1.1\r\nHost: api.example.com\r\nConnection: close\r\n\r\n"
	for _, length := range []string{"0", "9", "900"} {
		require.Equal(t, []int{
			http.StatusOK, http.StatusOK,
		}, p.statuses(numbered(head+"Content-Length: "+length+"\r\nTransfer-Encoding: chunked\r\n\r\n"+chunked+next),
			false), length)
	}
}

// Each object of a body may be wrong in many ways, and each way is told: a small body must not become a large answer.
func TestABodyOfVeryManyWrongObjects(t *testing.T) {
	t.Parallel()
	p := attacked(t, unthrottled)
	many := func(n int, one string) string { return "[" + strings.Repeat(one+",", n-1) + one + "]" }
	p.Guest.Post("/customers/signup", many(200_000, "{}")).Expect(http.StatusRequestEntityTooLarge)
	p.Guest.Post("/customers/signup", `[{"username":`+many(200_000, "1")+`}]`).Expect(http.StatusUnprocessableEntity)
	a := p.Guest.Post("/customers/signup", many(1000, "{}")).Expect(http.StatusUnprocessableEntity)
	require.Less(t, len(a.Body), 10_000)
}
