// Package home answers in one call the figures that staff look at first. A module publishes sources of figures, each
// with the route of the list behind it; the composition root puts them together. A figure is shown to those who may
// call that route, and a source of which a caller sees nothing is not read.
//
// A source is one statement, over what is added up already or is few: Home is opened all day long.
package home

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"time"

	"marquee/platform/clock"
	"marquee/platform/httpapi"
)

// Unit says what a figure counts.
type Unit string

// The units.
const (
	Cents Unit = "cents"
	Count Unit = "count"
)

// Figure is a figure that a source has.
type Figure struct {
	Name  string // such as "mrr"
	Unit  Unit
	Route string // handler name of the list behind it
	// Report is the handler name of the report that has the figure, too: who may not call it does not see the figure.
	// Empty: there is none but the list.
	Report string
	// Parameters are those by which the list shows what the figure is about, as of an instant; nil: none.
	Parameters func(now time.Time) map[string]string
}

// Filter are the parameters of a list of the collection contract with a filter. It panics for one that is no JSON.
func Filter(filter map[string]any) map[string]string {
	raw, err := json.Marshal(filter)
	if err != nil {
		panic(fmt.Sprintf("home: a filter: %v", err))
	}
	return map[string]string{"query": string(raw)}
}

// Since is an instant of a filter.
func Since(at time.Time) map[string]any { return map[string]any{"$gte": httpapi.Time(at).String()} }

// Reading is what a figure is.
type Reading struct {
	Value  int64
	Today  *int64 // the part of today, of one that adds up over a month
	Before *int64 // the same of the month before
	Items  []FigureItem
	AsOf   *time.Time // where it is not of now
}

// FigureItem is one of the things that are counted, where they are few.
type FigureItem struct {
	Title string        `json:"title"`
	Note  string        `json:"note" doc:"May be empty"`
	Count *int64        `json:"count" nullable:"true" doc:"How often, where that is counted"`
	At    *httpapi.Time `json:"at" nullable:"true" doc:"Since when"`
}

// Source reads some figures at once.
type Source struct {
	Figures []Figure
	Read    func(ctx context.Context) (map[string]Reading, error) // by name; all of them
}

// FigureList is what a figure leads to.
type FigureList struct {
	Route      string            `json:"route" doc:"Its handler name"`
	Path       string            `json:"path" doc:"Its path, with the prefix"`
	Parameters map[string]string `json:"parameters" doc:"Of its address, by which it shows what the figure is about"`
}

// FigureTile is a figure as it is answered.
type FigureTile struct {
	Name   string        `json:"name"`
	Unit   Unit          `json:"unit" enum:"cents,count"`
	Value  int64         `json:"value" doc:"Of now, or of this month so far"`
	Today  *int64        `json:"today" nullable:"true" doc:"Of a month's figure, the part of today"`
	Before *int64        `json:"before" nullable:"true" doc:"Of a month's figure, the same days of the month before"`
	AsOf   *httpapi.Time `json:"as_of" nullable:"true" doc:"When it was found out, where that was not now"`
	Items  []FigureItem  `json:"items" doc:"Each of what is counted, where that is few"`
	List   FigureList    `json:"list"`
}

// FigurePage is all that the caller may see, in the order of the sources.
type FigurePage struct {
	At      httpapi.Time `json:"at"`
	Figures []FigureTile `json:"figures"`
}

// Home answers the page.
type Home struct {
	clock   clock.Clock
	sources []Source
	routes  map[string][]httpapi.RouteInfo // by the figure's name: its list, and its report
}

// New makes it. The routes that the figures name have to be registered: it panics for one that is not, and for two
// figures of a name.
func New(api *httpapi.API, clk clock.Clock, sources ...Source) *Home {
	h := &Home{clock: clk, sources: sources, routes: map[string][]httpapi.RouteInfo{}}
	for _, s := range sources {
		for _, f := range s.Figures {
			if h.routes[f.Name] != nil {
				panic("home: two figures are called " + f.Name)
			}
			h.routes[f.Name] = []httpapi.RouteInfo{httpapi.Named(api, f.Route)}
			if f.Report != "" {
				h.routes[f.Name] = append(h.routes[f.Name], httpapi.Named(api, f.Report))
			}
		}
	}
	return h
}

// Doc documents a route that Get answers: with the figures that there are.
func (h *Home) Doc(api *httpapi.API) []httpapi.Option {
	schemas := api.OpenAPI().Components.Schemas
	answer := schemas.Schema(reflect.TypeFor[FigurePage](), true, "")
	name := schemas.SchemaFromRef(schemas.Schema(reflect.TypeFor[FigureTile](), true, "").Ref).Properties["name"]
	name.Enum = nil
	for _, s := range h.sources {
		for _, f := range s.Figures {
			name.Enum = append(name.Enum, f.Name)
		}
	}
	name.PrecomputeMessages()
	return []httpapi.Option{httpapi.Summary("What staff look at first"), httpapi.ResponseSchema(answer)}
}

// Get answers the figures that the caller may see.
func (h *Home) Get(ctx context.Context, _ *struct{}) (*httpapi.Output[FigurePage], error) {
	if err := httpapi.HeadEnds(ctx); err != nil {
		return nil, err
	}
	now, caller := h.clock.Now(), httpapi.CallerOf(ctx)
	page := FigurePage{At: httpapi.Time(now), Figures: []FigureTile{}}
	for _, s := range h.sources {
		var readings map[string]Reading
		for _, f := range s.Figures {
			if !h.shows(f, caller) {
				continue
			}
			if readings == nil {
				var err error
				if readings, err = s.Read(ctx); err != nil {
					return nil, fmt.Errorf("read %s: %w", f.Name, err)
				}
			}
			page.Figures = append(page.Figures, f.tile(readings[f.Name], h.routes[f.Name][0].Path, now))
		}
	}
	return httpapi.OK(page)
}

func (h *Home) shows(f Figure, caller httpapi.Caller) bool {
	for _, r := range h.routes[f.Name] {
		if !r.Allows(caller) {
			return false
		}
	}
	return true
}

func (f Figure) tile(r Reading, path string, now time.Time) FigureTile {
	t := FigureTile{
		Name: f.Name, Unit: f.Unit, Value: r.Value, Today: r.Today, Before: r.Before, AsOf: httpapi.TimePtr(r.AsOf),
		Items: append([]FigureItem{}, r.Items...),
		List:  FigureList{Route: f.Route, Path: path, Parameters: map[string]string{}},
	}
	if f.Parameters != nil {
		t.List.Parameters = f.Parameters(now)
	}
	return t
}
