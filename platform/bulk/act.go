package bulk

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"marquee/platform/httpapi"
	"marquee/platform/jobadmin"
	"marquee/platform/resource"
)

// Act is something that can be done to all records of a list.
type Act struct {
	Name string // such as "subscription_cancel"
	List string // path of the list whose filter chooses the records, such as "/subscriptions"
	// Route is the handler name of the operation that is called for each.
	Route string
	// Fields are the members of the arguments; each has to be given, and no other. Nil: any, which are the fields that
	// are written.
	Fields []string
	// Matching selects the records of a list that is no collection; nil: the list's filter does.
	Matching func(filter string) (sql string, args []any, err error)
	// Once: it may not be done again where nobody knows whether it was done.
	Once bool

	method, path string // of the operation
}

// Acts are all of them.
var Acts = []Act{
	{Name: "customer_update", List: "/customers", Route: "customer_update"},
	{Name: "video_update", List: "/videos", Route: "video_update"},
	{Name: "subscription_cancel", List: "/subscriptions", Route: "subscription_cancel", Fields: []string{"reason"}},
	{
		Name: "subscription_extend", List: "/subscriptions", Route: "subscription_extend", Fields: []string{"days"},
		Once: true,
	},
	{Name: "webhook_log_replay", List: "/webhook-logs", Route: "webhook_log_replay", Fields: []string{}},
	{Name: "job_retry", List: "/admin/jobs", Route: "job_retry", Fields: []string{}, Matching: jobadmin.Matching},
	{
		Name: "job_cancel", List: "/admin/jobs", Route: "job_cancel", Fields: []string{"reason"},
		Matching: jobadmin.Matching,
	},
}

// matching is a statement that selects the ids of the records that a filter matches, with its arguments.
func (a *Act) matching(api *httpapi.API, filter string) (sql string, args []any, err error) {
	if a.Matching != nil {
		return a.Matching(filter)
	}
	return resource.Matching(api, a.List, filter)
}

// call is the path and the body for one record.
func (a *Act) call(id string, arguments map[string]any) (path string, body any) {
	if a.method == http.MethodPut { // the collection's own change of fields
		record := map[string]any{"_id": id}
		for name, value := range arguments {
			record[name] = value
		}
		return a.path, []any{record}
	}
	return strings.Replace(a.path, "{id}", url.PathEscape(id), 1), bodyOf(arguments)
}

func bodyOf(arguments map[string]any) any {
	if len(arguments) == 0 {
		return nil
	}
	return arguments
}

// check says which argument is missing, or is none of the act's; "" for neither.
func (a *Act) check(arguments map[string]any) (field, says string) {
	if a.Fields == nil {
		if len(arguments) == 0 {
			return "arguments", "has to name the fields that are written"
		}
		if _, named := arguments["_id"]; named {
			return "arguments", "may not name _id"
		}
		return "", ""
	}
	for _, name := range a.Fields {
		if _, given := arguments[name]; !given {
			return "arguments", "has to have " + name
		}
	}
	if len(arguments) > len(a.Fields) {
		return "arguments", "has a member that the act does not take"
	}
	return "", ""
}

func resolved(api *httpapi.API) map[string]*Act {
	byName := map[string]*Act{}
	for _, act := range Acts {
		route := httpapi.Named(api, act.Route)
		act.method, act.path = route.Method, route.Path
		byName[act.Name] = &act
	}
	return byName
}

func argumentsOf(raw json.RawMessage) (map[string]any, error) {
	var arguments map[string]any
	if err := json.Unmarshal(raw, &arguments); err != nil {
		return nil, fmt.Errorf("read arguments: %w", err)
	}
	return arguments, nil
}
