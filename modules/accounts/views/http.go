package views

import (
	"context"
	"slices"
	"strings"
	"time"

	"marquee/modules/accounts/identity"
	"marquee/modules/accounts/internal/accountsdb"
	"marquee/platform/fault"
	"marquee/platform/httpapi"
	"marquee/platform/nullable"
	"marquee/platform/objectid"
	"marquee/platform/resource"
)

// View is a list as somebody wants to see it again.
type View struct {
	ID                 objectid.ID  `json:"_id"`
	Name               string       `json:"name"`
	Path               string       `json:"path" doc:"Of the list, such as /customers"`
	Query              string       `json:"query" doc:"As in the list's address; may be empty"`
	Sort               string       `json:"sort" doc:"As in the list's address; may be empty"`
	Columns            []string     `json:"columns" doc:"Fields that are shown, in their order; empty for the usual ones"`
	Audience           string       `json:"audience" enum:"me,profile,all" doc:"Who sees it beside its owner"`
	ProfileID          *objectid.ID `json:"profile_id" nullable:"true" doc:"Whose users see it, of the audience profile"`
	OwnerID            objectid.ID  `json:"owner_id"`
	Owner              string       `json:"owner" doc:"Their username"`
	Problem            *string      `json:"problem" nullable:"true" enum:"list_gone,not_allowed,query_refused,field_gone" doc:"Why the list cannot be shown so to the caller; null for nothing"`
	RegisterDate       httpapi.Time `json:"register_date"`
	RegisterUpdateDate httpapi.Time `json:"register_update_date"`
}

// Handlers answers the routes.
type Handlers struct {
	s   *Views
	api *httpapi.API // whose lists there are
}

// Handlers returns what answers the routes.
func (s *Views) Handlers(api *httpapi.API) Handlers { return Handlers{s, api} }

type listInput struct {
	Path string `query:"path" maxLength:"200" pattern:"^[A-Za-z0-9_/{}-]*$" patternDescription:"the path of a list" doc:"Views of that list alone, such as /customers"`
}

// List answers GET /admin/views.
func (h Handlers) List(ctx context.Context, in *listInput) (*httpapi.EnvelopeOutput[View], error) {
	caller := httpapi.CallerOf(ctx)
	all, err := h.s.list(ctx, caller, in.Path)
	if err != nil {
		return nil, err
	}
	docs := make([]View, len(all))
	for i, row := range all {
		docs[i] = h.viewOf(caller, accountsdb.ViewGetRow(row))
	}
	return httpapi.All(ctx, docs), nil
}

func (h Handlers) viewOf(caller httpapi.Caller, row accountsdb.ViewGetRow) View {
	return View{
		ID: row.ID, Name: row.Name, Path: row.Path, Query: row.Query, Sort: row.Sort, Columns: row.Columns,
		Audience: row.Audience, ProfileID: row.ProfileID, OwnerID: row.OwnerID, Owner: row.Owner,
		Problem:      nullable.Ptr(resource.Problem(h.api, caller, row.Path, row.Query, row.Sort, row.Columns)),
		RegisterDate: httpapi.Time(row.RegisterDate), RegisterUpdateDate: httpapi.Time(row.RegisterUpdateDate),
	}
}

// Fields are what is written of a view.
type Fields struct {
	Name      string       `json:"name" minLength:"1" maxLength:"80"`
	Query     string       `json:"query,omitempty" maxLength:"8000" doc:"A filter of the list"`
	Sort      string       `json:"sort,omitempty" maxLength:"1000"`
	Columns   []string     `json:"columns,omitempty" maxItems:"60" nullable:"false"`
	Audience  string       `json:"audience,omitempty" enum:"me,profile,all" default:"me"`
	ProfileID *objectid.ID `json:"profile_id,omitempty" nullable:"true" doc:"A profile of the caller's own, for the audience profile"`
}

type createInput struct {
	Body struct {
		Fields
		Path string `json:"path" minLength:"1" maxLength:"200" doc:"Of the list, such as /customers"`
	}
}

type updateInput struct {
	ID   string `path:"id" pattern:"^[0-9a-fA-F]{24}$" patternDescription:"an id of 24 hexadecimal digits"`
	Body struct {
		Fields
		RegisterUpdateDate *httpapi.Time `json:"register_update_date,omitempty" doc:"As it was read; where it was changed since, 409"`
	}
}

