package exports

import (
	"time"

	"github.com/jackc/pgx/v5"

	"marquee/platform/export"
	"marquee/platform/query"
	"marquee/platform/resource"
	"marquee/platform/taxid"
)

// customerFields are what the export of customers can be filtered by: the fields
// of GET /customers, and some of the current subscription's. Others do not exist.
var customerFields = &query.Collection{Fields: map[string]query.Field{
	"_id":                     {Expr: "x.customer_id", Kind: query.OID},
	"user_type":               {Expr: "x.user_type", Kind: query.String},
	"username":                {Expr: "x.username", Kind: query.String},
	"email":                   {Expr: "x.email", Kind: query.String},
	"full_name":               {Expr: "x.full_name", Kind: query.String},
	"tax_id":                  {Expr: "x.tax_id", Kind: query.String, Nullable: true, Normal: taxid.Normal},
	"phone":                   {Expr: "x.phone", Kind: query.String, Nullable: true},
	"nationality":             {Expr: "x.nationality", Kind: query.String},
	"address":                 {Expr: "x.address", Kind: query.JSON, Nullable: true},
	"avatar_id":               {Expr: "x.avatar_id", Kind: query.OID, Nullable: true},
	"my_list":                 {Expr: "x.my_list", Kind: query.String, Array: true},
	"enable":                  {Expr: "x.enable", Kind: query.Bool},
	"email_verified":          {Expr: "x.email_verified", Kind: query.Bool},
	"email_verified_at":       {Expr: "x.email_verified_at", Kind: query.Date, Nullable: true},
	"current_subscription_id": {Expr: "x.current_subscription_id", Kind: query.OID, Nullable: true},
	"password_reset_required": {Expr: "x.password_reset_required", Kind: query.Bool},
	"promo_code_used":         {Expr: "x.promo_code_used", Kind: query.String, Presence: query.WhenSet},
	"promo_code_id":           {Expr: "x.promo_code_id", Kind: query.OID, Presence: query.WhenSet},
	"gwb_customer_id":         {Expr: "x.gwb_customer_id", Kind: query.String, Presence: query.WhenSet},
	"document_created_by_id":  {Expr: "x.document_created_by_id", Kind: query.OID, Nullable: true},
	"created_at":              {Expr: "x.created_at", Kind: query.Date},
	"updated_at":              {Expr: "x.updated_at", Kind: query.Date},
	"register_date":           {Expr: "x.created_at", Kind: query.Date},
	"register_update_date":    {Expr: "x.updated_at", Kind: query.Date},
	"plan_id":                 {Expr: "x.plan_id", Kind: query.String, Nullable: true},
	"gateway":                 {Expr: "x.gateway", Kind: query.String, Nullable: true},
	"payment_method":          {Expr: "x.payment_method", Kind: query.String, Nullable: true},
	"subscription_status":     {Expr: "x.subscription_status", Kind: query.String, Nullable: true},
	"next_billing_date":       {Expr: "x.next_billing_date", Kind: query.Date, Nullable: true},
	"expires_at":              {Expr: "x.expires_at", Kind: query.Date, Nullable: true},
}}

// customersRequest checks the filter of an export of customers; it is named by
// the day in REPORT_TZ.
func (s *Exports) customersRequest(format export.Format, filter string) (request, error) {
	r := request{Kind: customersExport, Format: format, Query: filter}
	if _, err := customerTables(r); err != nil {
		return request{}, err
	}
	r.filename = filenameOf("customers_"+s.deps.Clock.Now().In(s.deps.Zone).Format(time.DateOnly), format)
	return r, nil
}

// customerTables is the sheet of GET /admin/customers/export, the oldest customer first.
func customerTables(r request) ([]table, error) {
	filter, err := query.Compile(customerFields, r.Query, 1)
	if err != nil {
		return nil, resource.Refused(err)
	}
	args := filter.Args
	if len(args) > 0 || r.Query != "" {
		args = append([]any{pgx.QueryExecModeExec}, args...) // too many texts to prepare and keep
	}
	return []table{{
		name: "customers", from: "finance.customer_list_personal x WHERE " + filter.SQL,
		order: "x.created_at, x.customer_id", inOrder: true, args: args,
		columns: []column{
			{"_id", export.Text, "x.customer_id"},
			{"username", export.Text, "x.username"},
			{"email", export.Text, "x.email"},
			{"full_name", export.Text, "x.full_name"},
			{"tax_id", export.Text, "x.tax_id"},
			{"phone", export.Text, "x.phone"},
			{"nationality", export.Text, "x.nationality"},
			{"city", export.Text, "x.address->>'city'"},
			{"region_code", export.Text, "x.address->>'region_code'"},
			{"country", export.Text, "x.address->>'country'"},
			{"postal_code", export.Text, "x.address->>'postal_code'"},
			{"language", export.Text, "x.language"},
			{"enable", export.Bool, "x.enable"},
			{"email_verified", export.Bool, "x.email_verified"},
			{"current_subscription_id", export.Text, "x.current_subscription_id"},
			{"plan_id", export.Text, "x.plan_id"},
			{"plan_name", export.Text, "x.plan_name"},
			{"gateway", export.Text, "x.gateway"},
			{"payment_method", export.Text, "x.payment_method"},
			{"subscription_status", export.Text, "x.subscription_status"},
			{"monthly_price", export.Money, "x.price_cents"},
			{"started_at", export.Timestamp, "x.started_at"},
			{"last_payment_at", export.Timestamp, "x.last_payment_at"},
			{"next_billing_date", export.Timestamp, "x.next_billing_date"},
			{"expires_at", export.Timestamp, "x.expires_at"},
			{"created_at", export.Timestamp, "x.created_at"},
			{"updated_at", export.Timestamp, "x.updated_at"},
		},
	}}, nil
}
