package app_test

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"marquee/modules/payments/paymentstest"
)

// What attackers send: whatever an attack brings that is new stands here as well, so that
// every route meets it.

// numbers are JSON numbers at and beyond the bounds of Go's and of Postgres'.
var numbers = []string{
	"0", "-0", "-1", "1", "0.1", "1e0", "1E2", "9223372036854775807", "9223372036854775808",
	"-9223372036854775808", "-9223372036854775809", "2147483648", "-2147483649", "18446744073709551616",
	"99999999999999999999999999", "1e400", "-1e400", "1e-400", "1e300", "1.7976931348623157e308",
	"0.30000000000000004", "100000001", "100000000.005", "9007199254740993", "1e1000000000",
	"123456789012345678901234567890.123456789012345678901234567890", "NaN", "Infinity", "0x10", "01", "+1",
	"1_000", "1.00000000000000000001", "1e-999999999",
}

// moments are dates and times at and beyond the bounds of Go's, JSON's and Postgres'.
var moments = []string{
	"9999-12-31T23:59:59-14:00", "9999-12-31T23:59:59Z", "9999-12-31T23:59:59.999999999-23:59",
	"0000-01-01T00:00:00+14:00", "0000-01-01T00:00:00Z", "0001-01-01T00:00:00+23:59", "0001-01-01T00:00:00Z",
	"-0001-01-01T00:00:00Z", "10000-01-01T00:00:00Z", "294277-01-01T00:00:00Z", "292277026596-12-04T15:30:08Z",
	"2024-02-30T00:00:00Z", "2023-02-29", "2024-13-01", "2024-00-00", "0000-00-00", "2016-12-31T23:59:60Z",
	"2024-01-01T24:00:00Z", "2018-11-04T00:00:00", "2018-11-04T00:30:00-03:00", "2024-01-01T00:00:00+99:99",
	"2027-01-01T00:00:00+24:00", "2024-01-01 00:00:00", "1970-01-01T00:00:00Z", "9999-12-31", "0001-01-01",
	"0000-01-01", "4714-11-24", "infinity", "-infinity", "now", "today", "epoch", "20240101T000000Z", "2024-W01-1",
	"2024-001", "1e9", "9999-12", "0001-01", "0000-00", "9999", "0000",
}

// texts are what no field of people should hold, and what breaks parsers, patterns and pages.
// No card's number is among them: a gateway's event that names one is kept as it came.
var texts = []string{
	"", " ", "\u00a0", "\t\r\n", "a\x00b", "\x01\x02\x1b[31m", "\x7f", "\u0085", "\u2028\u2029", "\u200b",
	"\u200b\u200c\u200d\u2060\ufeff", "a\u200db", "\u202egnp.exe", "\u2066a\u2069", "\u061c", "\u00ad",
	"\U000e0041", "\ufffe\uffff", "\U0010ffff", "\u0430dmin", "ad\u043cin", "\u1d43\u1d48",
	"\uff41\uff44\uff4d\uff49\uff4e", "\u0130\u0131\u017f\u212a", "\ufdfa", "e" + strings.Repeat("\u0301", 3_000),
	"👩‍👩‍👧‍👦", "\U0001f1e7\U0001f1f7", "admin", "root", "support", "Suporte", "null", "undefined", "true",
	"[object Object]", "${jndi:ldap://x/a}", "{{7*7}}", "<%= 7*7 %>", "%s%n%x", "%00", "%c0%ae",
	"../../../../etc/passwd", "..\\..\\", "C:\\con", "file:///etc/passwd", "http://169.254.169.254/",
	"http://127.0.0.1:5432/", "javascript:alert(1)", "data:text/html,x", "<script>alert(1)</script>",
	"\"><img src=x onerror=a>", "' OR 1=1--", "'; DROP TABLE users;--", "\\'", "\\", "`id`", "$(id)", "|id", ";id",
	"=1+1", "@SUM(A1)", "+1", "-1", "a@b", "a@b.c\r\nBcc: x@example.com", "\"a b\"@example.com", "a@[127.0.0.1]",
	strings.Repeat("a", 300) + "@example.com", "@", "a@xn--", "+5511\u200b987654321", "+00000000000",
	"00000000000", "11111111111", "52998224725", "(a+)+$", "(?=a)", "[[:alpha:]]{1,9999}", ".*.*.*.*.*x", "(", "[",
	"\\1", "{\"$where\":\"1\"}", "$gt", "__proto__", "66f0a1b2c3d4e5f607182a01", "66F0A1B2C3D4E5F607182A01",
	"000000000000000000000000", "ffffffffffffffffffffffff", "66f0a1b2c3d4e5f607182a0", "zzzzzzzzzzzzzzzzzzzzzzzz",
	"0", "123456", "000000", "password", "12345678",
}

