package catalog_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"marquee/modules/catalog/catalogtest"
	"marquee/platform/httpapi"
	"marquee/platform/query"
)

// responseTime is what the contract promises for any list (docs/contract/collections.md, Bounds).
const responseTime = 2 * time.Second

// attack is the query string of one request. status is the answer that the
// contract demands, or 0 where both 200 and 422 are right.
type attack struct {
	params string
	status int
}

func param(name, value string) string { return url.QueryEscape(name) + "=" + url.QueryEscape(value) }

// filters are attacks in the parameter query.
func filters(status int, texts ...string) []attack {
	var all []attack
	for _, text := range texts {
		all = append(all, attack{param("query", text), status})
	}
	return all
}

// sorts are attacks in the parameter sort.
func sorts(status int, texts ...string) []attack {
	var all []attack
	for _, text := range texts {
		all = append(all, attack{param("sort", text), status})
	}
	return all
}

func quoted(text string) string {
	raw, _ := json.Marshal(text)
	return string(raw)
}

// times repeats an item with commas between.
func times(item string, n int) string { return strings.TrimSuffix(strings.Repeat(item+",", n), ",") }

// nested puts n layers around a filter.
func nested(before, inner, after string, n int) string {
	return strings.Repeat(before, n) + inner + strings.Repeat(after, n)
}

// injections are texts that mean something to Postgres, JSON paths or its regular
// expressions.
var injections = []string{
	`'`, `"`, `\`, `''; --`, `'; DROP TABLE catalog.videos; --`, `' OR '1'='1`, `1) OR (1=1`, `") OR ("1"="1`,
	`' UNION SELECT version() --`, `'||pg_sleep(5)||'`, `1; SELECT pg_sleep(5)`, `$1`, `$1::int`, `$$`,
	`$tag$;--$tag$`, `/*`, `*/ OR TRUE --`, `E'\\x27'`, `%27%20OR%201=1`, `t.title`, `t.search`, `catalog.videos`,
	`(SELECT password_hash FROM accounts.users LIMIT 1)`, `title" COLLATE "C`, `title'::text`,
	`@ == 1) || (1 == 1`, `$.* ? (@ like_regex ".*")`, `***=.*`, `(?e)x`, `U&'\0027'`, "\u02bc OR 1=1",
	"\uff07 OR 1=1", "\x01\x1b[31m", "\u202e\u2028\ufeff",
}

// injected puts each of the texts in every place where a client's text may stand.
func injected() []attack {
	var all []attack
	for _, text := range injections {
		q := quoted(text)
		all = append(all, filters(0, text, q, `{`+q+`:1}`, `{"title.`+q[1:]+`:1}`, `{`+q+`:{"$ne":null}}`,
			`{"title":{`+q+`:1}}`, `{"title":{"$`+q[1:]+`:1}}`)...)
		all = append(all, filters(200, `{"title":`+q+`}`, `{"title":{"$in":[`+q+`]}}`, `{"duration":`+q+`}`,
			`{"_id":`+q+`}`, `{"tags":{"$all":[`+q+`]}}`,
			`{"title":{"$gt":`+q+`}}`, `{"title":[`+q+`]}`, `{"enable":{"$ne":`+q+`}}`, `{"$comment":`+q+`}`)...)
		all = append(all, filters(0, `{"title":{"$regex":`+q+`}}`, `{"title":{"$regex":"a","$options":`+q+`}}`,
			`{"title":{"$type":`+q+`}}`)...)
		all = append(all, filters(422, `{"register_update_date":`+q+`}`, `{"_id":{"$oid":`+q+`}}`,
			`{"duration":{"$numberInt":`+q+`}}`)...)
		all = append(all, sorts(0, text, `{`+q+`:1}`, `{"title.`+q[1:]+`:-1}`)...)
		all = append(all, sorts(422, `{"title":`+q+`}`)...)
		for _, name := range []string{"_id", "qty_docs_page", "current_page", "docs_range"} {
			all = append(all, attack{param(name, text), 422})
		}
		all = append(all, attack{param(text, text), 0})
	}
	return all
}

