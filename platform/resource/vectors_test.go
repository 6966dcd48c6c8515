package resource_test

import (
	"fmt"
	"net/http"
	"net/url"
	"testing"

	"github.com/stretchr/testify/require"

	"marquee/platform/httpapi"
	"marquee/platform/query"
	"marquee/platform/query/querytest"
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
		{Name: "event_id", Kind: query.String, Write: resource.ReadOnly},
		{Name: "gateway", Kind: query.String, Write: resource.ReadOnly},
		{Name: "processed", Kind: query.Bool, Write: resource.ReadOnly},
		{Name: "processed_at", Kind: query.Date, Nullable: true, Write: resource.ReadOnly},
		{Name: "payload", Kind: query.JSON, Write: resource.ReadOnly},
	},
})

// TestQueryContractIntoDocuments runs the contract's examples that lead into
// jsonb through HTTP on its sample data; those about videos run in the catalogue.
func TestQueryContractIntoDocuments(t *testing.T) {
	t.Parallel()
	contract := querytest.Vectors()
	b := setup(t)
	_, err := b.db.Exec(t.Context(), createLogs)
	require.NoError(t, err)
	_, err = b.db.Exec(t.Context(), insertLogs, []byte(contract.WebhookLogs))
	require.NoError(t, err)
	httpapi.Route(b.api, http.MethodGet, "/webhook-logs", "webhook_log_list", httpapi.Admin,
		resource.Routes{Pool: b.db}.List(webhookLogs.View), webhookLogs.ListDoc()...)
	b.client = apitest.New(t, b.api)
	cases := contract.Of("webhook-logs")
	require.Len(t, cases, 29)
	for _, c := range cases {
		text := c.Text()
		a := b.get("/webhook-logs?query=" + url.QueryEscape(text) + "&sort=" + url.QueryEscape(string(c.Sort)))
		if c.Status != 0 {
			require.Equal(t, c.Status, a.status, "%d %s", c.N, text)
			require.Equal(t, "query", a.Error.Field)
			continue
		}
		require.Equal(t, http.StatusOK, a.status, "%d %s: %s", c.N, text, a.raw)
		require.Equal(t, fmt.Sprint(c.IDs), fmt.Sprint(a.values("_id")), "%d %s %s", c.N, text, c.Sort)
	}
}