// raws are JSON values, and what looks like them.
var raws = []string{
	"null", "true", "false", "{}", "[]", "[null]", "[[]]", "[{}]", `{"$gt":""}`, `{"$ne":null}`, `{"":""}`,
	`{"a":{"a":{"a":{}}}}`, `[[],[]]`, `"\ud800"`, `"\udc00\ud800"`, `"\u0000"`, `"\x"`, `"`, `'a'`, `undefined`,
	`{"a":1,}`, `[1,]`, `/**/1`, `1 2`, "\"\xff\xfe\"", "\"\xed\xa0\x80\"", "\"\n\"",
	`"` + strings.Repeat("x", 70_000) + `"`, strings.Repeat("[", 200) + strings.Repeat("]", 200),
	strings.Repeat("[", 20_000), strings.Repeat(`{"a":`, 5_000) + "1" + strings.Repeat("}", 5_000),
	"[" + strings.Repeat("1,", 20_000) + "1]",
}

// wholes are bodies that are none.
var wholes = []string{
	"", " ", "null", "[]", "{}", "[null]", "[{}]", "[[]]", `"x"`, "1", "{", "[", `{"`, `{"a`, `{"a":`, `{} {}`,
	"{}\x00", "\x00", "\ufeff{}", "{}//", "\xff\xfe{\x00}\x00", "a=1&b=2", "<xml/>", "--x\r\n\r\n--x--",
	"[" + strings.Repeat("{},", 2_000) + "{}]", strings.Repeat("[", 100_000), strings.Repeat(`{"a":`, 30_000),
	`{"_id":"66f0a1b2c3d4e5f607182a01","_id":"66f0a1b2c3d4e5f607182a01"}`,
}

// queryJSON are filters and orders of the collections.
var queryJSON = []string{
	`{`, `[]`, `null`, `1`, `"x"`, `{}`, `{"a":1,"a":2}`, `{"$where":"1"}`, `{"$and":[]}`, `{"$or":[{}]}`,
	`{"$and":{}}`, `{"$not":{}}`, `{"_id":{"$gt":""}}`, `{"_id":{"$in":[]}}`, `{"_id":{"$in":[null,1,"x",{}]}}`,
	`{"_id":null}`, `{"password":{"$regex":"^a"}}`, `{"password_hash":{"$ne":null}}`,
	`{"title":{"$regex":"(a+)+$"}}`, `{"title":{"$regex":"(?=a)"}}`, `{"title":{"$regex":"\\1"}}`,
	`{"title":{"$regex":"[","$options":"i"}}`, `{"title":{"$options":"i"}}`, `{"title":{"$regex":".{0,9999}"}}`,
	`{"title":"\u0000"}`, `{"title\u0000":1}`, `{"a.b.c.d.e.f.g.h":1}`, `{".":1}`, `{"$":1}`, `{"":1}`,
	`{"'--":1}`, `{"register_date":{"$gte":"9999-12-31T23:59:59-14:00"}}`,
	`{"register_date":{"$lt":"0000-01-01T00:00:00+14:00"}}`, `{"register_date":"-infinity"}`,
	`{"created_at":{"$gt":{"$date":"x"}}}`,
	`{"created_at":{"$gt":{"$date":{"$numberLong":"9223372036854775808"}}}}`, `{"register_date":{"$gte":1e400}}`,
	`{"duration":1e400}`, `{"duration":9223372036854775808}`, `{"duration":-0.0000000000000000001}`,
	`{"amount":{"$mod":[0,0]}}`, `{"enable":{"$exists":"x"}}`, `{"tags":{"$all":[]}}`, `{"tags":{"$size":-1}}`,
	`{"tags":{"$elemMatch":{}}}`, `{"title":1,"TITLE":2}`, `{"title":-1}`, `{"title":0}`, `{"title":"asc"}`,
	`[["title",1]]`, `{"title":1e400}`, `{"$natural":1}`, "{\"title\":\"\xff\"}", `{"title":"\ud800"}`,
	strings.Repeat(`{"$and":[`, 200) + "{}" + strings.Repeat("]}", 200), strings.Repeat(`{"$not":`, 500),
	`{"_id":{"$in":[` + strings.Repeat(`"66f0a1b2c3d4e5f607182a01",`, 800) + `"x"]}}`,
	`{"$or":[` + strings.Repeat(`{"title":{"$regex":"a.*b"}},`, 150) + `{}]}`, strings.Repeat("{", 5_000),
}

