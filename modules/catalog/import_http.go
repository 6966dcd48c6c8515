package catalog

import (
	"bytes"
	"context"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"github.com/danielgtaylor/huma/v2"
	"github.com/jackc/pgx/v5"

	"marquee/modules/catalog/internal/catalogdb"
	"marquee/platform/audit"
	"marquee/platform/export"
	"marquee/platform/fault"
	"marquee/platform/httpapi"
	"marquee/platform/objectid"
	"marquee/platform/postgres"
	"marquee/platform/stream"
)

// importEventsHandler is the handler name of the stream of an import.
const importEventsHandler = "import_events"

// importBody is an import as staff see it.
type importBody struct {
	ID        objectid.ID   `json:"_id"`
	Filename  string        `json:"filename"`
	ActorID   objectid.ID   `json:"actor_id" doc:"Who uploaded it"`
	State     string        `json:"state" enum:"checked,running,done,stopped,failed" doc:"checked: nothing is written yet"`
	Total     int32         `json:"total" doc:"Lines besides the header"`
	Creates   int32         `json:"creates" doc:"Lines that make a video"`
	Updates   int32         `json:"updates" doc:"Lines that change one"`
	Unchanged int32         `json:"unchanged" doc:"Lines that say what the catalogue has"`
	Invalid   int32         `json:"invalid" doc:"Lines with errors: with any the import cannot be started"`
	Written   int32         `json:"written" doc:"Records written so far, all at once visible when it is done"`
	Error     string        `json:"error" doc:"Why it failed; empty otherwise"`
	CreatedAt httpapi.Time  `json:"created_at"`
	StartedAt *httpapi.Time `json:"started_at" nullable:"true"`
	EndedAt   *httpapi.Time `json:"ended_at" nullable:"true"`
}

func importOf(i catalogdb.CatalogImport) importBody {
	return importBody{
		ID: i.ID, Filename: i.Filename, ActorID: i.ActorID, State: i.State, Total: i.Total, Creates: i.Creates,
		Updates: i.Updates, Unchanged: i.Total - i.Creates - i.Updates - i.Invalid, Invalid: i.Invalid,
		Written: i.Written, Error: i.Error, CreatedAt: httpapi.Time(i.CreatedAt),
		StartedAt: httpapi.TimePtr(i.StartedAt), EndedAt: httpapi.TimePtr(i.EndedAt),
	}
}

// importRoutes registers the imports of videos.
func (s *Service) importRoutes(api *httpapi.API) {
	h := handlers{s}
	const path = "/admin/imports"
	httpapi.Route(api, http.MethodGet, path, "import_list", httpapi.Admin, h.listImports, httpapi.Summary("Imports of videos"))
	httpapi.Route(api, http.MethodPost, path, "import_check", httpapi.Admin, h.checkImport,
		httpapi.Raw("text/csv", "CSV of videos in UTF-8, at most 16 MB and 20,000 lines"), httpapi.MaxBody(maxImportBytes),
		httpapi.Summary("Check a file of videos without writing any"))
	httpapi.Route(api, http.MethodGet, path+"/{id}", "import_get", httpapi.Admin, h.getImport,
		httpapi.Summary("How far an import is"))
	httpapi.Route(api, http.MethodGet, path+"/{id}/events", importEventsHandler, httpapi.Admin, h.importEvents,
		append(stream.Doc[importBody](api, "ImportEvent", "import"),
			httpapi.Summary("How far an import is, as it goes on"))...)
	httpapi.Route(api, http.MethodPost, path+"/{id}/start", "import_start", httpapi.Admin, h.startImport,
		httpapi.Summary("Write the videos of a checked file"))
	httpapi.Route(api, http.MethodPost, path+"/{id}/stop", "import_stop", httpapi.Admin, h.stopImport,
		httpapi.Summary("Stop an import, of which nothing is written"))
	httpapi.Route(api, http.MethodGet, path+"/{id}/rows", "import_rows", httpapi.Admin, h.listImportRows,
		httpapi.Summary("The report for each line"))
	httpapi.Route(api, http.MethodGet, path+"/{id}/report", "import_report", httpapi.Admin, h.downloadReport,
		httpapi.Summary("The report for each line, as a CSV file"),
		httpapi.Response("200", &huma.Response{Description: "The file", Content: map[string]*huma.MediaType{
			"text/csv": {Schema: &huma.Schema{Type: huma.TypeString}},
		}}))
}

