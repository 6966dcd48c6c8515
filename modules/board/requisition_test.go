package board_test

import (
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

const cards = "/admin/requisitions"

func TestCardsAreMadeChangedAndMoved(t *testing.T) {
	t.Parallel()
	b := setup(t)
	cols := b.made("To do", "Done")
	made := docs[card](b.admin.Post(cards, `[
		{"name":"plain","status_id":"`+cols[0].ID.String()+`","files":[{"file_id":"x"}],"status_name":"ignored"},
		{"name":"full","status_id":"`+cols[1].ID.String()+
		`","description":["one","two"],"priority":"when there is time"}]`))
	plain, full := made[0], made[1]
	require.Equal(t, "To do", plain.StatusName)
	require.Equal(t, "medium", plain.Priority)
	require.Equal(t, []string{}, plain.Description)
	require.Empty(t, plain.Files)
	require.NotNil(t, plain.Files)
	require.Equal(t, b.user.ID, plain.CreatedBy)
	require.Equal(t, plain.CreatedAt, plain.UpdatedAt)
	require.Equal(t, []string{"one", "two"}, full.Description)
	require.Equal(t, "when there is time", full.Priority)

	moved := docs[card](b.admin.Put(cards, `[{"_id":"`+plain.ID.String()+`","status_id":"`+cols[1].ID.String()+
		`","files":[]}]`))[0]
	require.Equal(t, "Done", moved.StatusName)
	require.Equal(t, "plain", moved.Name)
	require.Equal(t, plain.CreatedAt, moved.CreatedAt)
	require.True(t, moved.UpdatedAt.After(plain.UpdatedAt))

	// What a client has read it may send back.
	whole := b.admin.Get(cards + "?_id=" + full.ID.String()).Map()["docs"]
	require.Equal(t, full.Description, docs[card](b.admin.Put(cards, whole))[0].Description)

	docs[column](b.admin.Put("/admin/requisition-status", `[{"_id":"`+cols[1].ID.String()+`","name":"Finished"}]`))
	renamed := b.read(plain.ID)
	require.Equal(t, "Finished", renamed.StatusName)
	require.Equal(t, moved.UpdatedAt, renamed.UpdatedAt, "nobody has changed the card")
}

func TestCardsAreListed(t *testing.T) {
	t.Parallel()
	b := setup(t)
	cols := b.made("To do", "Done")
	for _, name := range []string{"a", "b", "c"} {
		b.card(name, cols[0].ID)
	}
	d := b.card("d", cols[1].ID)
	first := b.card("e", cols[0].ID)
	docs[card](b.admin.Put(cards, `[{"_id":"`+first.ID.String()+`","priority":"urgent"}]`))
	b.attached(d.ID, "Relatório.pdf", []byte("x"))

	require.Equal(t, "d", b.listed(cards, "", "")[0], "the last change, an attachment here, comes first")
	require.Equal(t, []string{"d"}, b.listed(cards, `{"status_id":"`+strings.ToUpper(cols[1].ID.String())+`"}`, ""))
	require.Equal(t, []string{"d"}, b.listed(cards, `{"status_id":{"$oid":"`+cols[1].ID.String()+`"}}`, ""))
	require.Equal(t, []string{"d"}, b.listed(cards, `{"status_name":"Done"}`, ""))
	require.Equal(t, []string{"e"}, b.listed(cards, `{"priority":"urgent"}`, ""))
	require.Equal(t, []string{"a", "b"}, b.listed(cards, `{"name":{"$in":["a","b"]}}`, `{"name":1}`))
	file := b.read(d.ID).Files[0]
	require.Equal(t, []string{"d"},
		b.listed(cards, `{"files.file_id":"`+strings.ToUpper(file.FileID.String())+`"}`, ""))
	require.Equal(t, []string{"d"}, b.listed(cards, `{"files.filename":{"$regex":"^relat","$options":"i"}}`, ""))
	require.Equal(t, []string{"d"},
		b.listed(cards, `{"files":{"$elemMatch":{"size":{"$gte":1},"content_type":"text/plain"}}}`, ""))
	require.Len(t, b.listed(cards, `{"files":{"$size":0}}`, ""), 4)
	require.Equal(t, "d", b.listed(cards, "", `{"status_name":1,"name":-1}`)[0])

	page := b.admin.Get(cards + "?current_page=1&qty_docs_page=2").Map()["pagination"].(map[string]any)
	require.Equal(t, map[string]any{
		"current_page": 1.0, "qty_docs_page": 2.0, "qty_of_pages": 3.0, "qty_total_docs": 5.0,
	}, page)
	require.Equal(t, 10.0, b.admin.Get(cards).Map()["pagination"].(map[string]any)["qty_docs_page"])
	b.admin.Get(cards + "?query=" + url.QueryEscape(`{"$where":"1"}`)).Expect(422)
	b.admin.Get(cards + "?_id=nonsense").Expect(422)
	b.admin.Get(cards + "?qty_docs_page=0").Expect(422)
}

func TestCardErrors(t *testing.T) {
	t.Parallel()
	b := setup(t)
	col := b.made("To do")[0].ID.String()
	target := b.card("held", b.made("Done")[0].ID)
	const unknown = "66f0a1b2c3d4e5f607182a01"
	for body, field := range map[string]string{
		`[{"status_id":"` + col + `"}]`:                                           "name",
		`[{"name":"","status_id":"` + col + `"}]`:                                 "name",
		`[{"name":"` + strings.Repeat("é", 201) + `","status_id":"` + col + `"}]`: "name",
		`[{"name":"a"}]`:                               "status_id",
		`[{"name":"a","status_id":null}]`:              "status_id",
		`[{"name":"a","status_id":"nonsense"}]`:        "status_id",
		`[{"name":"a","status_id":"` + unknown + `"}]`: "status_id",
		`[{"name":"a","status_id":"` + col + `"},{"name":"b","status_id":"` + unknown + `"}]`:   "status_id",
		`[{"name":"a","status_id":"` + col + `","priority":"` + strings.Repeat("x", 51) + `"}]`: "priority",
		`[{"name":"a","status_id":"` + col + `","priority":null}]`:                              "priority",
		`[{"name":"a","status_id":"` + col + `","description":"text"}]`:                         "description",
		`[{"name":"a","status_id":"` + col + `","description":[1]}]`:                            "description[0]",
		`[{"name":"a","status_id":"` + col + `","description":null}]`:                           "description",
		`[{"name":"a","status_id":"` + col + `","assignee":"x"}]`:                               "assignee",
	} {
		res := b.admin.Post(cards, body).Expect(422)
		require.Equal(t, "VALIDATION_ERROR", res.Code(), body)
		require.Equal(t, field, res.Field(), body)
	}
	require.Equal(t, []string{"held"}, b.listed(cards, "", ""), "all or nothing")

	res := b.admin.Put(cards, `[{"_id":"`+target.ID.String()+`","status_id":"`+unknown+`"}]`).Expect(422)
	require.Equal(t, "status_id", res.Field())
	require.Equal(t, "status_id names an unknown requisition status", res.Detail())
	require.Equal(t, "NOT_FOUND", b.admin.Put(cards, `[{"_id":"`+unknown+`","name":"x"}]`).Expect(404).Code())
	require.Equal(t, "NOT_FOUND", b.admin.Get(cards+"?_id="+unknown).Expect(404).Code())
	require.Equal(t, "NOT_FOUND", b.admin.Delete(cards, `[{"_id":"`+unknown+`"}]`).Expect(404).Code())
	b.admin.Send("POST", cards, "text/plain", []byte(`[{}]`)).Expect(415)
	b.admin.Post(cards, `{"name":"a","status_id":"`+col+`"}`).Expect(422)
	docs[card](b.admin.Post(cards,
		`[{"name":"`+strings.Repeat("é", 200)+`","status_id":"`+col+`","priority":"`+strings.Repeat("x", 50)+`"}]`))
}

func TestCardsAreFoundByTheirWords(t *testing.T) {
	t.Parallel()
	b := setup(t)
	col := b.made("To do")[0].ID
	b.card("Trocar a legenda do episódio", col)
	docs[card](b.admin.Post(cards, []map[string]any{{
		"name": "Outro", "status_id": col, "description": []string{"a legenda está errada"},
	}}))
	b.card("Nada", col)
	var found []string
	for _, c := range docs[card](b.admin.Get("/search/requisitions?q=LEGENDAS")) {
		found = append(found, c.Name)
	}
	require.Equal(t, []string{"Trocar a legenda do episódio", "Outro"}, found, "a name counts more")
	b.login(b.holder("requisition_put").Username).Get("/search/requisitions?q=legenda").Expect(401)
}

func TestHistoryTellsWhoChangedWhat(t *testing.T) {
	t.Parallel()
	b := setup(t)
	cols := b.made("To do", "Done")
	target := b.card("held", cols[0].ID)
	docs[card](b.admin.Put(cards, `[{"_id":"`+target.ID.String()+`","status_id":"`+cols[1].ID.String()+
		`","name":"kept"}]`))
	file := b.attached(target.ID, "note.txt", []byte("note"))
	other := b.holder("requisition_file_delete", "requisition_delete")
	b.login(other.Username).Delete(cards+"/"+target.ID.String()+"/files/"+file.FileID.String(), nil).Expect(200)
	b.login(other.Username).Delete(cards+"?_id="+target.ID.String(), nil).Expect(200)

	all := b.history(target.ID)
	var actions []string
	for _, e := range all {
		actions = append(actions, e.Action)
	}
	require.Equal(t, []string{
		"requisition_delete", "requisition_file_delete", "requisition_file_upload", "requisition_put",
		"requisition_post",
	}, actions, "newest first")
	require.Nil(t, all[4].Before)
	require.Equal(t, "held", all[4].After["name"])
	require.Equal(t, map[string]any{
		"name": "held", "status_id": cols[0].ID.String(), "status_name": "To do",
	}, all[3].Before)
	require.Equal(t, map[string]any{"name": "kept", "status_id": cols[1].ID.String(), "status_name": "Done"},
		all[3].After)
	require.Equal(t, map[string]any{"files": []any{}}, all[2].Before)
	require.Len(t, all[2].After["files"], 1)
	require.Equal(t, b.user.ID, all[2].ActorID)
	require.Equal(t, b.user.Username, all[2].ActorName)
	require.Equal(t, other.Username, all[1].ActorName)
	require.Equal(t, "kept", all[0].Before["name"])
	require.Nil(t, all[0].After)
	require.WithinDuration(t, time.Now(), all[0].At, time.Minute)

	path := cards + "/" + target.ID.String() + "/history"
	moves := docs[entry](b.admin.Get(path + "?query=" +
		url.QueryEscape(`{"after.status_id":"`+cols[1].ID.String()+`"}`)))
	require.Len(t, moves, 1)
	require.Equal(t, 2.0, b.admin.Get(path + "?qty_docs_page=2").Map()["pagination"].(map[string]any)["qty_docs_page"])
	b.admin.Get(path + "?query=nonsense").Expect(422)
	b.admin.Get(cards + "/66f0a1b2c3d4e5f607182a01/history").Expect(404)
	b.admin.Get(cards + "/nonsense/history").Expect(404)
}

// TestHistoryOfOneCardShowsNoOther, whatever filter or id the client brings.
func TestHistoryOfOneCardShowsNoOther(t *testing.T) {
	t.Parallel()
	b := setup(t)
	col := b.made("To do")[0].ID
	first, other := b.card("mine", col), b.card("other", col)
	entryID := b.admin.Get(cards + "/" + other.ID.String() + "/history").
		Map()["docs"].([]any)[0].(map[string]any)["_id"].(string)
	path := cards + "/" + first.ID.String() + "/history"
	b.admin.Get(path + "?_id=" + entryID).Expect(404)
	b.admin.Get(cards + "/" + other.ID.String() + "/history?_id=" + entryID).Expect(200)
	for _, filter := range []string{`{"record_id":"` + other.ID.String() + `"}`, `{"resource":"requisition-status"}`} {
		require.Empty(t, docs[entry](b.admin.Get(path+"?query="+url.QueryEscape(filter))))
	}
	for _, filter := range []string{`{"$or":[{},{"record_id":"` + other.ID.String() + `"}]}`, `null`, ` `, `{}`} {
		require.Len(t, docs[entry](b.admin.Get(path+"?query="+url.QueryEscape(filter))), 1, filter)
	}
	b.admin.Get(path + "?query=" + url.QueryEscape(`{}],"$or":[{}`)).Expect(422)

	// A card that nobody made through the API has a history all the same.
	_, err := b.db.Exec(t.Context(),
		"INSERT INTO board.requisitions (id, name, status_id) VALUES ('66f0a1b2c3d4e5f607182a02', 'imported', $1)", col)
	require.NoError(t, err)
	require.Empty(t, b.history("66f0a1b2c3d4e5f607182a02"))
}
