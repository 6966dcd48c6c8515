package catalog

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"marquee/modules/catalog/internal/catalogdb"
	"marquee/platform/fault"
	"marquee/platform/httpapi"
	"marquee/platform/objectid"
	"marquee/platform/resource"
)

// What becomes of a line.
const (
	outcomeCreate    = "create"
	outcomeUpdate    = "update"
	outcomeUnchanged = "unchanged"
	outcomeInvalid   = "invalid"
)

// importRow is a line that was checked, as catalog.import_rows has it.
type importRow struct {
	Position int                        `json:"position"`
	Line     int                        `json:"line"`
	Outcome  string                     `json:"outcome"`
	RecordID string                     `json:"record_id"`
	Title    string                     `json:"title"`
	Record   map[string]json.RawMessage `json:"record"` // nil: nothing is written
	Changes  []string                   `json:"changes"`
	Errors   []importError              `json:"errors"`

	names map[string][]string
}

// importError is what is wrong with a line, in the words of POST and PUT /videos.
type importError struct {
	Field   string `json:"field" doc:"Empty where it is the line as a whole"`
	Message string `json:"message"`
}

func (r *importRow) wrong(field, says string) {
	r.Errors = append(r.Errors, importError{Field: field, Message: strings.TrimSpace(field + " " + says)})
}

// checkSheet says of each line what it would make or change, and what is wrong with it. It writes nothing and locks
// nothing: the import checks all once more, when it writes.
func (s *Service) checkSheet(ctx context.Context, file *sheet) ([]*importRow, error) {
	rows := make([]*importRow, len(file.lines))
	seen := map[string]int{}
	for i, line := range file.lines {
		r := &importRow{Position: i + 1, Line: line.number, Changes: []string{}, Errors: []importError{}}
		rows[i] = r
		if line.wrong != "" {
			r.wrong("", "The line "+line.wrong+".")
			continue
		}
		r.Record, r.names, r.RecordID = file.record(line)
		if before, twice := seen[r.RecordID]; twice && r.RecordID != "" {
			r.wrong(idColumn, fmt.Sprintf("is in the file twice: line %d has it too", before))
		}
		seen[r.RecordID] = line.number
	}
	if err := s.resolveNames(ctx, rows); err != nil {
		return nil, err
	}
	for _, r := range rows {
		if r.Record != nil {
			r.validate()
		}
	}
	if err := s.checkReferences(ctx, rows); err != nil {
		return nil, err
	}
	if err := s.checkSlugs(ctx, rows); err != nil {
		return nil, err
	}
	if err := s.compare(ctx, rows); err != nil {
		return nil, err
	}
	for _, r := range rows {
		r.conclude()
	}
	return rows, nil
}

// conclude says what becomes of the line, once all is known.
func (r *importRow) conclude() {
	_ = json.Unmarshal(r.Record["title"], &r.Title) // "" where it is none
	if runes := []rune(r.Title); len(runes) > 200 {
		r.Title = string(runes[:200])
	}
	switch {
	case len(r.Errors) > 0:
		r.Outcome, r.Changes = outcomeInvalid, []string{}
		if _, err := objectid.Parse(r.RecordID); err != nil {
			r.RecordID = ""
		}
	case r.RecordID == "":
		r.Outcome, r.Changes = outcomeCreate, slices.Sorted(maps.Keys(r.Record))
	case len(r.Changes) > 0:
		r.Outcome = outcomeUpdate
		maps.DeleteFunc(r.Record, func(name string, _ json.RawMessage) bool {
			return name != idColumn && name != dateColumn && !slices.Contains(r.Changes, name)
		})
	default:
		r.Outcome = outcomeUnchanged
	}
	if r.Outcome != outcomeCreate && r.Outcome != outcomeUpdate {
		r.Record = nil
	}
}

