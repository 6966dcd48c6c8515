package resource

import (
	"context"
	"strings"
	"unicode/utf8"

	"github.com/danielgtaylor/huma/v2"

	"marquee/platform/fault"
	"marquee/platform/httpapi"
)

// maxSearch bounds the words of a search, in characters.
const maxSearch = 200

// Searchable is a collection that GET /search/{collection_name} serves.
type Searchable struct {
	Name string // in the path
	// View returns what the caller behind ctx may list, or the error with which the
	// list itself would refuse them.
	View func(ctx context.Context) (*View, error)
	// Only is what the caller's own list adds to their filter. Default nothing.
	Only func(ctx context.Context) []Only
}

// SearchAs makes the view searchable under its collection's name by those who may
// call a list with this auth and permission ("" for none). It panics when the
// definition has no Search, or for an auth that the route cannot check.
func SearchAs(auth httpapi.Auth, permission string, v *View) Searchable {
	v.mustSearch()
	if auth == httpapi.Subscriber || auth == httpapi.Gateway {
		panic("collection " + v.resource.def.Name + ": " + string(auth) + " is checked by the module itself")
	}
	return Searchable{Name: v.resource.def.Name, View: func(ctx context.Context) (*View, error) {
		return v, httpapi.Allowed(httpapi.CallerOf(ctx), auth, permission)
	}}
}

func (v *View) mustSearch() {
	if v.resource.def.Search == "" {
		panic("collection " + v.resource.def.Name + ": nothing to search by")
	}
}

// SearchInput names the collection; the parameters are read from the address.
type SearchInput struct {
	CollectionName string `path:"collection_name" doc:"Collection to search, such as videos"`
}

// Search answers GET /search/{collection_name} (docs/contract/collections.md, Search): the
// parameter q on top of the collection's own, best match first unless the client
// sorts. Words are compared without case and accents and by their Portuguese
// stems, all of them have to be there, and the last may be the beginning of one.
// Errors: those of the collection's list, 404 for a name that is none of these,
// 422 without q.
func (s Routes) Search(all ...Searchable) func(context.Context, *SearchInput) (*Response, error) {
	byName := make(map[string]Searchable, len(all))
	for _, one := range all {
		byName[one.Name] = one
	}
	return func(ctx context.Context, in *SearchInput) (*Response, error) {
		one, known := byName[in.CollectionName]
		if !known {
			return nil, fault.NotFound("Collection")
		}
		v, err := one.View(ctx)
		if err != nil {
			return nil, err
		}
		v.mustSearch()
		params, err := v.parseSearch(ctx)
		if err != nil {
			return nil, err
		}
		if one.Only != nil {
			params.Only = one.Only(ctx)
		}
		return s.list(ctx, v, params)
	}
}

func (v *View) parseSearch(ctx context.Context) (Params, error) {
	u := httpapi.RequestURL(ctx)
	p, err := v.ParseParams(u)
	if err != nil || p.ID != "" {
		return p, err
	}
	given := u.Query()[paramSearch]
	if len(given) == 1 {
		p.Search = strings.TrimSpace(given[0])
	}
	switch {
	case len(given) > 1:
		err = invalidParam(paramSearch, "is given more than once")
	case p.Search == "":
		err = invalidParam(paramSearch, "is required")
	case !utf8.ValidString(p.Search):
		err = invalidParam(paramSearch, "is not valid UTF-8")
	case utf8.RuneCountInString(p.Search) > maxSearch:
		err = invalidParam(paramSearch, "is longer than 200 characters")
	}
	return p, err
}

// SearchDoc documents GET /search/{collection_name}.
func SearchDoc() []httpapi.Option {
	found := envelopeSchema(&huma.Schema{Type: huma.TypeObject, AdditionalProperties: true})
	words := textParam(paramSearch,
		"Words to find: without regard to case and accents, by Portuguese stems, the last one also as a prefix")
	words.Required = true
	return []httpapi.Option{
		httpapi.Summary("Search a collection"),
		httpapi.Parameters(append([]*huma.Param{words}, listParams(defaultPerPage, "best match first")...)...),
		httpapi.ResponseSchema(found),
	}
}
