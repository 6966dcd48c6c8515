package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestTokensAreWhatNoTwoRunsHaveAlike(t *testing.T) {
	t.Parallel()
	for text, kinds := range map[string][]string{
		"Subscription 730e4a7d2d8ae931c6738900 not found.": {"id"},
		"2031-03-03T15:00:13.718Z":                         {kindTime},
		"até 12/04/2031, 12:54":                            {kindHour},
		"pi_3SO7fHWaNks3YOHIw33U8gS2_secret_AbCdEf0123456789": {
			"gateway",
			"secret",
		},
		"http://127.0.0.1:8080/api/v1/subscriptions?qty_docs_page=1":                                  {"address"},
		"#7352d8ae24673b7b46513a2a-hDWvw4F-cHh0o7BffSrb9fA0rIE34XsZ52wbPts7Y8\r\n":                    {"undo"},
		"https://sandbox.asaas.com/i/qwertyuiopasdfgh":                                                {"invoice"},
		"the-general-1926-by-buster-keaton":                                                           {},
		"You already have an active subscription.":                                                    {},
		"A code was requested a moment ago. Wait 59 seconds.":                                         {kindWait},
		"00020101021226820014br.gov.bcb.pix2560pix-h.asaas.com/qr/cobv/2430da16-7f69630403986304B798": {"pix"},
	} {
		got := []string{}
		for _, found := range tokens(text, false) {
			got = append(got, found.kind)
		}
		require.Equal(t, kinds, got, text)
	}
	require.Len(t, tokens("Your code is 123456.", true), 1)
	require.Empty(t, tokens("123456 tickets", false))
}

func TestAnswersAreEqualButForNamesAndTimes(t *testing.T) {
	t.Parallel()
	const a, b, c, d = "730e4a7d2d8ae931c6738900", "730e4a7d2d8ae931c6738901", "831e4a7d2d8ae931c6738900", "831e4a7d2d8ae931c6738901"
	for name, example := range map[string]struct {
		was, is string
		differ  int
	}{
		"equal":                   {`{"x":1}`, `{"x":1}`, 0},
		"another id, kept":        {`[{"_id":"` + a + `"},"of ` + a + `"]`, `[{"_id":"` + c + `"},"of ` + c + `"]`, 0},
		"one id is two":           {`["` + a + `","` + a + `"]`, `["` + c + `","` + d + `"]`, 1},
		"two ids are one":         {`["` + a + `","` + b + `"]`, `["` + c + `","` + c + `"]`, 1},
		"some minutes later":      {`"2031-03-03T15:00:00Z"`, `"2031-03-03T15:09:00Z"`, 0},
		"a day later":             {`"2031-03-03T15:00:00Z"`, `"2031-03-04T15:00:00Z"`, 1},
		"now, on either machine":  {`"2026-01-02T10:00:00Z"`, `"2027-05-06T10:00:00Z"`, 0},
		"an epoch":                {`1930316400`, `1930316460`, 0},
		"a number":                {`2990`, `2991`, 1},
		"another message":         {`{"detail":"No."}`, `{"detail":"Yes."}`, 1},
		"a member is missing":     {`{"a":1,"b":2}`, `{"a":1}`, 1},
		"a member is new":         {`{"a":1}`, `{"a":1,"b":null}`, 1},
		"a longer list":           {`[1]`, `[1,2]`, 1},
		"null is not nothing":     {`{"a":null}`, `{}`, 1},
		"an id is no other thing": {`"` + a + `"`, `"none"`, 1},
	} {
		comparison := &comparison{
			there: map[string]string{}, back: map[string]string{},
			recorded: time.Date(2026, 1, 2, 9, 0, 0, 0, time.UTC),
			replayed: time.Date(2027, 5, 6, 9, 0, 0, 0, time.UTC),
		}
		found := comparison.responses(request{To: "api"}, response{Body: value(t, example.was)},
			response{Body: value(t, example.is)})
		require.Len(t, found, example.differ, name)
	}
	require.Len(t, new(comparison).responses(request{To: "api"}, response{Status: 200}, response{Status: 201}), 1)
}