type idInput struct {
	ID string `path:"id" pattern:"^[0-9a-fA-F]{24}$" patternDescription:"an id of 24 hexadecimal digits"`
}

// check refuses a new name that shows something else than it holds, what the list would refuse, and an audience that
// the caller is no part of; called is the view's present name.
func (h Handlers) check(caller httpapi.Caller, path, called string, f Fields) error {
	if f.Name != called {
		if err := identity.CheckPersonName(f.Name, "body", "name"); err != nil {
			return err
		}
	}
	switch resource.Problem(h.api, caller, path, f.Query, f.Sort, f.Columns) {
	case "list_gone":
		return fault.InvalidAt("is not the path of a list that staff read", "body", "path")
	case "not_allowed":
		return fault.Forbidden("You may not read this list.")
	case "query_refused":
		return fault.InvalidAt("is a filter, or has a sort beside it, that the list does not take", "body", "query")
	case "field_gone":
		return fault.InvalidAt("names a field that the list does not have", "body", "columns")
	}
	switch {
	case repeats(f.Columns):
		return fault.InvalidAt("names a column twice", "body", "columns")
	case f.Audience != "profile" && f.ProfileID != nil:
		return fault.InvalidAt("is for the audience profile only", "body", "profile_id")
	case f.Audience == "profile" && f.ProfileID == nil:
		return fault.InvalidAt("is required", "body", "profile_id")
	case f.Audience == "profile" && !caller.Root && !slices.Contains(caller.Profiles, *f.ProfileID):
		return fault.InvalidAt("is none of your profiles", "body", "profile_id")
	}
	return nil
}

// repeats reports whether a column is named twice.
func repeats(columns []string) bool {
	sorted := slices.Sorted(slices.Values(columns))
	return len(slices.Compact(sorted)) < len(columns)
}

// Create answers POST /admin/views. Errors: 422 for what the list would refuse; 409 for too many.
func (h Handlers) Create(ctx context.Context, in *createInput) (*httpapi.Output[View], error) {
	caller, f := httpapi.CallerOf(ctx), in.Body.Fields
	if err := h.check(caller, in.Body.Path, "", f); err != nil {
		return nil, err
	}
	row, err := h.s.insert(ctx, accountsdb.ViewInsertParams{
		ID: objectid.New(), OwnerID: caller.ID, Name: f.Name, Path: in.Body.Path, Query: f.Query, Sort: f.Sort,
		Columns: append([]string{}, f.Columns...), Audience: f.Audience, ProfileID: f.ProfileID,
		Now: h.s.deps.Clock.Now(),
	})
	if err != nil {
		return nil, err
	}
	return httpapi.OK(h.viewOf(caller, row))
}

// Update answers PUT /admin/views/{id}: all of the view but its path. Errors: as Create; 404 for one that is not the
// caller's; 409 where it was changed since it was read.
func (h Handlers) Update(ctx context.Context, in *updateInput) (*httpapi.Output[View], error) {
	caller, f := httpapi.CallerOf(ctx), in.Body.Fields
	id := objectid.ID(strings.ToLower(in.ID))
	before, err := h.s.find(ctx, id, caller)
	if err != nil {
		return nil, err
	}
	if err := h.check(caller, before.Path, before.Name, f); err != nil {
		return nil, err
	}
	row, err := h.s.update(ctx, accountsdb.ViewUpdateParams{
		ID: id, CallerID: caller.ID, IsRoot: caller.Root, Name: f.Name, Query: f.Query, Sort: f.Sort,
		Columns: append([]string{}, f.Columns...), Audience: f.Audience, ProfileID: f.ProfileID,
		Now:    h.s.deps.Clock.Now(),
		ReadAt: (*time.Time)(in.Body.RegisterUpdateDate),
	})
	if err != nil {
		return nil, err
	}
	return httpapi.OK(h.viewOf(caller, row))
}

type deletedBody struct {
	Message string `json:"message"`
}

// Delete answers DELETE /admin/views/{id}; 404 for one that is not the caller's.
func (h Handlers) Delete(ctx context.Context, in *idInput) (*httpapi.Output[deletedBody], error) {
	if err := h.s.remove(ctx, objectid.ID(strings.ToLower(in.ID)), httpapi.CallerOf(ctx)); err != nil {
		return nil, err
	}
	return httpapi.OK(deletedBody{Message: "The view was deleted."})
}