// edges are each limit of a filter (docs/contract/filters.md, Bounds) and one beyond it.
func edges() []attack {
	var all []attack
	for _, edge := range []struct {
		max  int
		text func(n int) string
	}{
		{query.MaxQueryBytes, func(n int) string { return `{}` + strings.Repeat(" ", n-2) }},
		{query.MaxNesting, func(n int) string { return nested(`{"$or":[`, `{}`, `]}`, n) }},
		{query.MaxNesting, func(n int) string { return `{"title":` + nested(`{"$not":`, `{"$gt":"a"}`, `}`, n) + `}` }},
		{
			query.MaxNesting, func(n int) string {
				return `{"tags":` + nested(`{"$elemMatch":`, `{"$gt":"a"}`, `}`, n) +
					`}`
			},
		},
		{query.MaxContainers, func(n int) string { return `{"title":` + nested(`[`, `1`, `]`, n-1) + `}` }},
		{query.MaxConditions, func(n int) string { return `{"$or":[` + times(`{"duration":1}`, n-1) + `]}` }},
		{query.MaxMembers, func(n int) string { return `{"duration":{"$in":[` + times("1", n) + `]}}` }},
		{query.MaxMembers, func(n int) string { return `{"tags":{"$nin":[` + times(`"a"`, n) + `]}}` }},
		{query.MaxMembers, func(n int) string { return `{"tags":{"$all":[` + times(`"a"`, n) + `]}}` }},
		{query.MaxNumberLength, func(n int) string { return `{"duration":0.` + strings.Repeat("1", n-2) + `}` }},
		{query.MaxPathBytes, func(n int) string { return `{"` + strings.Repeat("a", n) + `":1}` }},
		{query.MaxPathSegments, func(n int) string { return `{"a` + strings.Repeat(".a", n-1) + `":1}` }},
		{query.MaxPatterns, func(n int) string { return `{"title":{"$in":[` + times(`{"$regex":"a"}`, n) + `]}}` }},
		{512, func(n int) string { return `{"title":{"$regex":"` + strings.Repeat("a", n) + `"}}` }},
		{32, func(n int) string { return `{"title":{"$regex":"` + nested("(", "a", ")", n) + `"}}` }},
		{255, func(n int) string { return fmt.Sprintf(`{"title":{"$regex":"a{%d}"}}`, n) }},
		{1000, func(n int) string { return fmt.Sprintf(`{"title":{"$regex":"(?:a{100}){9}a{%d}"}}`, n-901) }},
	} {
		all = append(all, filters(200, edge.text(edge.max))...)
		all = append(all, filters(422, edge.text(edge.max+1))...)
	}
	keys := func(n int) string {
		var parts []string
		for i := range n {
			parts = append(parts, fmt.Sprintf(`"k%d":1`, i))
		}
		return `{` + strings.Join(parts, ",") + `}`
	}
	blanks := func(n int) string { return `{}` + strings.Repeat(" ", n-2) }
	all = append(all, sorts(200, keys(query.MaxSortKeys), blanks(query.MaxSortBytes))...)
	all = append(all, sorts(422, keys(query.MaxSortKeys+1), blanks(query.MaxSortBytes+1))...)
	return append(all,
		attack{
			param("qty_docs_page", "1000"), 200,
		}, attack{param("qty_docs_page", "1001"), 422}, attack{param("qty_docs_page", "0"), 422},
		attack{
			param("current_page", "1000000"), 200,
		}, attack{param("current_page", "1000001"), 422}, attack{param("current_page", "-1"), 422},
		attack{
			param("docs_range", "(0, 1000)"), 200,
		}, attack{
			param("docs_range", "(0, 1001)"), 422,
		}, attack{param("docs_range", "(9223372036854775807, 9223372036854775808)"), 422},
		attack{param("qty_docs_page", "9223372036854775808"), 422},
	)
}