// queryTails are appended to an address as they are.
var queryTails = []string{
	"?", "&", "?%", "?%zz=1", "?a=%ff%fe", "?query=%7B", "?query=%00", "&query=%7B%7D&query=%7B%7D", ";a=1",
	"?a;b", "#x", "?" + strings.Repeat("a=1&", 2_000), "?page=1&page=2", "?token=x", "?archive_token=x",
	"?token=" + strings.Repeat("e", 9_000), "?_id=%E2%80%8B", "//", "/", "/..", "/%2e%2e/users", "%00", "%2f",
}

// pathParts stand where an id does.
var pathParts = []string{
	"0", "-1", "%00", "%ff", "..", ".", "%2e%2e", "%2F", "a%0d%0ab", "99999999999999999999",
	"66F0A1B2C3D4E5F607182A01", "66f0a1b2c3d4e5f607182a01", "zzzzzzzzzzzzzzzzzzzzzzzz", "%E2%80%AE", "null", "*",
	"%27", "%7B%7D", "customers", "users",
}

var methods = []string{"PATCH", "HEAD", "OPTIONS", "TRACE", "GET", "POST", "PUT", "DELETE", "PROPFIND", "get", "X"}

var authorizations = []string{
	"", "Bearer", "Bearer ", "Bearer x", "bearer eyJhbGciOiJub25lIn0.eyJ1c2VyX2lkIjoiMSJ9.",
	"Bearer eyJhbGciOiJub25lIn0.eyJ1c2VyX2lkIjoiMSJ9.", "Bearer a.b.c", "Bearer ..",
	"Bearer " + strings.Repeat("A", 8_000), "Basic cm9vdDpyb290", "Negotiate x", "Bearer \xff\xfe",
	"Bearer eyJhbGciOiJIUzI1NiIsImtpZCI6Ii4uLy4uL2Rldi9udWxsIn0.eyJzdWIiOiI2NmYwYTFiMmMzZDRlNWY2MDcxODJhMDEiLCJleHAiOjllOTk5fQ.AA",
	"Bearer eyJhbGciOiJIUzI1NiJ9.e30.", "Bearer null",
}

