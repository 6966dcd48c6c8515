package app

import (
	"net/http"
	"slices"

	"marquee/platform/clock"
	"marquee/platform/httpapi"
	"marquee/platform/lookup"
	"marquee/platform/resource"
)

// addRoutes registers every module's operations.
func (a *App) addRoutes() {
	a.modules.settings.Routes(a.api)
	a.modules.files.Routes(a.api)
	a.modules.accounts.Routes(a.api)
	a.modules.payments.Routes(a.api)
	a.modules.tickets.Routes(a.api)
	a.modules.promos.Routes(a.api)
	a.modules.subscriptions.Routes(a.api)
	a.modules.catalog.Routes(a.api)
	a.modules.board.Routes(a.api)
	a.modules.finance.Routes(a.api)
	a.addSearch()
	a.addLookup()
}

// addSearch registers the search over the collections of all modules; each is
// one line, with the rights of its list.
func (a *App) addSearch() {
	lists := resource.Routes{Pool: a.db.writes, Reads: a.db.reads, Clock: clock.System{}, Log: a.log}
	httpapi.Route(a.api, http.MethodGet, "/search/{collection_name}", "search", httpapi.SignedIn, lists.Search(
		a.modules.accounts.UserSearch(),
		a.modules.accounts.CustomerSearch(),
		a.modules.catalog.VideoSearch(),
		a.modules.tickets.EventSearch(),
		a.modules.tickets.TicketSearch(),
		a.modules.promos.Search(),
		a.modules.subscriptions.PlanSearch(),
		a.modules.board.RequisitionSearch(),
	), resource.SearchDoc()...)
}

// addLookup registers the search of staff over everything. Where two records fit equally, the kind that stands before
// comes first.
func (a *App) addLookup() {
	m := a.modules
	everything := lookup.New(a.api, a.db.reads, slices.Concat(m.accounts.Finders(), m.payments.Finders(),
		m.subscriptions.Finders(), m.tickets.Finders(), m.promos.Finders(), m.catalog.Finders(), m.board.Finders())...)
	httpapi.Route(a.api, http.MethodGet, "/admin/search", "admin_search", httpapi.Admin, everything.Find,
		everything.Doc(a.api)...)
}
