package app

import (
	"net/http"

	"marquee/platform/clock"
	"marquee/platform/httpapi"
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
