package accounts

import (
	"marquee/modules/accounts/identity"
	"marquee/platform/lookup"
)

// By a login: a username or an e-mail, which are folded in one table.
const (
	byLogin   = "accounts.logins l JOIN accounts.users t ON t.id = l.user_id"
	foldsName = "platform.search_words(t.full_name)"
)

// Finders are what staff find people and the audit trail by. Nothing of them is found but what the lists show.
func (s *Service) Finders() []lookup.Finder {
	return []lookup.Finder{
		{
			Kind: "customer", Route: "customer_list", From: "accounts.users t",
			Where: "t.user_type = 'customer' AND t.deleted_at IS NULL",
			Title: "coalesce(nullif(t.full_name, ''), t.username)", Note: "t.email", Customer: "t.id",
			By: []lookup.By{
				{Name: "_id", Rank: lookup.Exact, Values: lookup.IDs, Where: "t.id = $1"},
				{Name: "tax_id", Rank: lookup.Exact, Values: lookup.TaxIDs, Where: "t.tax_id = $1"},
				{Name: "gwb_customer_id", Rank: lookup.Exact, Values: lookup.GatewayIDs, Where: "t.gwb_customer_id = $1"},
				{
					Name: "login", Rank: lookup.Exact, Values: lookup.Tokens, From: byLogin,
					Where: "l.login = accounts.fold($1)",
				},
				{
					Name: "full_name", Rank: lookup.Whole, Values: lookup.Beginnings,
					Where: foldsName + " = platform.search_words($1)",
				},
				{
					Name: "login", Rank: lookup.Beginning, Values: lookup.Tokens, From: byLogin,
					Where: "l.login ^@ accounts.fold($1)", OrderBy: "l.login",
				},
				{
					Name: "full_name", Rank: lookup.Beginning, Values: lookup.Beginnings,
					Where: foldsName + " ^@ platform.search_words($1)", OrderBy: foldsName,
				},
				{Name: "words", Rank: lookup.Within, Values: lookup.Words, Where: identity.CustomerWords + within},
			},
		},
		{
			Kind: "user", Route: "user_list", From: "accounts.users t",
			Where: "t.user_type = 'admin' AND t.deleted_at IS NULL", // a handful: no index of their names
			Title: "coalesce(t.name, t.full_name, t.username)", Note: "t.email",
			By: []lookup.By{
				{Name: "_id", Rank: lookup.Exact, Values: lookup.IDs, Where: "t.id = $1"},
				{
					Name: "login", Rank: lookup.Exact, Values: lookup.Tokens, From: byLogin,
					Where: "l.login = accounts.fold($1)",
				},
				{
					Name: "words", Rank: lookup.Within, Values: lookup.Words,
					Where: "platform.search_words(concat_ws(' ', t.name, t.full_name, t.username, t.email))" + within,
				},
			},
		},
		{
			Kind: "profile", Route: "users_type_list", From: "accounts.users_type t", Title: "t.name",
			By: []lookup.By{
				{Name: "_id", Rank: lookup.Exact, Values: lookup.IDs, Where: "t.id = $1"},
				{Name: "name", Rank: lookup.Within, Values: lookup.Words, Where: "platform.search_words(t.name)" + within},
			},
		},
		{
			Kind: "audit_entry", Route: "audit_log_list", From: "accounts.audit_log t",
			Title: "t.action", Note: "t.actor_name",
			By: []lookup.By{
				{Name: "_id", Rank: lookup.Exact, Values: lookup.IDs, Where: "t.id = $1"},
				{Name: "request_id", Rank: lookup.Exact, Values: lookup.Tokens, Where: "t.request_id = $1"},
			},
		},
	}
}

// within has a folded text hold a word, which loses all that LIKE takes for more than itself with its punctuation.
const within = " LIKE '%' || platform.search_words($1) || '%'"