// malformed are texts that are no filter, values that no column holds, operators
// that run code, and names that mean something elsewhere.
func malformed() []attack {
	all := filters(422,
		"{\"title\":\"a\x00b\"}", `{"title":"a\u0000b"}`, `{"a\u0000b":1}`, `{"title":{"$regex":"a\u0000"}}`,
		"{\"title\":\"\xff\xfe\"}", "{\"\xc0\xaf\":1}",
		"{\"title\":\"\xed\xa0\x80\"}", `{"duration":1e999}`, `{"duration":-1e999}`,
		`{"duration":`+strings.Repeat("9", 65)+`}`, `{"duration":NaN}`, `{"duration":Infinity}`,
		`{"duration":0x10}`, `{"duration":01}`, `{"duration":{"$numberLong":"9223372036854775808"}}`,
		`{"duration":{"$numberInt":"2147483648"}}`,
		`{"duration":{"$numberDouble":"NaN"}}`, `{"title":"a","title":"b"}`, `{"title":{"$ne":"a","$ne":"b"}}`,
		`{"title":"a","\u0074itle":"b"}`,
		`{"$where":"sleep(5000)"}`, `{"title":{"$where":"1"}}`, `{"$expr":{"$gt":[1,0]}}`,
		`{"$function":{"body":"f","args":[],"lang":"js"}}`, `{"title":{"$function":{}}}`,
		`{"$accumulator":{}}`, `{"$jsonSchema":{}}`, `{"$text":{"$search":"a"}}`, `{"title":{"$expr":1}}`,
		`{"$or":[{"$where":"1"}]}`, `{"title":{"$elemMatch":{"$where":"1"}}}`,
		`{"title":{"$not":{"$where":"1"}}}`, `{"title":{"$code":"1"}}`, `{"title":{"$regex":{"$where":"1"}}}`,
		`{"title":{"$in":[{"$where":"1"}]}}`, `{"$or":{}}`, `{"$or":[]}`,
		`{"title":{"$in":{"length":1}}}`, `{"title":{"$in":"a"}}`, `{`, `{}{}`, `[]`, `[{"title":1}]`, `"x"`, `1`,
		`{"title":}`, `{'title':1}`, `{title:1}`, `{"title":1,}`, `{"a":1}/**/`,
		`{"":1}`, `{".":1}`, `{"a..b":1}`, `{"title.":1}`, `{"$":1}`, `{"title.$":1}`, `{"title":{"$":1}}`,
		strings.Repeat(`[`, 20000), strings.Repeat(`{"a":`, 10000), strings.Repeat(`{"$or":[`, 8000),
		strings.Repeat(`{"title":{"$not":`, 4000),
	)
	all = append(all, filters(200,
		`{"title":"\ud800"}`, `{"title":"\udfff\ud800"}`, `{"\ud800":1}`, `{"duration":9223372036854775808}`,
		`{"duration":-9223372036854775809}`, `{"duration":{"$gt":1e300}}`,
		`{"duration":{"$lt":-1e300}}`, `{"duration":{"$gte":1e-300}}`,
		`{"duration":{"$in":[1e30,-1e30,0.5,2147483648]}}`, `{"episode_number":{"$ne":1e100}}`,
		`{"tags.99999999999999999999":"a"}`,
		`{"__proto__":1}`, `{"constructor":1}`, `{"prototype":1}`, `{"constructor.prototype.admin":true}`,
		`{"__proto__.enable":true}`, `{"toString":1}`, `{"hasOwnProperty":{"$exists":true}}`,
		`{"title":{"constructor":1}}`, `{"title":{"__proto__":{}}}`, `{"title":"__proto__"}`,
		`{"password":{"$exists":true}}`, `{"search":{"$ne":null}}`,
	)...)
	all = append(all, sorts(422, "{\"a\x00\":1}", `{"a\u0000":1}`, "{\"\xff\":1}", `{"title":1,"title":-1}`,
		`{"title":2}`, `{"title":1e0000000001}`, `{"title":{"$meta":"textScore"}}`,
		`{"$where":1}`, `{"title":"asc"}`, `{"title":null}`, `[["title",1]]`, `title`, `{"title":9223372036854775808}`,
		`{"a..b":1}`, strings.Repeat(`{"a":`, 400))...)
	return append(append(all, sorts(200, `{"__proto__":1}`, `{"constructor":-1}`, `{"password_hash":1}`, `{"\ud800":1}`,
		`{"tags.0":1}`)...),
		attack{
			"query={}&query={}", 422,
		}, attack{
			"sort={}&sort={}", 422,
		}, attack{
			"_id=f&_id=f", 422,
		}, attack{"qty_docs_page=1&qty_docs_page=1", 422}, attack{"current_page=0&current_page=0", 422},
		attack{
			"docs_range=(0,1)&docs_range=(0,1)", 422,
		}, attack{
			"query=%", 422,
		}, attack{"query=%zz", 422}, attack{"query=%ff", 422}, attack{"sort=%c0%af", 422}, attack{"query=%00", 422},
		attack{
			"query={};sort={}", 422,
		}, attack{
			"query[$where]=1", 0,
		}, attack{"query[]=1", 0}, attack{"__proto__[x]=1", 200}, attack{"query=&sort=", 200}, attack{"_id=%00", 422},
	)
}