func TestASlowerMachineIsLater(t *testing.T) {
	t.Parallel()
	c := &comparison{there: map[string]string{}, back: map[string]string{}}
	at := func(instant string) response { return response{Body: object{"now": instant}} }
	compare := func(to string) int {
		return len(c.responses(request{To: to}, at("2031-03-03T15:00:00Z"), at("2031-03-03T15:30:00Z")))
	}
	require.Equal(t, 1, compare("api"))
	require.Zero(t, compare("clock"))
	require.Zero(t, compare("api"))
}

func TestAListWithoutOrder(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "exceptions.txt")
	require.NoError(t, os.WriteFile(file, []byte("# why\nset\tapi GET /list\tb/docs\tthe order is by chance\n"), 0o600))
	exceptions, err := readExceptions(file)
	require.NoError(t, err)
	compare := func(path, was, is string) []difference {
		c := &comparison{there: map[string]string{}, back: map[string]string{}, exceptions: exceptions}
		return c.responses(request{
			To: "api", Method: "GET", Path: path,
		}, response{Body: value(t, was)}, response{Body: value(t, is)})
	}
	require.Empty(t, compare("/list", `{"docs":[{"n":1},{"n":2}]}`, `{"docs":[{"n":2},{"n":1}]}`))
	require.Len(t, compare("/list", `{"docs":[{"n":1},{"n":1}]}`, `{"docs":[{"n":1},{"n":2}]}`), 1)
	require.NotEmpty(t, compare("/other", `{"docs":[{"n":1},{"n":2}]}`, `{"docs":[{"n":2},{"n":1}]}`))
	require.NoError(t, os.WriteFile(file, []byte("any\tapi GET /list\tb\t \n"), 0o600))
	_, err = readExceptions(file)
	require.ErrorContains(t, err, "reason")
}

func TestRequestsReferToEarlierAnswers(t *testing.T) {
	t.Parallel()
	const was, is = "730e4a7d2d8ae931c6738900", "831e4a7d2d8ae931c6738900"
	recorded := []response{
		{Body: map[string]any{"users": map[string]any{"password": "Zx-_9"}}},
		{Body: map[string]any{"docs": []any{map[string]any{"a b": "of " + was}}}},
	}
	var known places
	for n, a := range recorded {
		known.collect(n, a, false)
	}
	req := request{Path: "/x/" + was, Body: `{"password":"Zx-_9","other":"` + is + `"}`}
	refers := known.referAll(req)
	require.Equal(t, "/x/⟦1 b/docs/0/a~2b 0⟧", refers.Path)
	require.Equal(t, `{"password":"⟦0 b/users/password⟧","other":"`+is+`"}`, refers.Body)
	replayed := []response{
		{Body: map[string]any{"users": map[string]any{"password": "other"}}},
		{Body: map[string]any{"docs": []any{map[string]any{"a b": "of " + is}}}},
	}
	x := resolver{
		recorded: func(n int) response { return recorded[n] }, replayed: func(n int) response { return replayed[n] },
		mails: func(int) bool { return false }, twin: func(string) (string, bool) { return "", false },
	}
	got := x.request(refers)
	require.Equal(t, "/x/"+is, got.Path)
	require.Equal(t, `{"password":"other","other":"`+is+`"}`, got.Body)
}

func value(t *testing.T, raw string) (v any) {
	t.Helper()
	body := readBody("application/json", []byte(raw))
	require.NotNil(t, body, raw)
	_, err := json.Marshal(body)
	require.NoError(t, err)
	return body
}

func TestARewordedSentenceIsEqual(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "exceptions.txt")
	require.NoError(t, os.WriteFile(file, []byte("reworded\tapi GET /a\tb(/.*)?\tis over.\thas ended.\n"), 0o600))
	exceptions, err := readExceptions(file)
	require.NoError(t, err)
	differ := func(path, is string) int {
		c := &comparison{there: map[string]string{}, back: map[string]string{}, exceptions: exceptions}
		return len(c.responses(request{To: "api", Method: "GET", Path: path},
			response{Body: object{"detail": "It is over."}}, response{Body: object{"detail": is}}))
	}
	require.Zero(t, differ("/a", "It has ended."))
	require.Equal(t, 1, differ("/a", "It ended."))
	require.Equal(t, 1, differ("/b", "It has ended."))
}