// validate is what POST or PUT /videos would say of the line alone.
func (r *importRow) validate() {
	raw, err := json.Marshal([]map[string]json.RawMessage{r.Record})
	if err == nil {
		check := func(body resource.RawJSON) error { return resource.CheckNew(Videos, body) }
		if r.RecordID != "" {
			check = Videos.CheckChanges
		}
		err = check(resource.RawJSON(raw))
	}
	var refused *fault.Error
	if !errors.As(err, &refused) {
		return
	}
	for _, issue := range refused.Issues {
		field := refused.Field
		if len(issue.Loc) > 2 {
			field = fmt.Sprint(issue.Loc[2])
		}
		if _, byName := r.names[nameOf(field)]; !byName { // its names are told of already
			r.Errors = append(r.Errors, importError{Field: field, Message: issue.Msg})
		}
	}
}

// nameOf is the column that stands for a field by names; "" of one that has none.
func nameOf(field string) string {
	for name, id := range named {
		if id == field {
			return name
		}
	}
	return ""
}

// kinds are the records of the catalogue that a field of videos names, as RecordList calls them, with the constraint
// that refuses an unknown one.
var kinds = []struct{ field, name, kind, constraint string }{
	{"category_id", "category_name", "category", "videos_category_id_known"},
	{"tags_id", "tags_name", "tag", "videos_tags_id_known"},
	{"season_id", "season_name", "season", "videos_season_id_known"},
}

// resolveNames puts ids in the place of names. Names are compared to the letter; of several records by one name none
// is guessed.
func (s *Service) resolveNames(ctx context.Context, rows []*importRow) error {
	wanted := map[string][]string{}
	for _, r := range rows {
		for column, names := range r.names {
			wanted[column] = append(wanted[column], names...)
		}
	}
	if len(wanted) == 0 {
		return nil
	}
	for column, names := range wanted {
		slices.Sort(names)
		wanted[column] = slices.Compact(names)
	}
	found, err := s.db.ImportNameList(ctx, s.deps.Pool, catalogdb.ImportNameListParams{
		Categories: texts(wanted["category_name"]), Tags: texts(wanted["tags_name"]),
		Seasons: texts(wanted["season_name"]),
	})
	if err != nil {
		return fmt.Errorf("read names: %w", err)
	}
	ids := map[[2]string][]string{}
	for _, f := range found {
		key := [2]string{f.Kind, f.Name}
		ids[key] = append(ids[key], f.ID.String())
	}
	for _, r := range rows {
		for _, k := range kinds {
			names, given := r.names[k.name]
			if !given {
				continue
			}
			list := make([]string, 0, len(names))
			for _, name := range names {
				switch of := ids[[2]string{k.kind, name}]; len(of) {
				case 0:
					r.wrong(k.name, "names an unknown "+k.kind+": "+name)
				case 1:
					list = append(list, of[0])
				default:
					r.wrong(k.name, fmt.Sprintf("names %d: give %s in place of %s", len(of), k.field, name))
				}
			}
			r.Record[k.field] = resource.FromText(Videos, k.field, strings.Join(list, resource.ListSeparator))
		}
	}
	return nil
}

func texts(list []string) []string {
	if list == nil {
		return []string{}
	}
	return list
}

// idsIn are the ids of a field; none where it holds something else, which validate tells.
func idsIn(raw json.RawMessage) (ids []string) {
	var one string
	if json.Unmarshal(raw, &ids) != nil && json.Unmarshal(raw, &one) == nil {
		ids = []string{one}
	}
	for i := range ids {
		ids[i] = strings.ToLower(ids[i])
	}
	return ids
}

// checkReferences refuses categories, tags and seasons that are not there.
func (s *Service) checkReferences(ctx context.Context, rows []*importRow) error {
	wanted := map[string]bool{}
	for _, r := range rows {
		for _, k := range kinds {
			for _, id := range idsIn(r.Record[k.field]) {
				wanted[id] = true
			}
		}
	}
	if len(wanted) == 0 {
		return nil
	}
	found, err := s.db.RecordList(ctx, s.deps.Pool, slices.Sorted(maps.Keys(wanted)))
	if err != nil {
		return fmt.Errorf("read records: %w", err)
	}
	there := map[[2]string]bool{}
	for _, f := range found {
		there[[2]string{f.Kind, f.ID.String()}] = true
	}
	for _, r := range rows {
		for _, k := range kinds {
			unknown := slices.ContainsFunc(idsIn(r.Record[k.field]), func(id string) bool {
				_, err := objectid.Parse(id)
				return err == nil && !there[[2]string{k.kind, id}]
			})
			if unknown {
				field, says := resource.Refusal(Videos, k.constraint)
				r.wrong(field, says)
			}
		}
	}
	return nil
}

