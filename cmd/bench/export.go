package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/xuri/excelize/v2"
)

const exportRows = 100_000

// export measures the workbook of 100,000 customers beside excelize's StreamWriter
// with the same cells, which it has in memory.
func (p *platform) export(ctx context.Context, conn *pgx.Conn, admin string) error {
	var since time.Time
	err := conn.QueryRow(ctx, `SELECT min(c.created_at) FROM (
		SELECT created_at FROM finance.customers ORDER BY created_at DESC LIMIT $1) c`, exportRows).Scan(&since)
	if err != nil {
		return fmt.Errorf("find the newest customers: %w", err)
	}
	query := `{"created_at":{"$gte":"` + since.UTC().Format("2006-01-02T15:04:05.000Z") + `"}}`
	path := "/api/v1/admin/customers/export?" + url.Values{"query": {query}, "format": {"xlsx"}}.Encode()

	cells, err := p.exportedCells(ctx, admin, strings.Replace(path, "format=xlsx", "format=json", 1))
	if err != nil {
		return err
	}
	if _, err := p.download(ctx, admin, path); err != nil { // warm up
		return err
	}
	got, err := p.download(ctx, admin, path)
	if err != nil {
		return err
	}
	sheetRows, err := rowsOf(got.body)
	if err != nil {
		return err
	}
	if sheetRows != len(cells) {
		return fmt.Errorf("the workbook has %d rows, json %d", sheetRows, len(cells))
	}
	bare, err := bareWorkbook(cells)
	if err != nil {
		return err
	}
	ratio := got.took.Seconds() / bare.Seconds()
	fmt.Printf("\nworkbook of %d customers, %d columns, %d KB\n", len(cells)-1, len(cells[0]), len(got.body)>>10)
	fmt.Printf("%-26s %10s   %s\n", "", "", "goal")
	fmt.Printf("%-26s %10v   beside a bare StreamWriter: %v, ratio %.2f <= 1.5: %s\n", "export over HTTP",
		got.took.Round(time.Millisecond), bare.Round(time.Millisecond), ratio, verdict(ratio <= 1.5))
	fmt.Printf("%-26s %10v   <= 200ms: %s\n", "first byte", got.first.Round(100*time.Microsecond),
		verdict(got.first <= 200*time.Millisecond))
	fmt.Printf("%-26s %7d KB   <= 32 MB: %s\n", "growth of the server", got.grown, verdict(got.grown <= 32<<10))
	return nil
}

type download struct {
	first, took time.Duration
	grown       int64 // peak of the server's memory less what it had before, KB
	body        []byte
}

func (p *platform) download(ctx context.Context, token, path string) (download, error) {
	before, err := p.server.residentKB("VmRSS")
	if err != nil {
		return download{}, err
	}
	// 5 sets the peak back to what is used now.
	if err := os.WriteFile(fmt.Sprintf("/proc/%d/clear_refs", p.server.process), []byte("5"), 0o600); err != nil {
		return download{}, fmt.Errorf("set the peak back: %w", err)
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, p.server.url+path, nil)
	if err != nil {
		return download{}, fmt.Errorf("download: %w", err)
	}
	req.Header.Set("Authorization", "Bearer "+token)
	began := time.Now()
	res, err := client.Do(req)
	if err != nil {
		return download{}, fmt.Errorf("download: %w", err)
	}
	defer res.Body.Close()
	var d download
	var out bytes.Buffer
	if _, err := io.CopyN(&out, res.Body, 1); err != nil {
		return d, fmt.Errorf("first byte: %w", err)
	}
	d.first = time.Since(began)
	if _, err := out.ReadFrom(res.Body); err != nil {
		return d, fmt.Errorf("download: %w", err)
	}
	d.took, d.body = time.Since(began), out.Bytes()
	if res.StatusCode != http.StatusOK {
		return d, fmt.Errorf("download: %d %.300s", res.StatusCode, d.body)
	}
	peak, err := p.server.residentKB("VmHWM")
	d.grown = peak - before
	return d, err
}

// residentKB reads a figure of the server's process, in KB.
func (s side) residentKB(name string) (int64, error) {
	raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", s.process))
	if err != nil {
		return 0, fmt.Errorf("memory of the server: %w", err)
	}
	for line := range strings.Lines(string(raw)) {
		if value, found := strings.CutPrefix(line, name+":"); found {
			return strconv.ParseInt(strings.Fields(value)[0], 10, 64)
		}
	}
	return 0, fmt.Errorf("no %s of the server", name)
}

// exportedCells are the heading and the cells, typed as in the workbook: instants
// as such, the rest as in JSON.
func (p *platform) exportedCells(ctx context.Context, token, path string) ([][]any, error) {
	d, err := p.download(ctx, token, path)
	if err != nil {
		return nil, err
	}
	var file map[string]json.RawMessage
	if err := json.Unmarshal(d.body, &file); err != nil {
		return nil, fmt.Errorf("read the export: %w", err)
	}
	var cells [][]any
	for line := range strings.Lines(string(file["customers"])) {
		if !strings.HasPrefix(line, "{") {
			continue
		}
		row, heading, err := rowOf(line)
		if err != nil {
			return nil, err
		}
		if len(cells) == 0 {
			cells = append(cells, heading)
		}
		cells = append(cells, row)
	}
	return cells, nil
}

// rowOf reads an object in the order of its keys.
func rowOf(line string) (row, keys []any, err error) {
	d := json.NewDecoder(strings.NewReader(line))
	if _, err := d.Token(); err != nil {
		return nil, nil, fmt.Errorf("read the export: %w", err)
	}
	for d.More() {
		key, err := d.Token()
		if err != nil {
			return nil, nil, fmt.Errorf("read the export: %w", err)
		}
		value, err := d.Token()
		if err != nil {
			return nil, nil, fmt.Errorf("read the export: %w", err)
		}
		name, _ := key.(string)
		if text, isText := value.(string); isText && strings.HasSuffix(name, "_at") {
			if at, err := time.Parse(time.RFC3339, text); err == nil {
				value = at
			}
		}
		row, keys = append(row, value), append(keys, key)
	}
	return row, keys, nil
}

func rowsOf(workbook []byte) (int, error) {
	file, err := excelize.OpenReader(bytes.NewReader(workbook))
	if err != nil {
		return 0, fmt.Errorf("open the workbook: %w", err)
	}
	defer func() { _ = file.Close() }()
	rows, err := file.Rows("customers")
	if err != nil {
		return 0, fmt.Errorf("read the workbook: %w", err)
	}
	defer func() { _ = rows.Close() }()
	n := 0
	for rows.Next() {
		n++
	}
	return n, rows.Error()
}

// bareWorkbook is how long excelize's StreamWriter takes for the cells alone.
func bareWorkbook(cells [][]any) (time.Duration, error) {
	began := time.Now()
	file := excelize.NewFile()
	defer func() { _ = file.Close() }()
	stream, err := file.NewStreamWriter("Sheet1")
	if err != nil {
		return 0, fmt.Errorf("bare workbook: %w", err)
	}
	for n, row := range cells {
		if err := stream.SetRow("A"+strconv.Itoa(n+1), row); err != nil {
			return 0, fmt.Errorf("bare workbook: %w", err)
		}
	}
	if err := stream.Flush(); err != nil {
		return 0, fmt.Errorf("bare workbook: %w", err)
	}
	if _, err := file.WriteTo(io.Discard); err != nil {
		return 0, fmt.Errorf("bare workbook: %w", err)
	}
	return time.Since(began), nil
}
