package reconcile

import (
	"marquee/platform/query"
	"marquee/platform/resource"
)

// Runs is the collection of reconciliations (docs/contract/payments.md, Reconciliations). A run that has not been
// heard of for two minutes, by the database's own clock, and has not ended has died.
var Runs = resource.New(resource.Definition{
	Name: "reconciliations", Singular: "Reconciliation", Table: "payments.reconcile_runs",
	From:          "(SELECT *, NULL::platform.object_id AS document_created_by_id FROM payments.reconcile_runs) t",
	CreatedColumn: "started_at", UpdatedColumn: "updated_at",
	DefaultSort: `{"started_at":-1}`,
	Fields: []resource.Field{
		{
			Name: "state", Kind: query.String, Write: resource.ReadOnly,
			Expr: "CASE WHEN t.ended_at IS NOT NULL AND t.failed = 0 THEN 'ended' WHEN t.ended_at IS NOT NULL THEN 'ended_with_failures' " +
				"WHEN t.seen_at < now() - interval '2 minutes' THEN 'not_ended' ELSE 'running' END",
			Rule: resource.Rule{Enum: []string{"running", "ended", "ended_with_failures", "not_ended"}},
			Doc:  "not_ended: it died on its way; what it repaired until then stands",
		},
		{
			Name: "started_by", Kind: query.String, Write: resource.ReadOnly,
			Rule: resource.Rule{Enum: []string{"schedule", "command"}}, Doc: "schedule: the nightly job; command: marquee reconcile",
		},
		{
			Name: "starter", Kind: query.String, Nullable: true, Write: resource.ReadOnly,
			Doc: "Of a command: the account and the machine that ran it",
		},
		{Name: "dry_run", Kind: query.Bool, Write: resource.ReadOnly, Doc: "It listed what it found and changed nothing"},
		{
			Name: "gateways", Kind: query.String, Array: true, Write: resource.ReadOnly,
			Rule: resource.Rule{Enum: []string{"gwa", "gwb"}}, Doc: "That were asked",
		},
		{Name: "since", Kind: query.Date, Write: resource.ReadOnly, Doc: "How far back it checked"},
		{Name: "started_at", Kind: query.Date, Write: resource.ReadOnly},
		{Name: "ended_at", Kind: query.Date, Nullable: true, Write: resource.ReadOnly, Doc: "null while it runs, and of one that died"},
		{
			Name: "checked", Kind: query.Int, Write: resource.ReadOnly,
			Doc: "Events, payments, refunds, disputes and subscriptions that were read",
		},
		{Name: "found", Kind: query.Int, Write: resource.ReadOnly, Doc: "Differences"},
		{Name: "repaired", Kind: query.Int, Write: resource.ReadOnly},
		{
			Name: "not_repaired", Kind: query.Int, Write: resource.ReadOnly,
			Doc: "Found and left: a dry run, of nothing here, or without anything to change",
		},
		{Name: "failed", Kind: query.Int, Write: resource.ReadOnly, Doc: "What could not be read or applied"},
	},
})

// Findings is the collection of what reconciliations found, a row a difference. Amounts are cents.
var Findings = resource.New(resource.Definition{
	Name: "reconciliation-findings", Singular: "ReconciliationFinding", Table: "payments.reconcile_findings",
	From:          "(SELECT *, NULL::platform.object_id AS document_created_by_id FROM payments.reconcile_findings) t",
	CreatedColumn: "found_at", UpdatedColumn: "found_at",
	DefaultSort: `{"found_at":-1}`,
	Fields: []resource.Field{
		{Name: "run_id", Kind: query.OID, Write: resource.ReadOnly, Doc: "The reconciliation"},
		{
			Name: "kind", Kind: query.String, Write: resource.ReadOnly,
			Rule: resource.Rule{Enum: []string{
				"missed_event", "missed_payment", "missed_refund", "missed_dispute", "missed_failure", "unshown_refund",
				"unshown_dispute", "unshown_payment", "ended_subscription", "stray_recurrence",
			}},
			Doc: "missed: the gateway has it and we had not; unshown: booked here and not shown there",
		},
		{
			Name: "verdict", Kind: query.String, Write: resource.ReadOnly,
			Rule: resource.Rule{Enum: []string{"repaired", "repairable", "unknown", "unchanged", "failed"}},
			Doc: "repairable: a dry run would have; unknown: of nothing here; unchanged: it changes nothing here; " +
				"failed: it could not be read or applied, and is tried by the next run",
		},
		{
			Name: "gateway", Kind: query.String, Write: resource.ReadOnly,
			Rule: resource.Rule{Enum: []string{"gwa", "gwb"}}, Doc: "gwa or gwb",
		},
		{
			Name: "gateway_object_id", Kind: query.String, Write: resource.ReadOnly,
			Doc: "The gateway's id of the event, payment, refunded payment, dispute or subscription",
		},
		{
			Name: "record", Kind: query.String, Nullable: true, Write: resource.ReadOnly,
			Rule: resource.Rule{Enum: []string{"subscription", "order"}}, Doc: "What local_id is; null where nothing here is meant",
		},
		{Name: "local_id", Kind: query.OID, Nullable: true, Write: resource.ReadOnly, Doc: "The subscription or order, where it is known"},
		{Name: "amount", Column: "amount_cents", Kind: query.Int, Nullable: true, Write: resource.ReadOnly, Doc: "Cents"},
		{
			Name: "was", Kind: query.JSON, Nullable: true, Write: resource.ReadOnly,
			Doc: "How the record and its money stood before, by field; null where nothing was to be changed",
		},
		{Name: "became", Kind: query.JSON, Nullable: true, Write: resource.ReadOnly, Doc: "How they stood right after"},
		{Name: "detail", Kind: query.String, Nullable: true, Write: resource.ReadOnly},
		{Name: "found_at", Kind: query.Date, Write: resource.ReadOnly},
	},
})