type checkImportInput struct {
	Filename string `query:"filename" maxLength:"200" default:"videos.csv" doc:"What the file is called"`
	RawBody  []byte
}

// checkImport answers POST /admin/imports: the dry run. 422 for a file that cannot be read; what is wrong with its
// lines is in the report.
func (h handlers) checkImport(ctx context.Context, in *checkImportInput) (*httpapi.Output[importBody], error) {
	file, err := readSheet(in.RawBody)
	if err != nil {
		return nil, err
	}
	rows, err := h.s.checkSheet(ctx, file)
	if err != nil {
		return nil, err
	}
	counts := map[string]int32{}
	for _, r := range rows {
		counts[r.Outcome]++
	}
	raw, err := json.Marshal(rows)
	if err != nil {
		return nil, fmt.Errorf("write lines: %w", err)
	}
	now := h.s.deps.Clock.Now()
	one := catalogdb.ImportInsertParams{
		ID: objectid.At(now), Filename: in.Filename, Delimiter: string(file.delimiter),
		ActorID: httpapi.CallerOf(ctx).ID,
		Total:   int32(len(rows)), Creates: counts[outcomeCreate], Updates: counts[outcomeUpdate], //nolint:gosec // at most 20,000
		Invalid: counts[outcomeInvalid], CreatedAt: now,
	}
	err = postgres.InTx(ctx, h.s.deps.Pool, func(tx pgx.Tx) error {
		if err := h.s.db.ImportInsert(ctx, tx, one); err != nil {
			return err
		}
		lines := catalogdb.ImportRowInsertParams{ImportID: one.ID, Rows: raw}
		if err := h.s.db.ImportRowInsert(ctx, tx, lines); err != nil {
			return err
		}
		return audit.RecordTx(ctx, tx, audit.Change{Resource: "imports", RecordID: one.ID, After: map[string]any{
			"filename": one.Filename, "total": one.Total, "state": importChecked,
		}})
	})
	if err != nil {
		return nil, fmt.Errorf("keep import: %w", err)
	}
	return h.s.importResponse(ctx, one.ID)
}

func (s *Service) importResponse(ctx context.Context, id objectid.ID) (*httpapi.Output[importBody], error) {
	one, err := s.db.ImportGet(ctx, s.deps.Pool, id)
	if err != nil {
		return nil, fmt.Errorf("read import: %w", err)
	}
	return httpapi.OK(importOf(one))
}

type importsBody struct {
	Imports []importBody `json:"imports" doc:"The last 50, the newest first"`
}

// listImports answers GET /admin/imports: the caller's, everybody's for root.
func (h handlers) listImports(ctx context.Context, _ *struct{}) (*httpapi.Output[importsBody], error) {
	of := httpapi.CallerOf(ctx).ID
	if httpapi.CallerOf(ctx).Root {
		of = ""
	}
	all, err := h.s.db.ImportList(ctx, h.s.deps.Pool, of.String())
	if err != nil {
		return nil, fmt.Errorf("list imports: %w", err)
	}
	body := importsBody{Imports: make([]importBody, len(all))}
	for i, one := range all {
		body.Imports[i] = importOf(one)
	}
	return httpapi.OK(body)
}

type importInput struct {
	ID string `path:"id" pattern:"^[0-9a-fA-F]{24}$" patternDescription:"an id of 24 hexadecimal digits"`
}

// findImport reads one of the caller's, of anybody's for root; 404 for any other.
func (s *Service) findImport(ctx context.Context, id string) (catalogdb.CatalogImport, error) {
	one, err := s.db.ImportGet(ctx, s.deps.Pool, objectid.ID(strings.ToLower(id)))
	if postgres.IsNoRows(err) || err == nil && !mayReadImport(one, httpapi.CallerOf(ctx)) {
		return one, fault.NotFound("Import")
	}
	if err != nil {
		return one, fmt.Errorf("read import: %w", err)
	}
	return one, nil
}

func mayReadImport(one catalogdb.CatalogImport, c httpapi.Caller) bool {
	return one.ActorID == c.ID || c.Root
}

// getImport answers GET /admin/imports/{id}.
func (h handlers) getImport(ctx context.Context, in *importInput) (*httpapi.Output[importBody], error) {
	one, err := h.s.findImport(ctx, in.ID)
	if err != nil {
		return nil, err
	}
	return httpapi.OK(importOf(one))
}