// oddHeaders are further headers, by name.
var oddHeaders = map[string][]string{
	"Range": {
		"bytes=0-", "bytes=-1", "bytes=-0", "bytes=5-2", "bytes=9223372036854775807-", "bytes=0-9223372036854775808",
		"bytes=99999999999999999999-", "bytes=0-0,1-1," + strings.Repeat("0-,", 500), "bytes=", "bytes", "items=0-1",
		"bytes=a-b", "bytes=--1", "bytes=0-0,-1",
	},
	"If-None-Match":       {"*", `"x"`, `W/"x"`, `"`, "x,,", strings.Repeat(`"a",`, 2_000), "\xff"},
	"If-Match":            {"*", `"x"`, `W/"`},
	"If-Range":            {`"x"`, "x", "Mon, 02 Jan 0000 00:00:00 GMT"},
	"If-Modified-Since":   {"Fri, 01 Jan 2100 00:00:00 GMT", "x", "Mon, 01 Jan 0001 00:00:00 GMT"},
	"If-Unmodified-Since": {"Fri, 01 Jan 1900 00:00:00 GMT", "x"},
	"Idempotency-Key": {
		"a", "", " ", strings.Repeat("k", 300), strings.Repeat("k", 9_000), "\xff\xfe", "a\x01b", "ключ",
		"00000000-0000-0000-0000-000000000000", "'--",
	},
	"Accept": {
		"text/html", "application/xml", "*/*;q=0", "application/json;q=x", "x", strings.Repeat("a/b,", 500),
	},
	"Accept-Language":  {"pt-BR", "x", "*", strings.Repeat("a-", 500), "en;q=9"},
	"Accept-Encoding":  {"gzip", "identity;q=0, *;q=0", "br, zstd", "x"},
	"Content-Encoding": {"gzip", "deflate", "br", "identity", "x"},
	"Content-Type": {
		"", "application/json; charset=utf-16", "application/json;", "application/json; boundary=x", "text/json",
		"application/problem+json", "multipart/form-data", "multipart/form-data; boundary=",
		"multipart/form-data; boundary=" + strings.Repeat("b", 500), "application/x-www-form-urlencoded", "x",
		"application/json, text/plain", "/",
	},
	"X-Forwarded-For": {
		"127.0.0.1", "::1", "203.0.113.7, 10.0.0.1", "x", "0.0.0.0", "::ffff:1.2.3.4%eth0",
		strings.Repeat("1.1.1.1,", 1_000), "' OR 1=1", "[::1]:80",
	},
	"X-Http-Method-Override": {"DELETE"},
	"X-Original-Url":         {"/api/v1/users"},
	"X-Forwarded-Host":       {"evil.example"},
	"X-Forwarded-Proto":      {"x"},
	"X-Request-Id":           {"a", strings.Repeat("r", 5_000), "\xff", "a b"},
	"Origin":                 {"null", "https://evil.example", "x"},
	"Referer":                {"\xff"},
	"User-Agent":             {"", strings.Repeat("u", 9_000), "\xff\xfe", "() { :; }; id"},
	"Cookie": {
		"marquee_device=x", "marquee_device=" + strings.Repeat("A", 4_000), "=", ";;;", "marquee_device=\"\xff\"",
	},
	"Device-Token":                   {"x", "a.b.c", strings.Repeat("A", 5_000), "\xff"},
	"Expect":                         {"100-continue", "x"},
	"Upgrade":                        {"websocket", "h2c"},
	"Te":                             {"trailers"},
	"Last-Event-Id":                  {"x", "9223372036854775808"},
	"Forwarded":                      {"for=\"[::1]\""},
	"Access-Control-Request-Method":  {"DELETE"},
	"Access-Control-Request-Headers": {strings.Repeat("x-a,", 500)},
	"Max-Forwards":                   {"0"},
	"Cache-Control":                  {"no-cache"},
}

// chunkings are bodies in pieces, most of them not as HTTP has it; %s is the body.
var chunkings = []string{
	"%[2]x\r\n%[1]s\r\n0\r\n\r\n", "%[2]x\r\n%[1]s\r\n", "%[2]x\r\n%[1]s", "zz\r\n%[1]s\r\n0\r\n\r\n",
	"-1\r\n%[1]s\r\n0\r\n\r\n", "ffffffffffffffff\r\n%[1]s\r\n0\r\n\r\n",
	"fffffffffffffffff\r\n%[1]s\r\n0\r\n\r\n", "%[2]x\n%[1]s\n0\n\n", "%[2]x;x=\"\r\n%[1]s\r\n0\r\n\r\n",
	"%[2]x;" + strings.Repeat("e", 20_000) + "\r\n%[1]s\r\n0\r\n\r\n",
	"0%[2]x\r\n%[1]s\r\n0\r\nContent-Length: 5\r\nAuthorization: Bearer x\r\n\r\n",
	"%[2]x\r\n%[1]sXX\r\n0\r\n\r\n", "\r\n\r\n", "0\r\n\r\n", "0\r\n", "1\r\n{\r\n1\r\n",
	"%[2]x \r\n%[1]s\r\n0\r\n\r\n", "0x%[2]x\r\n%[1]s\r\n0\r\n\r\n",
}

