package app_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"marquee/cmd/internal/app/platformtest"
	"marquee/platform/objectid"
	"marquee/testutil/apitest"
	"marquee/testutil/soak"
)

type fileImport struct {
	ID                                 objectid.ID `json:"_id"`
	State, Error                       string
	Total, Creates, Updates, Unchanged int
	Invalid, Written                   int
}

func (i fileImport) path() string { return "/admin/imports/" + i.ID.String() }

// checkFile uploads a file of videos.
func checkFile(client *apitest.Client, text string) *apitest.Response {
	return client.Send(http.MethodPost, "/admin/imports?filename=films.csv", "text/csv", []byte(text))
}

func (i *fileImport) awaitEnd(t *testing.T, client *apitest.Client) {
	t.Helper()
	require.Eventually(t, func() bool {
		client.Get(i.path()).Expect(http.StatusOK).JSON(i)
		return i.State != "running" && i.State != "checked"
	}, 2*time.Minute, 50*time.Millisecond)
}

// films is a file with so many new ones, from a number on.
func films(from, count int) string {
	var out strings.Builder
	out.WriteString("title,slug,video_id,duration,release_date\n")
	for i := from; i < from+count; i++ {
		fmt.Fprintf(&out, "Film %d,film-%d,https://v.example/%d,90,2024-01-10\n", i, i, i)
	}
	return out.String()
}

func TestAnImportIsCheckedThenWritten(t *testing.T) {
	t.Parallel()
	p := platformtest.New(t)
	root := p.Root()
	category := platformtest.FirstDoc(root.Post("/categories", []platformtest.Object{{"name": "Drama", "slug": "drama"}}))["_id"].(string)
	root.Post("/tags", []platformtest.Object{{"name": "Mar", "slug": "mar"}, {"name": "Sol", "slug": "sol"}})
	root.Post("/seasons", []platformtest.Object{{"name": "First", "slug": "first"}})
	old := platformtest.FirstDoc(root.Post("/videos", []platformtest.Object{{
		"title": "Old", "slug": "old", "video_id": "https://v.example/0", "duration": 10, "release_date": "2020-01-01",
		"description": "stays",
	}}))["_id"].(string)
	same := platformtest.FirstDoc(root.Post("/videos", []platformtest.Object{{
		"title": "Same", "slug": "same", "video_id": "https://v.example/1", "duration": 10, "release_date": "2020-01-01",
	}}))["_id"].(string)
	file := "\ufeff_id;title;slug;video_id;duration;release_date;enable;category_id;tags_name;season_name;tags\r\n" +
		";\"Ação; a \"\"nova\"\"\";acao;https://v.example/2;120;31/12/2024;FALSO;" + category + ";Mar|Sol;First;live | drama\r\n" +
		";;;;;;;;;;\r\n" +
		old + ";New name;old;https://v.example/0;10;2020-01-01;true;;;;\r\n" +
		same + ";Same;same;https://v.example/1;10;2020-01-01T00:00:00Z;1;;;;\r\n"
	var one fileImport
	checkFile(root, file).Expect(http.StatusOK).JSON(&one)
	require.Equal(t, fileImport{ID: one.ID, State: "checked", Total: 3, Creates: 1, Updates: 1, Unchanged: 1}, one)
	require.Equal(t, 2, p.Count("SELECT count(*) FROM catalog.videos"), "a dry run writes none")
	report := string(root.Get(one.path() + "/report").Expect(http.StatusOK).Body)
	require.Equal(t, "\ufeffline;outcome;_id;title;changes;errors\r\n"+
		"2;create;;\"Ação; a \"\"nova\"\"\";category_id|duration|enable|release_date|season_id|slug|tags|tags_id|title|video_id;\r\n"+
		"4;update;"+old+";New name;title;\r\n"+
		"5;unchanged;"+same+";Same;;\r\n", report)

	root.Post(one.path()+"/start", nil).Expect(http.StatusOK)
	require.Equal(t, http.StatusConflict, root.Post(one.path()+"/start", nil).Status)
	p.Work()
	one.awaitEnd(t, root)
	require.Equal(t, []any{"done", 2, ""}, []any{one.State, one.Written, one.Error})
	made := root.Get(`/videos?query={"slug":"acao"}`).Expect(http.StatusOK).Map()["docs"].([]any)[0].(map[string]any)
	require.Equal(t, `Ação; a "nova"`, made["title"])
	require.Equal(t, "2024-12-31T00:00:00.000Z", made["release_date"])
	require.Equal(t, false, made["enable"])
	require.Equal(t, []any{"Drama"}, made["category_name"])
	require.Equal(t, []any{"Mar", "Sol"}, made["tags_name"])
	require.Equal(t, []any{"live", "drama"}, made["tags"])
	require.Equal(t, "First", made["season_name"])
	require.Equal(t, 1, p.Count("SELECT count(*) FROM catalog.videos WHERE title = 'New name' AND description = 'stays'"),
		"a column that is not there leaves its field")
	require.Equal(t, 1, p.Count(`SELECT count(*) FROM accounts.audit_log WHERE action = 'video_create' AND request_id = $1
		AND record_id = $2`, one.ID, made["_id"]))
	require.Contains(t, string(root.Get(one.path()+"/report").Body), "2;create;"+made["_id"].(string)+";")
	_, other := p.NewAdmin()
	for _, path := range []string{"", "/rows", "/report", "/events"} {
		require.Equal(t, http.StatusNotFound, other.Get(one.path()+path).Status, "somebody else's")
	}
	require.Equal(t, http.StatusConflict, root.Post(one.path()+"/stop", nil).Status)
	require.Equal(t, http.StatusConflict, checkAndStart(t, root, file).Status, "by then its slug is taken")
}