// importStates reads imports that are followed, by their ids.
func (s *Service) importStates(ctx context.Context, ids []string) (map[string]stream.State, error) {
	all, err := s.db.ImportListOf(ctx, s.deps.Pool, ids)
	if err != nil {
		return nil, fmt.Errorf("read imports: %w", err)
	}
	states := make(map[string]stream.State, len(all))
	for _, one := range all {
		states[one.ID.String()] = stream.State{
			ID:   fmt.Sprintf("%s.%d.%d", one.State, one.Attempts, one.Written),
			Data: importOf(one), Ended: one.EndedAt != nil,
		}
	}
	return states, nil
}

// importEvents answers GET /admin/imports/{id}/events with what GET /admin/imports/{id} answers, whenever it changes.
func (h handlers) importEvents(ctx context.Context, in *importInput) (*huma.StreamResponse, error) {
	one, err := h.s.findImport(ctx, in.ID)
	if err != nil {
		return nil, err
	}
	return h.s.imports.Serve(ctx, h.s.api, stream.Target{
		Route: importEventsHandler, Key: one.ID.String(), Event: "import", Lists: true,
		May: func(c httpapi.Caller) bool { return mayReadImport(one, c) },
	})
}

// startImport answers POST /admin/imports/{id}/start. Errors: 403 for who may not make or change videos; 409 for a file
// with errors, one that changes nothing, and one that was started or has ended.
func (h handlers) startImport(ctx context.Context, in *importInput) (*httpapi.Output[importBody], error) {
	one, err := h.s.findImport(ctx, in.ID)
	if err != nil {
		return nil, err
	}
	caller := httpapi.CallerOf(ctx)
	for _, w := range importWrites {
		if w.needed(one) && !httpapi.Named(h.s.api, w.route).Allows(caller) {
			return nil, fault.Forbidden("You may not do this, neither to one video nor to many.")
		}
	}
	switch {
	case one.State != importChecked:
		return nil, fault.Conflict("The import is not waiting to be started: it is %s.", one.State)
	case one.Invalid > 0:
		return nil, fault.Conflict("The file has %s with errors: mend them and upload it again.",
			fault.Count(int(one.Invalid), "line"))
	case one.Creates+one.Updates == 0:
		return nil, fault.Conflict("The file changes nothing.")
	}
	claims, err := json.Marshal(caller.Claims)
	if err != nil {
		return nil, fmt.Errorf("write claims: %w", err)
	}
	err = postgres.InTx(ctx, h.s.deps.Pool, func(tx pgx.Tx) error {
		n, err := h.s.db.ImportOpen(ctx, tx,
			catalogdb.ImportOpenParams{ID: one.ID, Claims: claims, Now: h.s.deps.Clock.Now()})
		if err != nil {
			return err
		}
		if n == 0 {
			return fault.Conflict("The import is not waiting to be started any more.")
		}
		if _, err := h.s.deps.Jobs.InsertTx(ctx, tx, runImportArgs{ImportID: one.ID}, nil); err != nil {
			return fmt.Errorf("queue import: %w", err)
		}
		return h.s.recordImportTx(ctx, tx, one, importRunning)
	})
	if err != nil {
		return nil, err
	}
	return h.s.importResponse(ctx, one.ID)
}

func (s *Service) recordImportTx(ctx context.Context, tx pgx.Tx, one catalogdb.CatalogImport, state string) error {
	return audit.RecordTx(ctx, tx, audit.Change{
		Resource: "imports", RecordID: one.ID, Before: map[string]any{"state": one.State},
		After: map[string]any{"state": state},
	})
}

// stopImport answers POST /admin/imports/{id}/stop: nothing of it is written. 409 where it has ended: what is written
// stays.
func (h handlers) stopImport(ctx context.Context, in *importInput) (*httpapi.Output[importBody], error) {
	one, err := h.s.findImport(ctx, in.ID)
	if err != nil {
		return nil, err
	}
	err = postgres.InTx(ctx, h.s.deps.Pool, func(tx pgx.Tx) error {
		n, err := h.s.db.ImportEnd(ctx, tx, catalogdb.ImportEndParams{ID: one.ID, Now: h.s.deps.Clock.Now()})
		if err != nil {
			return err
		}
		if n == 0 {
			return fault.Conflict("The import has already ended.")
		}
		return h.s.recordImportTx(ctx, tx, one, "stopped")
	})
	if err != nil {
		return nil, err
	}
	return h.s.importResponse(ctx, one.ID)
}