// uploads are multipart bodies of the boundary x.
var uploads = []string{
	"--x\r\nContent-Disposition: form-data; name=\"file\"; filename=\"a.png\"\r\nContent-Type: image/png\r\n\r\n\x89PNG\r\n\x1a\n\r\n--x--\r\n",
	"--x\r\nContent-Disposition: form-data; name=\"file\"; filename=\"../../a\x00.png\"\r\n\r\n<svg onload=a>\r\n--x--\r\n",
	"--x\r\nContent-Disposition: form-data; name=\"file\"; filename=\"\u202egnp.exe\"\r\n\r\nMZ\r\n--x--\r\n",
	"--x\r\nContent-Disposition: form-data; name=\"file\"; filename=\"" + strings.Repeat("n", 3_000) +
		"\"\r\n\r\nx\r\n--x--\r\n",
	"--x\r\nContent-Disposition: form-data; name=\"file\"; filename=\"\xff\xfe\"\r\n\r\nx\r\n--x--\r\n",
	"--x\r\nContent-Disposition: form-data; name=\"file\"\r\n\r\nx\r\n--x--\r\n",
	"--x\r\nContent-Disposition: form-data; name=\"other\"; filename=\"a\"\r\n\r\nx\r\n--x--\r\n",
	"--x\r\n\r\nx\r\n--x--\r\n", "--x--\r\n", "--x", "", "x",
	"--x\r\nContent-Disposition: form-data; name=\"file\"; filename=\"a\"\r\n\r\nnever ended",
	"--x\r\nContent-Disposition: form-data; name=\"file\"; filename=\"\"\r\n\r\n\r\n--x--\r\n",
	strings.Repeat("--x\r\nContent-Disposition: form-data; name=\"file\"; filename=\"a\"\r\n\r\nx\r\n", 1_200) +
		"--x--\r\n",
	"--x\r\n" + strings.Repeat("X-Header: a\r\n", 2_000) +
		"Content-Disposition: form-data; name=\"file\"; filename=\"a\"\r\n\r\nx\r\n--x--\r\n",
	"--x\r\nContent-Disposition: form-data; name=\"file\"; filename=\"bomb.png\"\r\n\r\n\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\x7f\xff\xff\xff\x7f\xff\xff\xff\x08\x06\x00\x00\x00\r\n--x--\r\n",
	"--x\r\nContent-Disposition: form-data; name=\"file\"; filename=\"a.gif\"\r\n\r\nGIF89a\xff\xff\xff\xff\x80\x00\x00\r\n--x--\r\n",
	"--x\r\nContent-Disposition: form-data; name=\"file\"; filename=\"a.jpg\"\r\nContent-Transfer-Encoding: base64\r\n\r\n\xff\xd8\xff\xe0\xff\xff\r\n--x--\r\n",
}