func checkAndStart(t *testing.T, client *apitest.Client, file string) *apitest.Response {
	t.Helper()
	var one fileImport
	checkFile(client, file).Expect(http.StatusOK).JSON(&one)
	return client.Post(one.path()+"/start", nil)
}

func TestAnImportSaysWhatIsWrongByLineAndField(t *testing.T) {
	t.Parallel()
	p := platformtest.New(t)
	root := p.Root()
	root.Post("/tags", []platformtest.Object{{"name": "Twice", "slug": "a"}, {"name": "Twice", "slug": "b"}})
	there := platformtest.FirstDoc(root.Post("/videos", []platformtest.Object{{
		"title": "There", "slug": "there", "video_id": "https://v.example/0", "duration": 10, "release_date": "2020-01-01",
	}}))["_id"].(string)
	const head = "_id,title,slug,video_id,duration,release_date,tags_name,age_rating,register_update_date\n"
	const rest = ",https://v.example/1,90,2024-01-10,,,\n"
	lines := []struct{ line, field, says string }{
		{",,no-title" + rest, "title", "title is required"},
		{",Ok,Bad Slug" + rest, "slug", "slug has to be lower-case letters"},
		{",Ok,there" + rest, "slug", "slug is already taken"},
		{",Ok,one" + rest, "", ""},
		{",Ok,one" + rest, "slug", "slug is already taken by line 5"},
		{",Ok,two,ftp://v.example,90,2024-01-10,,,\n", "video_id", "video_id has to be an http or https address"},
		{",Ok,three,https://v.example,1.5,soon,,,\n", "duration", "duration has to be a whole number"},
		{",Ok,four,https://v.example,90,2024-01-10,Nowhere,,\n", "tags_name", "tags_name names an unknown tag: Nowhere"},
		{",Ok,five,https://v.example,90,2024-01-10,Twice,,\n", "tags_name", "tags_name names 2: give tags_id in place of Twice"},
		{",Ok,six,https://v.example,90,2024-01-10,,13,\n", "age_rating", "age_rating has to be L, 10"},
		{"xyz,Ok,seven" + rest, "_id", "_id has to be"},
		{"aaaaaaaaaaaaaaaaaaaaaaaa,Ok,eight" + rest, "_id", "_id names an unknown video"},
		{there + ",,there,https://v.example/0,10,2020-01-01,,,\n", "title", "title has to have at least 1 character"},
		{strings.ToUpper(there) + ",Ok,nine" + rest, "_id", "_id is in the file twice: line 14 has it too"},
		{",Ok,ten,https://v.example\n", "", "The line has 4 cells, and the header 9."},
		{",'=1+1,eleven,https://v.example,,2024-01-10,,,\n", "duration", "duration is required"},
	}
	file := head
	for _, l := range lines {
		file += l.line
	}
	var one fileImport
	checkFile(root, file).Expect(http.StatusOK).JSON(&one)
	var rows struct {
		Rows []struct {
			Line    int
			Outcome string
			Title   string
			Errors  []struct{ Field, Message string }
		}
	}
	root.Get(one.path() + "/rows").Expect(http.StatusOK).JSON(&rows)
	require.Len(t, rows.Rows, len(lines))
	for i, l := range lines {
		r := rows.Rows[i]
		require.Equal(t, i+2, r.Line)
		if l.says == "" {
			require.Equal(t, "create", r.Outcome)
			continue
		}
		require.Equal(t, "invalid", r.Outcome, l.line)
		require.Equal(t, l.field, r.Errors[0].Field, l.line)
		require.Contains(t, r.Errors[0].Message, l.says, l.line)
	}
	require.Len(t, rows.Rows[6].Errors, 2, "all that is wrong with a line")
	require.Equal(t, "=1+1", rows.Rows[15].Title, "the apostrophe of an export is none of the text")
	require.Contains(t, string(root.Get(one.path()+"/report").Body), ",'=1+1,", "which the report has again")
	refused := root.Post(one.path()+"/start", nil).Expect(http.StatusConflict)
	require.Contains(t, string(refused.Body), "The file has 15 lines with errors")
	require.Zero(t, p.Count("SELECT count(*) FROM jobs.river_job WHERE kind = 'catalog_run_import'"))
	root.Post(one.path()+"/stop", nil).Expect(http.StatusOK)

	stale := "_id,title,register_update_date\n" + there + ",Newer,2020-01-01T00:00:00Z\n"
	checkFile(root, stale).Expect(http.StatusOK).JSON(&one)
	require.Equal(t, 1, one.Invalid)
	require.Contains(t, string(root.Get(one.path()+"/report").Body), "it was changed after it was read")
}