type importRowsInput struct {
	ID      string `path:"id" pattern:"^[0-9a-fA-F]{24}$" patternDescription:"an id of 24 hexadecimal digits"`
	Outcome string `query:"outcome" enum:"create,update,unchanged,invalid" doc:"Lines of that outcome alone"`
	After   int32  `query:"after" minimum:"0" maximum:"20000" doc:"A position: lines behind it"`
	Qty     int32  `query:"qty" minimum:"1" maximum:"1000" default:"100"`
}

// importLine is a line of a file with what it makes or changes.
type importLine struct {
	Position int32         `json:"position" doc:"From 1, without the header"`
	Line     int32         `json:"line" doc:"In the file, from 1"`
	Outcome  string        `json:"outcome" enum:"create,update,unchanged,invalid"`
	RecordID *objectid.ID  `json:"record_id" nullable:"true" doc:"Of a new video once it is written"`
	Title    string        `json:"title"`
	Changes  []string      `json:"changes" doc:"Fields that are written"`
	Errors   []importError `json:"errors"`
}

func lineBodyOf(r catalogdb.ImportRowListRow) (importLine, error) {
	line := importLine{
		Position: r.Position, Line: r.Line, Outcome: r.Outcome, RecordID: r.RecordID, Title: r.Title,
		Changes: r.Changes,
	}
	if err := json.Unmarshal(r.Errors, &line.Errors); err != nil {
		return line, fmt.Errorf("read line: %w", err)
	}
	return line, nil
}

func (s *Service) importLines(ctx context.Context, p catalogdb.ImportRowListParams) ([]importLine, error) {
	all, err := s.db.ImportRowList(ctx, s.deps.Pool, p)
	if err != nil {
		return nil, fmt.Errorf("read lines: %w", err)
	}
	lines := make([]importLine, len(all))
	for i, r := range all {
		if lines[i], err = lineBodyOf(r); err != nil {
			return nil, err
		}
	}
	return lines, nil
}

type importRowsBody struct {
	Rows []importLine `json:"rows"`
}

// listImportRows answers GET /admin/imports/{id}/rows.
func (h handlers) listImportRows(ctx context.Context, in *importRowsInput) (*httpapi.Output[importRowsBody], error) {
	one, err := h.s.findImport(ctx, in.ID)
	if err != nil {
		return nil, err
	}
	lines, err := h.s.importLines(ctx, catalogdb.ImportRowListParams{
		ImportID: one.ID, Outcome: in.Outcome, After: in.After, Qty: in.Qty,
	})
	if err != nil {
		return nil, err
	}
	return httpapi.OK(importRowsBody{Rows: lines})
}

type importReport struct {
	ContentType        string `header:"Content-Type"`
	ContentDisposition string `header:"Content-Disposition"`
	Body               []byte
}

// downloadReport answers GET /admin/imports/{id}/report: all lines as a CSV file with a BOM and the delimiter of the
// file that was uploaded. What a spreadsheet would take for a formula has an apostrophe before it.
func (h handlers) downloadReport(ctx context.Context, in *importInput) (*importReport, error) {
	one, err := h.s.findImport(ctx, in.ID)
	if err != nil {
		return nil, err
	}
	out := &importReport{
		ContentType:        "text/csv; charset=utf-8",
		ContentDisposition: `attachment; filename="import_` + one.ID.String() + `.csv"`,
	}
	if httpapi.HeadOnly(ctx) {
		return out, nil
	}
	lines, err := h.s.importLines(ctx, catalogdb.ImportRowListParams{ImportID: one.ID, Qty: maxImportRows})
	if err != nil {
		return nil, err
	}
	var text bytes.Buffer
	text.WriteString("\ufeff")
	w := csv.NewWriter(&text)
	w.Comma, w.UseCRLF = []rune(one.Delimiter)[0], true
	_ = w.Write([]string{"line", "outcome", "_id", "title", "changes", "errors"})
	for _, l := range lines {
		id, sentences := "", make([]string, len(l.Errors))
		if l.RecordID != nil {
			id = l.RecordID.String()
		}
		for i, e := range l.Errors {
			sentences[i] = e.Message
		}
		_ = w.Write([]string{
			strconv.Itoa(int(l.Line)), l.Outcome, id, export.Neutral(l.Title), strings.Join(l.Changes, "|"),
			export.Neutral(strings.Join(sentences, "; ")),
		})
	}
	w.Flush()
	out.Body = text.Bytes()
	return out, nil
}
