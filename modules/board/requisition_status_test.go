package board_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestColumnsStandInTheirOrder(t *testing.T) {
	t.Parallel()
	b := setup(t)
	made := docs[column](b.admin.Post("/admin/requisition-status", `[
		{"name":"later"}, {"name":"second","index":2,"color":"#1a2B3c"}, {"name":"first","index":-1,"color":"#abc"},
		{"name":"also later","index":null}, {"name":"third","index":3,"color":"#11223344"}]`))
	require.Len(t, made, 5)
	require.Nil(t, made[0].Index)
	require.Nil(t, made[0].Color)
	require.Equal(t, "#1a2B3c", *made[1].Color)

	const path = "/admin/requisition-status"
	require.Equal(t, []string{
		"first", "second", "third", "later", "also later",
	}, b.listed(path, "", ""), "null stands at the end")
	require.Equal(t, []string{
		"third", "second", "first", "later", "also later",
	}, b.listed(path, "", `{"index":-1}`), "in both directions")
	require.Equal(t, []string{"later", "also later"}, b.listed(path, `{"index":null}`, ""))
	require.Equal(t, []string{"second"}, b.listed(path, `{"color":{"$regex":"^#1A","$options":"i"},"index":2}`, ""))

	page := b.admin.Get(path).Map()["pagination"].(map[string]any)
	require.Equal(t, map[string]any{
		"current_page": 0.0, "qty_docs_page": 100.0, "qty_of_pages": 1.0, "qty_total_docs": 5.0,
	}, page)

	id := made[1].ID.String()
	changed := docs[column](b.admin.Put(path, `[{"_id":"`+id+`","index":null,"color":null}]`))[0]
	require.Equal(t, "second", changed.Name, "what is not sent stays")
	require.Nil(t, changed.Index)
	require.Nil(t, changed.Color)
	require.Equal(t, "1 document was deleted.", b.admin.Delete(path, `[{"_id":"`+id+`"}]`).Expect(200).Map()["msg"])
	b.admin.Get(path + "?_id=" + id).Expect(404)
}

func TestColumnErrors(t *testing.T) {
	t.Parallel()
	b := setup(t)
	taken := b.made("To do", "Done")
	const path = "/admin/requisition-status"
	long := make([]byte, 101)
	for i := range long {
		long[i] = 'x'
	}
	name, err := json.Marshal(string(long))
	require.NoError(t, err)
	for body, field := range map[string]string{
		`[{"index":1}]`: "name", `[{"name":""}]`: "name", `[{"name":null}]`: "name",
		`[{"name":` + string(name) + `}]`: "name", `[{"name":"a","color":"red"}]`: "color",
		`[{"name":"a","color":"#12"}]`: "color", `[{"name":"a","color":"#12345"}]`: "color",
		`[{"name":"a","color":"#1234567"}]`: "color", `[{"name":"a","color":"123456"}]`: "color",
		`[{"name":"a","color":"#ggg"}]`: "color", `[{"name":"a","color":"#abc\n"}]`: "color",
		`[{"name":"a","color":""}]`: "color", `[{"name":"a","index":1.5}]`: "index",
		`[{"name":"a","index":"1"}]`: "index", `[{"name":"a","index":2147483648}]`: "index",
		`[{"name":"a","cards":[]}]`: "cards",
	} {
		res := b.admin.Post(path, body).Expect(422)
		require.Equal(t, "VALIDATION_ERROR", res.Code(), body)
		require.Equal(t, field, res.Field(), body)
	}

	res := b.admin.Post(path, `[{"name":"New"},{"name":"Done"}]`).Expect(409)
	require.Equal(t, "DUPLICATE_KEY", res.Code())
	require.Equal(t, "name", res.Field())
	require.Equal(t, "name is already taken (index 1 of the body)", res.Detail())
	require.Equal(t, "DUPLICATE_KEY", b.admin.Post(path, `[{"name":"New"},{"name":"New"}]`).Expect(409).Code())
	require.Equal(t, "DUPLICATE_KEY",
		b.admin.Put(path, `[{"_id":"`+taken[0].ID.String()+`","name":"Done"}]`).Expect(409).Code())
	require.Equal(t, []string{"To do", "Done"}, b.listed(path, "", ""), "all or nothing")
	docs[column](b.admin.Put(path, `[{"_id":"`+taken[0].ID.String()+`","name":"To do"}]`))

	b.card("held", taken[0].ID)
	res = b.admin.Delete(path, `[{"_id":"`+taken[1].ID.String()+`"},{"_id":"`+taken[0].ID.String()+`"}]`).Expect(409)
	require.Equal(t, "CONFLICT", res.Code())
	require.Equal(t, "The column still holds requisitions.", res.Detail())
	require.Len(t, b.listed(path, "", ""), 2, "all or nothing")
	require.Equal(t, "NOT_FOUND",
		b.admin.Put(path, `[{"_id":"66f0a1b2c3d4e5f607182a01","name":"x"}]`).Expect(404).Code())
	require.Equal(t, "NOT_FOUND", b.admin.Delete(path+"?_id=66f0a1b2c3d4e5f607182a01", nil).Expect(404).Code())
	b.admin.Delete(path+"?_id="+taken[1].ID.String(), nil).Expect(200)
	require.Len(t, b.listed(path, "", ""), 1)
	res = b.admin.Delete(path+"?_id="+taken[0].ID.String(), nil).Expect(409)
	require.Equal(t, "CONFLICT", res.Code(), "by its address, too")
	require.Len(t, b.listed(path, "", ""), 1, "the column stays with its card")
}