// checkSlugs refuses slugs that another line or another record has; one that the file would free first is refused too.
func (s *Service) checkSlugs(ctx context.Context, rows []*importRow) error {
	first := map[string]*importRow{}
	field, says := resource.Refusal(Videos, "videos_slug_unique")
	for _, r := range rows {
		var slug string
		if json.Unmarshal(r.Record["slug"], &slug) != nil || slug == "" {
			continue
		}
		if other := first[slug]; other != nil {
			r.wrong(field, fmt.Sprintf("%s by line %d", says, other.Line))
			continue
		}
		first[slug] = r
	}
	if len(first) == 0 {
		return nil
	}
	found, err := s.db.SlugList(ctx, s.deps.Pool, slices.Sorted(maps.Keys(first)))
	if err != nil {
		return fmt.Errorf("read slugs: %w", err)
	}
	for _, f := range found {
		if r := first[f.Slug]; f.Collection == "videos" && r.RecordID != f.ID.String() {
			r.wrong(field, says)
		}
	}
	return nil
}

// comparedAtOnce is how many records are read at once to be compared.
const comparedAtOnce = 1000

// compare finds what the lines with an id would change, and refuses records that are not there or were changed since
// they were read.
func (s *Service) compare(ctx context.Context, rows []*importRow) error {
	byID := map[objectid.ID]*importRow{}
	for _, r := range rows {
		if id, err := objectid.Parse(r.RecordID); err == nil && r.Record != nil && byID[id] == nil {
			byID[id] = r
		}
	}
	for ids := range slices.Chunk(slices.Sorted(maps.Keys(byID)), comparedAtOnce) {
		raw, _, err := Videos.DocsTx(ctx, s.deps.Pool, ids)
		if err != nil {
			return err
		}
		var docs []map[string]json.RawMessage
		if err := json.Unmarshal(slices.Concat([]byte{'['}, raw, []byte{']'}), &docs); err != nil {
			return fmt.Errorf("read videos: %w", err)
		}
		for _, doc := range docs {
			id, err := objectid.Parse(strings.Trim(string(doc[idColumn]), `"`))
			if err != nil {
				return fmt.Errorf("read videos: %w", err)
			}
			byID[id].compareWith(doc)
			delete(byID, id)
		}
	}
	for _, r := range byID {
		r.wrong(idColumn, "names an unknown video")
	}
	return nil
}

func (r *importRow) compareWith(doc map[string]json.RawMessage) {
	for name, value := range r.Record {
		switch {
		case name == idColumn:
		case name == dateColumn:
			if !sameInstant(value, doc[name]) {
				r.wrong(name, "is not the record's: it was changed after it was read")
			}
		case !resource.SameJSON(value, doc[name]) && !sameInstant(value, doc[name]) && !sameIDs(value, doc[name]):
			r.Changes = append(r.Changes, name)
		}
	}
	slices.Sort(r.Changes)
}

// sameIDs reports whether two values are the same but for the case of their digits.
func sameIDs(a, b json.RawMessage) bool {
	left, right := idsIn(a), idsIn(b)
	isNone := func(id string) bool { _, err := objectid.Parse(id); return err != nil }
	return len(left) > 0 && slices.Equal(left, right) && !slices.ContainsFunc(left, isNone)
}

// sameInstant reports whether two values are one instant, however they are written.
func sameInstant(a, b json.RawMessage) bool {
	var left, right string
	if json.Unmarshal(a, &left) != nil || json.Unmarshal(b, &right) != nil {
		return false
	}
	x, errX := httpapi.ParseTime(left)
	y, errY := httpapi.ParseTime(right)
	return errX == nil && errY == nil && httpapi.Time(x) == httpapi.Time(y)
}
