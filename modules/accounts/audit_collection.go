package accounts

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"marquee/platform/collection"
	"marquee/platform/httpapi"
	"marquee/platform/objectid"
)

// AuditOf is what the trail says about one record, as the collection GET whose
// parameters stand in the request's address, and how many entries it holds
// under them. The newest comes first unless the client sorts. Errors: 422 for bad parameters.
func (s *Service) AuditOf(ctx context.Context, resource string, recordID objectid.ID) (answer *collection.Answer, total int, err error) {
	view := s.collections.auditLog.View
	params, err := view.ParseParams(httpapi.RequestURL(ctx))
	if err != nil {
		return nil, 0, err
	}
	if _, err := view.Prepare(params); err != nil { // names the client's mistakes where he made them
		return nil, 0, err
	}
	if params.Query, err = aboutRecord(params, resource, recordID); err != nil {
		return nil, 0, err
	}
	if params.ID = ""; params.Sort == "" {
		params.Sort = `{"register_date":-1,"_id":-1}` // two changes may fall into one millisecond
	}
	list, err := view.Prepare(params)
	if err != nil {
		return nil, 0, err
	}
	if err := list.Run(ctx, s.pool); err != nil { // not a replica: who has just made a change wants to see it
		return nil, 0, err
	}
	return list.Envelope(ctx), list.Page().Total, nil
}

// aboutRecord narrows the filter of checked parameters, and their _id, to one
// record.
func aboutRecord(p collection.Params, resource string, recordID objectid.ID) (string, error) {
	all := []any{map[string]string{"resource": resource, "record_id": recordID.String()}}
	given := strings.TrimSpace(p.Query)
	switch {
	case p.ID != "":
		all = append(all, map[string]string{"_id": p.ID.String()})
	case given != "" && given != "null":
		all = append(all, json.RawMessage(given))
	}
	filter, err := json.Marshal(map[string]any{"$and": all})
	if err != nil {
		return "", fmt.Errorf("narrow filter to a record: %w", err)
	}
	return string(filter), nil
}

// AuditDoc documents a route that answers with AuditOf.
func (s *Service) AuditDoc() []httpapi.Option { return s.collections.auditLog.ListDoc() }