// signEvent authenticates a webhook call as its gateway would, or as who cannot.
func (m *mischief) signEvent(route string, q *attackRequest) {
	at := time.Now().Add(pick(m, []time.Duration{0, 0, 0, 0, 0, -time.Hour, time.Hour, -25 * time.Hour, 1e18, -1e18}))
	mac := hmac.New(sha256.New, []byte(paymentstest.GWBSecret))
	fmt.Fprintf(mac, "%d.%s", at.Unix(), q.body)
	token, signature := paymentstest.GWAToken, fmt.Sprintf("t=%d,v1=%s", at.Unix(), hex.EncodeToString(mac.Sum(nil)))
	if m.once(4) {
		token = pick(m, []string{
			"", "x", token + "x", token[1:], strings.ToUpper(token), strings.Repeat("t", 9_000), "\xff",
		})
		signature = pick(m, []string{
			"", "x", "t=,v1=", "t=1,v1=zz", signature + "00", signature[:len(signature)-1],
			"v1=" + strings.Repeat("0", 64), "t=9223372036854775808,v1=00", "t=-9223372036854775808,v1=00",
			strings.Repeat("v1=00,", 1_000) + signature, "t=1," + signature, signature + ",t=1",
			strings.Replace(signature, "v1", "v0", 1), strings.Repeat("t", 9_000), "\xff",
		})
	}
	if strings.HasSuffix(route, "gwa") {
		q.header.Set("Asaas-Access-Token", token)
		return
	}
	q.header.Set("Stripe-Signature", signature)
}

// parameter is a value of a query parameter.
func (m *mischief) parameter(name string) string {
	switch {
	case name == "query" || name == "sort":
		return pick(m, queryJSON)
	case strings.Contains(name, "date") || strings.Contains(name, "start") || strings.Contains(name, "end") ||
		strings.Contains(name, "month") || strings.Contains(name, "year"):
		return pick(m, moments)
	case m.once(3):
		return pick(m, numbers)
	case m.once(4):
		return pick(m, moments)
	}
	return m.text()
}

// pathPart stands where an id does.
func (m *mischief) pathPart() string {
	if m.once(3) {
		return url.PathEscape(m.text())
	}
	return pick(m, pathParts)
}

// headers adds some that no client sends.
func (m *mischief) headers(q *attackRequest) {
	for range m.IntN(3) {
		name := pick(m, headerNames)
		if name == "Content-Type" && !m.once(8) || name == "Expect" && !m.once(4) {
			continue // hides what else is wrong
		}
		q.header.Set(name, pick(m, oddHeaders[name]))
	}
	if q.header.Get("Expect") == "x" || q.header.Get("Upgrade") != "" {
		q.broken = true
	}
	if m.once(100) {
		q.header[pick(m, []string{
			"X A", "X\x00", ":a", "", "Content-Length", "Transfer-Encoding", "Host",
		})] = []string{pick(m, []string{"x", "", "-1", "1\r\n2", "chunked, identity"})}
		q.broken = true
	}
}

// framing says how long the body is, seldom the truth.
func (m *mischief) framing(q *attackRequest) {
	if m.once(60) {
		q.hangsUp, q.broken = true, true
	}
	if q.method == http.MethodGet && !m.once(40) || !m.once(12) {
		return
	}
	q.broken, q.cut = true, true
	switch m.IntN(4) {
	case 0:
		q.framed = fmt.Appendf(nil, "Content-Length: %d\r\n\r\n%s", len(q.body)+1+m.IntN(2_000), q.body)
	case 1:
		q.framed = fmt.Appendf(nil, "Transfer-Encoding: %s\r\nContent-Length: %d\r\n\r\n%x\r\n%s\r\n0\r\n\r\n",
			pick(m, []string{
				"chunked", "identity", "x, chunked", "chunked\r\nTransfer-Encoding: x",
			}), len(q.body), len(q.body), q.body)
	case 2:
		q.framed = fmt.Appendf(nil, "Content-Length: %s\r\n\r\n%s", pick(m, []string{
			"-1", "x", "99999999999999999999", "9223372036854775807", "1\r\nContent-Length: 2", "0", "",
		}), q.body)
	default:
		q.framed = fmt.Appendf([]byte("Transfer-Encoding: chunked\r\n\r\n"), pick(m, chunkings), q.body, len(q.body))
	}
}

// upload is a multipart body.
func (m *mischief) upload(header http.Header) []byte {
	header.Set("Content-Type", "multipart/form-data; boundary=x")
	return []byte(pick(m, uploads))
}