// patterns are regular expressions that backtracking engines choke on, and those
// whose syntax is not taken.
func patterns() []attack {
	var all []attack
	for _, pattern := range []string{
		`(a+)+$`, `(a*)*b`, `^(a|aa)+$`, `(a|a?)+$`, `(.*)*$`, `(.*a){20}`, `^(([a-z])+.)+[A-Z]([a-z])+$`, `(x+x+)+y`,
		`([a-zA-Z]+)*!`, `(?:a?){50}a{50}`, `.*.*.*.*.*.*=.*`, `(?:.{0,30}a){30}`, `((a{1,20}){1,20}){1,2}`,
		`[\p{L}\p{N}]{15}[^\p{L}]`, `(?i)(?:[a-z]{0,25}é){20}$`, `^.{255}.{255}.{255}$`, `(?:a|b|c|d|e){200}z`,
		`\b\w+\b.*\b\w+\b.*\bz\b`,
	} {
		all = append(all, filters(0, `{"description":{"$regex":`+quoted(pattern)+`}}`,
			`{"title":{"$not":{"$regex":`+quoted(pattern)+`,"$options":"i"}}}`,
			`{"$or":[`+times(`{"description":{"$regex":`+quoted(pattern)+`}}`, query.MaxPatterns)+`]}`)...)
	}
	for _, pattern := range []string{
		`(`, `)`, `[`, `[z-a]`, `*`, `a**`, `(a)\1`, `(?=a)`, `(?<!a)b`, `(?R)`, `(?>a)`, `(?#x)`, `(*VERB)`, `\`,
		`\u00e9`, `[[:<:]]`, `***=a`, `***:a`, `a{1000}`, `((a{200}){200}){200}`, `(?e)a`,
	} {
		all = append(all, filters(422, `{"title":{"$regex":`+quoted(pattern)+`}}`)...)
	}
	return append(all, filters(422, `{"title":{"$options":"i"}}`, `{"title":{"$regex":"a","$options":"e"}}`,
		`{"title":{"$regex":1}}`, `{"title":{"$regex":["a"]}}`)...)
}

// leaks are words of Postgres, pgx, Go and of the schema that no answer may hold
// unless the client wrote them.
var leaks = regexp.MustCompile(`(?i)sqlstate|pgx|pgconn|syntax error|near "|relation |goroutine|panic|runtime error|\.go:\d|invalid (input|character|byte)|regexp|could not determine|search_path|catalog\.|\$\d`)

// requireContract checks an answer against the formats of docs/errors.md.
func requireContract(a attack, status int, raw []byte) error {
	var body struct {
		Docs       *[]json.RawMessage  `json:"docs"`
		Pagination *map[string]any     `json:"pagination"`
		Detail     []map[string]any    `json:"detail"`
		Error      *httpapi.ErrorCoded `json:"error"`
	}
	wrong := func(what string) error { return fmt.Errorf("%s: %d %.600s to %.600s", what, status, raw, a.params) }
	switch {
	case a.status != 0 && status != a.status ||
		a.status == 0 && status != http.StatusOK && status != http.StatusUnprocessableEntity:
		return wrong("status")
	case !utf8.Valid(raw) || json.Unmarshal(raw, &body) != nil:
		return wrong("not the contract's JSON")
	case status == http.StatusOK && (body.Docs == nil || body.Pagination == nil || body.Error != nil):
		return wrong("not an envelope")
	case status == http.StatusOK:
		return nil
	case len(body.Detail) == 0 || body.Error == nil || body.Error.Code != "VALIDATION_ERROR" ||
		body.Error.Message == "":
		return wrong("not a validation error")
	}
	given, _ := url.QueryUnescape(a.params)
	for _, word := range leaks.FindAllString(string(raw), -1) {
		if !strings.Contains(strings.ToLower(given), strings.ToLower(strings.Trim(word, `\"`))) {
			return wrong("leaks " + word)
		}
	}
	return nil
}

// strike sends an attack to a collection and checks the answer and its time. An answer that is late each time is; one
// that is so once came from a machine that stood still.
func (b *bundle) strike(ctx context.Context, path string, a attack) (err error) {
	for range 3 {
		if err = b.strikeOnce(ctx, path, a); !errors.Is(err, context.DeadlineExceeded) {
			return err
		}
	}
	return err
}

func (b *bundle) strikeOnce(ctx context.Context, path string, a attack) error {
	ctx, cancel := context.WithTimeout(ctx, responseTime)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, b.client.URL()+httpapi.Prefix+path, http.NoBody)
	if err != nil {
		return err
	}
	req.URL.RawQuery = a.params
	req.Header.Set("Authorization", "Bearer admin")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return fmt.Errorf("%.300s: %w", a.params, err)
	}
	defer resp.Body.Close()
	raw, err := io.ReadAll(resp.Body)
	if err != nil {
		return fmt.Errorf("%.300s: %w", a.params, err)
	}
	return requireContract(a, resp.StatusCode, raw)
}

