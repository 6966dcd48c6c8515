package app

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"regexp"
	"slices"
	"strings"

	"marquee/platform/bulk"
	"marquee/platform/clock"
	"marquee/platform/home"
	"marquee/platform/httpapi"
	"marquee/platform/jobadmin"
	"marquee/platform/lookup"
	"marquee/platform/pages"
	"marquee/platform/postgres"
	"marquee/platform/replica"
	"marquee/platform/resource"
	"marquee/web"
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
	a.modules.invariants.Routes(a.api)
	a.addSearch()
	a.addLookup()
	a.addJobs()
	a.addBulk()
	a.addHome()
}

// addSearch registers the search over the collections of all modules; each is
// one line, with the rights of its list. How any list would run is explained to root.
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
	httpapi.Route(a.api, http.MethodPost, "/admin/query/explain", "query_explain", httpapi.Root,
		lists.Explain(a.api),
		httpapi.Summary("How Postgres would run a list, without running it"))
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

// addJobs registers what staff see of jobs, and what they do to them.
func (a *App) addJobs() {
	s := jobadmin.New(a.db.writes, a.jobs, a.log)
	httpapi.Route(a.api, http.MethodGet, "/admin/jobs", "job_list", httpapi.Admin, s.List,
		append(jobadmin.ListDoc(), httpapi.Summary("Jobs, the last made first"))...)
	httpapi.Route(a.api, http.MethodPost, "/admin/jobs/{id}/retry", "job_retry", httpapi.Admin, s.Retry,
		httpapi.Summary("Run a job again that was given up or cancelled"))
	httpapi.Route(a.api, http.MethodPost, "/admin/jobs/{id}/run", "job_run", httpapi.Admin, s.Run,
		httpapi.Summary("Run a job at once that waits for its time"))
	httpapi.Route(a.api, http.MethodPost, "/admin/jobs/{id}/cancel", "job_cancel", httpapi.Root, s.Cancel,
		httpapi.Summary("Cancel a job"))
	httpapi.Route(a.api, http.MethodGet, "/admin/queues", "queue_list", httpapi.Admin, s.Queues,
		httpapi.Summary("Queues of jobs, what waits in them, and which are paused"))
	httpapi.Route(a.api, http.MethodPost, "/admin/queues/{name}/pause", "queue_pause", httpapi.Root, s.Pause,
		httpapi.Summary("Pause a queue"))
	httpapi.Route(a.api, http.MethodPost, "/admin/queues/{name}/resume", "queue_resume", httpapi.Root, s.Resume,
		httpapi.Summary("Resume a queue"))
}

// addBulk registers what staff do to all records of a filter.
func (a *App) addBulk() {
	s := a.bulk
	s.Connect(a.api)
	httpapi.Route(a.api, http.MethodGet, "/admin/bulk-acts", "bulk_act_list", httpapi.Admin, s.List,
		httpapi.Summary("What staff did to many records at once"))
	httpapi.Route(a.api, http.MethodPost, "/admin/bulk-acts", "bulk_act_begin", httpapi.Admin, s.Begin,
		httpapi.Summary("Do something to all records of a filter"))
	httpapi.Route(a.api, http.MethodGet, "/admin/bulk-acts/{id}", "bulk_act_get", httpapi.Admin, s.Get,
		httpapi.Summary("How far a bulk act is"))
	httpapi.Route(a.api, http.MethodGet, "/admin/bulk-acts/{id}/events", bulk.EventsHandler, httpapi.Admin, s.Events,
		append(bulk.EventsDoc(a.api), httpapi.Summary("How far a bulk act is, as it goes on"))...)
	httpapi.Route(a.api, http.MethodPost, "/admin/bulk-acts/{id}/stop", "bulk_act_stop", httpapi.Admin, s.Stop,
		httpapi.Summary("Stop a bulk act"))
	httpapi.Route(a.api, http.MethodGet, "/admin/bulk-acts/{id}/rows", "bulk_act_rows", httpapi.Admin, s.Rows,
		httpapi.Summary("The result for each record"))
	httpapi.Route(a.api, http.MethodGet, "/admin/bulk-acts/{id}/result", "bulk_act_result", httpapi.Admin, s.Download,
		httpapi.Summary("The result for each record, as a CSV file"), bulk.ResultResponse())
}

// addHome registers the figures that staff look at first.
func (a *App) addHome() {
	m := a.modules
	sources := slices.Concat([]home.Source{m.finance.HomeSource()}, m.payments.HomeSources(),
		[]home.Source{jobadmin.HomeSource(a.db.writes), m.invariants.HomeSource()})
	page := home.New(a.api, a.now(), sources...)
	httpapi.Route(a.api, http.MethodGet, "/admin/home", "admin_home", httpapi.Admin, page.Get, page.Doc(a.api)...)
}

// publishableKey is the form of gateway B's own publishable keys; the sandbox's are shorter.
var publishableKey = regexp.MustCompile(`^pk_(live|test)_[0-9A-Za-z]{24,}$`)

// pages are what browsers are shown; nil, for nothing, with WEB=off.
func (c Config) pages() (httpapi.Pages, error) {
	if c.Web.Pages == "off" {
		return nil, nil //nolint:nilnil // no pages are no error
	}
	return pages.New(pages.Config{
		Dist: web.Dist(), Plain: web.Plain(), NoSite: c.Web.Site == "off",
		GatewayB: publishableKey.MatchString(c.GatewayB.PublishableKey),
	})
}

// PrintOpenAPI writes the document that GET /api/v1/openapi.json answers.
func PrintOpenAPI(ctx context.Context, to io.Writer) error {
	api, err := UnservedAPI(ctx)
	if err != nil {
		return err
	}
	document, err := api.Document()
	if err != nil {
		return err
	}
	if _, err := to.Write(append(document, '\n')); err != nil {
		return fmt.Errorf("print the document: %w", err)
	}
	return nil
}

// UnservedAPI is the API with every operation and nothing behind it: its database is opened by
// whoever asks for it first, which nobody does.
func UnservedAPI(ctx context.Context) (*httpapi.API, error) {
	cfg, err := ReadConfig()
	if err != nil {
		return nil, err
	}
	if cfg.HTTP.PublicURL == "" {
		cfg.HTTP.PublicURL = "/"
	}
	cfg.Keys.File = strings.Repeat("-", minSecret)
	cfg.Keys.Tokens, cfg.Mail.SMTPURL = "none:"+cfg.Keys.File, "smtp://localhost"
	pool, err := postgres.NewPool(ctx, "postgres://localhost/none",
		postgres.Options{MaxConns: healthConns, ApplicationName: "marquee openapi", Lazy: true})
	if err != nil {
		return nil, err
	}
	defer pool.Close()
	log := slog.New(slog.DiscardHandler)
	observed, err := newObserved(cfg, "", log)
	if err != nil {
		return nil, err
	}
	a := &App{
		cfg: cfg, log: log, metrics: observed.registry, observed: observed,
		db: &database{pooled: pool, writes: pool, lists: pool, reads: replica.Only(pool), health: pool},
	}
	if err := a.build(false, Parts{}); err != nil { //nolint:contextcheck // no request comes
		return nil, err
	}
	return a.api, nil
}
