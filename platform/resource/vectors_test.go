package resource_test

import (
	"encoding/json"
	"net/http"
	"net/url"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"marquee/platform/httpapi"
	"marquee/platform/query"
	"marquee/platform/resource"
	"marquee/testutil/apitest"
)

const (
	createLogs = `
CREATE TABLE shelf.webhook_logs (
	id platform.object_id PRIMARY KEY, event_id text COLLATE "C" NOT NULL, gateway text COLLATE "C" NOT NULL, processed boolean NOT NULL,
	processed_at timestamptz, payload jsonb NOT NULL, document_created_by_id platform.object_id,
	register_date timestamptz NOT NULL DEFAULT now(), register_update_date timestamptz NOT NULL DEFAULT now())`
	insertLogs = `
INSERT INTO shelf.webhook_logs (id, event_id, gateway, processed, processed_at, payload)
SELECT _id, event_id, gateway, processed, processed_at, payload
FROM jsonb_to_recordset($1::jsonb) AS r(_id text, event_id text, gateway text, processed boolean, processed_at timestamptz, payload jsonb)`
)

var webhookLogs = resource.New(resource.Definition{
	Name: "webhook-logs", Singular: "Webhook log", Table: "shelf.webhook_logs",
	Fields: []resource.Field{
		{Name: "event_id", Kind: query.String, Write: resource.Kept},
		{Name: "gateway", Kind: query.String, Write: resource.Kept},
		{Name: "processed", Kind: query.Bool, Write: resource.Kept},
		{Name: "processed_at", Kind: query.Date, Nullable: true, Write: resource.Kept},
		{Name: "payload", Kind: query.JSON, Write: resource.Kept},
	},
})

// TestQueryContractIntoDocuments runs the contract's examples that lead into
// jsonb through HTTP on its sample data; those about videos run in the catalogue.
func TestQueryContractIntoDocuments(t *testing.T) {
	t.Parallel()
	raw, err := os.ReadFile("../query/testdata/vectors.json")
	require.NoError(t, err)
	var contract struct {
		Logs  json.RawMessage `json:"webhook_logs"`
		Cases []struct {
			N           int
			Collection  string
			Query, Sort json.RawMessage
			Raw         string
			IDs         []any
			Status      int
		}
	}
	require.NoError(t, json.Unmarshal(raw, &contract))
	b := setup(t)
	_, err = b.db.Exec(t.Context(), createLogs)
	require.NoError(t, err)
	_, err = b.db.Exec(t.Context(), insertLogs, []byte(contract.Logs))
	require.NoError(t, err)
	httpapi.Route(b.api, http.MethodGet, "/webhook-logs", "webhook_log_list", httpapi.Admin,
		resource.Routes{Pool: b.db}.List(webhookLogs.View), webhookLogs.ListDoc()...)
	b.url = apitest.Serve(t, b.api) + httpapi.Prefix
	ran := 0
	for _, c := range contract.Cases {
		if c.Collection != "webhook-logs" {
			continue
		}
		ran++
		text := string(c.Query)
		if c.Query == nil {
			text = c.Raw
		}
		a := b.get("/webhook-logs?query=" + url.QueryEscape(text) + "&sort=" + url.QueryEscape(string(c.Sort)))
		if c.Status != 0 {
			require.Equal(t, c.Status, a.status, "%d %s", c.N, text)
			require.Equal(t, "query", a.Error.Field)
			continue
		}
		require.Equal(t, http.StatusOK, a.status, "%d %s: %s", c.N, text, a.raw)
		require.Equal(t, append([]any{}, c.IDs...), a.values("_id"), "%d %s %s", c.N, text, c.Sort)
	}
	require.Equal(t, 29, ran)
}