func TestFilesThatAreNoneAreRefused(t *testing.T) {
	t.Parallel()
	p := platformtest.New(t)
	for says, file := range map[string]string{
		"has to begin with a header":                 "\ufeff",
		"at least one line besides the header":       "title,slug\n\n",
		"has an unknown column in its header: price": "title;price\nx;1\n",
		"has a column twice in its header: slug":     "slug,Slug\nx,y\n",
		"has both tags_id and tags_name":             "slug,tags_id,tags_name\nx,,\n",
		"has a column without a name: column 2":      "slug,,title\nx,,\n",
		"has to be UTF-8: line 3":                    "title,slug\nx,y\nA\xe7\xe3o,z\n",
		"may not hold the character U+0000: line 2":  "title,slug\n\x00,y\n",
		"cannot be read at line 2":                   "title,slug\nx\"y,z\n",
		"at most 20,000 lines":                       films(1, 20_001),
	} {
		res := checkFile(p.Root(), file)
		require.Equal(t, http.StatusUnprocessableEntity, res.Status, "%s: %s", says, res.Body)
		require.Contains(t, string(res.Body), says)
	}
	require.Equal(t, http.StatusRequestEntityTooLarge, checkFile(p.Root(), strings.Repeat("x", 16<<20+1)).Status)
	require.Equal(t, http.StatusUnsupportedMediaType,
		p.Root().Send(http.MethodPost, "/admin/imports", "application/json", []byte("{}")).Status)
	require.Zero(t, p.Count("SELECT count(*) FROM catalog.imports"))
}