// TestHostileInput sends what attackers and fuzzers send. Every request is answered
// within two seconds, 200 or 422 in the contract's format, with nothing of the
// database or of Go in it; and the server, its rows and its answers are the same
// afterwards.
func TestHostileInput(t *testing.T) {
	t.Parallel()
	b := setup(t)
	catalogtest.Videos(t, b.db, 500)
	_, err := b.db.Exec(t.Context(),
		`UPDATE catalog.videos SET description = repeat('a', 5000) || 'b' WHERE duration < 40`)
	require.NoError(t, err)
	catalogtest.Category(t, b.db, "News")
	before := b.find(`{"duration":{"$gt":100}}`, `{"_id":1}`)
	require.NotEmpty(t, before.Docs)

	for name, attacks := range map[string][]attack{
		"injections": injected(), "limits": edges(), "malformed": malformed(), "patterns": patterns(),
	} {
		for _, path := range []string{"/videos", "/categories"} {
			group, ctx := errgroup.WithContext(t.Context())
			group.SetLimit(2) // so that a request's two seconds are its own
			for _, a := range attacks {
				group.Go(func() error { return b.strike(ctx, path, a) })
			}
			require.NoError(t, group.Wait(), "%s at %s", name, path)
		}
	}

	require.Equal(t, before.values("_id"), b.find(`{"duration":{"$gt":100}}`, `{"_id":1}`).values("_id"))
	require.Equal(t, 500, b.find("", "").Page.Total)
}

// The checks of TestHostileInput find what they look for.
func TestHostileInput_checks(t *testing.T) {
	t.Parallel()
	refused := func(message string) []byte {
		return []byte(`{"detail":[{"loc":["query"],"msg":` + quoted(message) +
			`,"type":"x"}],"error":{"code":"VALIDATION_ERROR","message":` + quoted(message) + `,"timestamp":"x"}}`)
	}
	a := attack{params: param("query", "x")}
	require.NoError(t, requireContract(a, 422, refused("query: is not valid JSON (offset 1)")))
	require.ErrorContains(t, requireContract(a, 422, refused(`ERROR: syntax error at or near "x" (SQLSTATE 42601)`)),
		"leaks")
	require.ErrorContains(t, requireContract(a, 422, refused("list.go:12: panic")), "leaks")
	require.ErrorContains(t, requireContract(a, 500, []byte(`{"detail":"Internal Server Error"}`)), "status")
	require.ErrorContains(t, requireContract(a, 422, []byte(`{"detail":"no"}`)), "not the contract's JSON")
	require.ErrorContains(t, requireContract(a, 200, []byte(`{}`)), "not an envelope")
	require.ErrorContains(t, requireContract(attack{a.params, 422}, 200, []byte(`{}`)), "status")
}
