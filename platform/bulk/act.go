package bulk

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"marquee/platform/fault"
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
	// Single are fields that no two records may share, or that belong to one person: they are not written in bulk.
	Single []string
	// MinLength is the least that a text among the arguments has, in bytes, where the operation's schema does not say.
	MinLength int
	// Matching selects the records of a list that is no collection; nil: the list's filter does.
	Matching func(filter string) (sql string, args []any, err error)
	// Once: it may not be done again where nobody knows whether it was done.
	Once bool

	method, path string // of the operation
}

// Acts are all of them.
var Acts = []Act{
	{
		Name: "customer_update", List: "/customers", Route: "customer_update",
		Single: []string{"username", "email", "tax_id"},
	},
	{Name: "video_update", List: "/videos", Route: "video_update", Single: []string{"slug"}},
	{Name: "subscription_cancel", List: "/subscriptions", Route: "subscription_cancel", Fields: []string{"reason"}},
	{
		Name: "subscription_extend", List: "/subscriptions", Route: "subscription_extend", Fields: []string{"days"},
		Once: true,
	},
	{Name: "webhook_log_replay", List: "/webhook-logs", Route: "webhook_log_replay", Fields: []string{}},
	{Name: "job_retry", List: "/admin/jobs", Route: "job_retry", Fields: []string{}, Matching: jobadmin.Matching},
	{
		Name: "job_cancel", List: "/admin/jobs", Route: "job_cancel", Fields: []string{"reason"},
		Matching: jobadmin.Matching, MinLength: jobadmin.MinReason,
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

// check is 422 for arguments that are missing or none of the act's, and for values that the single act would refuse
// whatever the record. The field is the argument.
func (a *Act) check(api *httpapi.API, arguments map[string]any) error {
	if a.Fields == nil {
		return a.checkFields(api, arguments)
	}
	for _, name := range a.Fields {
		if arguments[name] == nil {
			return fault.InvalidAt("has to have "+name, "body", argumentsName)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(arguments)) {
		if !slices.Contains(a.Fields, name) {
			return fault.InvalidAt("has a member that the act does not take", "body", argumentsName)
		}
		if text, ok := arguments[name].(string); ok && len(strings.TrimSpace(text)) < a.MinLength {
			says := fmt.Sprintf("has to be at least %d characters long", a.MinLength)
			return fault.InvalidAt(says, "body", argumentsName, name)
		}
	}
	if len(arguments) == 0 {
		return nil
	}
	return httpapi.CheckBody(api, httpapi.Named(api, a.Route), arguments, "body", argumentsName)
}

// argumentsName is the member of a request that has the arguments.
const argumentsName = "arguments"

// checkFields checks the fields that a collection's own change is to write.
func (a *Act) checkFields(api *httpapi.API, arguments map[string]any) error {
	if len(arguments) == 0 {
		return fault.InvalidAt("has to name the fields that are written", "body", argumentsName)
	}
	if _, named := arguments["_id"]; named {
		return fault.InvalidAt("may not name _id", "body", argumentsName)
	}
	fields := make(map[string]json.RawMessage, len(arguments))
	for name, value := range arguments {
		raw, err := json.Marshal(value)
		if err != nil {
			return fmt.Errorf("write argument: %w", err)
		}
		fields[name] = raw
	}
	return resource.CheckBulk(api, a.List, fields, a.Single, "body", argumentsName)
}

// hidden stands for an argument that the act does not take.
const hidden = "[hidden]"

// visible are arguments as staff see them: what the act does not take, which earlier versions stored unread, may be a
// secret.
func (a *Act) visible(api *httpapi.API, raw json.RawMessage) json.RawMessage {
	var arguments map[string]any
	if json.Unmarshal(raw, &arguments) != nil {
		return json.RawMessage("{}")
	}
	strange := false
	for name := range arguments {
		takes := slices.Contains(a.Fields, name) || a.Fields == nil && resource.TakesInBulk(api, a.List, name, a.Single)
		if !takes {
			arguments[name], strange = hidden, true
		}
	}
	if !strange {
		return raw
	}
	masked, err := json.Marshal(arguments)
	if err != nil {
		return json.RawMessage("{}")
	}
	return masked
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