// TestAnImportIsAllOrNothing: of one that is stopped, or whose connection is cut, or that finds a line refused which
// was good when it was checked, nothing is written; one that was cut is taken up again.
func TestAnImportIsAllOrNothing(t *testing.T) {
	t.Parallel()
	p := platformtest.New(t)
	root := p.Root()
	begin := func(file string) (one fileImport) {
		checkFile(root, file).Expect(http.StatusOK).JSON(&one)
		root.Post(one.path()+"/start", nil).Expect(http.StatusOK)
		return one
	}
	// hold keeps the catalogue's version, for which an import waits at its first line.
	hold := func() pgx.Tx {
		tx, err := p.DB.Begin(t.Context())
		require.NoError(t, err)
		_, err = tx.Exec(t.Context(), "SELECT 1 FROM catalog.version FOR UPDATE")
		require.NoError(t, err)
		return tx
	}
	const waiting = "FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"
	awaitWaiting := func() {
		require.Eventually(t, func() bool { return p.Count("SELECT count(*) "+waiting) > 0 }, time.Minute, 20*time.Millisecond)
	}
	late := begin(films(1, 450) + "Late,late,https://v.example/x,1,2024-01-10\n")
	root.Post("/videos", []platformtest.Object{{
		"title": "Before", "slug": "late", "video_id": "https://v.example/0", "duration": 10, "release_date": "2020-01-01",
	}}).Expect(http.StatusOK)
	p.Work()
	late.awaitEnd(t, root)
	require.Equal(t, []any{"failed", 0}, []any{late.State, late.Written})
	require.Contains(t, late.Error, "slug is already taken (line 452)")
	require.Equal(t, 1, p.Count("SELECT count(*) FROM catalog.videos"))

	held := hold()
	stopped := begin(films(1, 300))
	awaitWaiting()
	root.Post(stopped.path()+"/stop", nil).Expect(http.StatusOK)
	require.NoError(t, held.Rollback(t.Context()))
	held = hold()
	cut := begin(films(1, 300))
	awaitWaiting()
	require.Equal(t, 1, p.Count("SELECT count(*) FROM catalog.videos"), "nothing of the one that was stopped")
	p.Exec("SELECT pg_terminate_backend(pid) " + waiting)
	require.NoError(t, held.Rollback(t.Context()))
	cut.awaitEnd(t, root)
	require.Equal(t, []any{"done", 300}, []any{cut.State, cut.Written})
	require.Equal(t, 301, p.Count("SELECT count(*) FROM catalog.videos"))
	stopped.awaitEnd(t, root)
	require.Equal(t, []any{"stopped", 0}, []any{stopped.State, stopped.Written})
}

// TestAnImportAsksForRightsAnew: whoever started it and is disabled before it runs writes nothing.
func TestAnImportAsksForRightsAnew(t *testing.T) {
	t.Parallel()
	p := platformtest.New(t)
	user, admin := p.NewAdmin()
	var one fileImport
	checkFile(admin, films(1, 3)).Expect(http.StatusOK).JSON(&one)
	admin.Post(one.path()+"/start", nil).Expect(http.StatusOK)
	p.Exec("UPDATE accounts.users SET enable = false WHERE id = $1", user.ID)
	p.Work()
	one.awaitEnd(t, p.Root())
	require.Equal(t, "failed", one.State)
	require.Contains(t, one.Error, "Whoever began this may not do it any more")
	require.Zero(t, p.Count("SELECT count(*) FROM catalog.videos"))
}

func TestAnImportOfTenThousandTellsItsProgressLong(t *testing.T) {
	t.Parallel()
	soak.Long(t)
	p, _ := streaming(t)
	root := p.Root()
	var one fileImport
	checkFile(root, films(1, 10_000)).Expect(http.StatusOK).JSON(&one)
	require.Equal(t, 10_000, one.Creates)
	root.Post(one.path()+"/start", nil).Expect(http.StatusOK)
	told := listen(t, p.Guest.URL(), p.Token("root"), one.path()+"/events", "")
	e, _ := told.next()
	require.Equal(t, "import", e.Event)
	require.Equal(t, "running", e.Data["state"])
	p.Work()
	last := e
	for more := true; more; {
		if e, more = told.next(); more {
			last = e
		}
	}
	require.Equal(t, "done", last.Data["state"])
	require.EqualValues(t, 10_000, last.Data["written"])
	require.Equal(t, 10_000, p.Count("SELECT count(*) FROM catalog.videos"))
}
