package finance_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/xuri/excelize/v2"

	"marquee/modules/finance/financetest"
)

func hundredths(x float64) float64 { return math.Round(x*100) / 100 }

// sheets are the tables of an exported file by name. Each format is brought to the
// texts of the csv: amounts with two decimals, instants in UTC.
type sheets map[string][]map[string]string

// opened reads an export back.
func (b *bundle) opened(address, format string) sheets {
	b.t.Helper()
	file := b.admin.Get(address + "&format=" + format).Expect(http.StatusOK).Body
	switch format {
	case "csv":
		return fromCSV(b.t, file)
	case "json":
		return fromJSON(b.t, file)
	}
	return fromWorkbook(b.t, file)
}

func fromCSV(t testing.TB, file []byte) sheets {
	t.Helper()
	all := sheets{}
	for name, rows := range csvFiles(t, file) {
		all[strings.TrimSuffix(name, ".csv")] = keyed(rows)
	}
	return all
}

func keyed(rows [][]string) []map[string]string {
	table := []map[string]string{}
	for _, row := range rows[1:] {
		object := map[string]string{}
		for i, column := range rows[0] {
			if i < len(row) && row[i] != "" { // a row ends with its last value
				object[column] = row[i]
			}
		}
		table = append(table, object)
	}
	return table
}

func fromJSON(t testing.TB, file []byte) sheets {
	t.Helper()
	var given map[string][]map[string]any
	d := json.NewDecoder(bytes.NewReader(file))
	d.UseNumber()
	require.NoError(t, d.Decode(&given))
	all := sheets{}
	for name, rows := range given {
		table := []map[string]string{}
		for _, row := range rows {
			object := map[string]string{}
			for column, value := range row {
				if value != nil {
					object[column] = fmt.Sprint(value)
				}
			}
			table = append(table, object)
		}
		all[name] = table
	}
	return all
}

// fromWorkbook reads the raw cells and brings them to text by their number format,
// as a spreadsheet does.
func fromWorkbook(t testing.TB, file []byte) sheets {
	t.Helper()
	book, err := excelize.OpenReader(bytes.NewReader(file))
	require.NoError(t, err)
	defer func() { require.NoError(t, book.Close()) }()
	all := sheets{}
	for _, name := range book.GetSheetList() {
		rows, err := book.GetRows(name, excelize.Options{RawCellValue: true})
		require.NoError(t, err)
		for r := range rows {
			for c := range rows[r] {
				cell, err := excelize.CoordinatesToCellName(c+1, r+1)
				require.NoError(t, err)
				id, err := book.GetCellStyle(name, cell)
				require.NoError(t, err)
				style, err := book.GetStyle(id)
				require.NoError(t, err)
				kind, err := book.GetCellType(name, cell)
				require.NoError(t, err)
				rows[r][c] = asCSV(t, rows[r][c], style, kind)
			}
		}
		all[name] = keyed(rows)
	}
	return all
}

func asCSV(t testing.TB, raw string, style *excelize.Style, kind excelize.CellType) string {
	t.Helper()
	if raw == "" || kind == excelize.CellTypeInlineString {
		return raw
	}
	if kind == excelize.CellTypeBool {
		return strconv.FormatBool(raw == "1")
	}
	x, err := strconv.ParseFloat(raw, 64)
	require.NoError(t, err)
	switch {
	case style.CustomNumFmt != nil:
		zone, err := time.LoadLocation("America/Sao_Paulo")
		require.NoError(t, err)
		at := time.Date(1899, 12, 30, 0, 0, 0, 0, zone).AddDate(0, 0, int(x)).
			Add(time.Duration(math.Round((x-math.Trunc(x))*86_400_000)) * time.Millisecond)
		if !strings.Contains(*style.CustomNumFmt, "hh") {
			return at.Format(time.DateOnly)
		}
		return at.UTC().Format("2006-01-02T15:04:05.000Z")
	case style.NumFmt == 4:
		return strconv.FormatFloat(x, 'f', 2, 64)
	case style.NumFmt == 10:
		return strconv.FormatFloat(hundredths(x*100), 'f', -1, 64)
	}
	return raw
}

// lines are some columns as lines, ids by their names in the data set, nothing as -.
func (s sheets) lines(sheet string, columns ...string) []string {
	all := []string{}
	for _, row := range s[sheet] {
		var words []any
		for _, column := range columns {
			value, there := row[column]
			switch {
			case !there:
				value = "-"
			case len(value) == 24 && !strings.HasSuffix(value, "Z"):
				value = financetest.Name(value)
			}
			words = append(words, value)
		}
		all = append(all, fmt.Sprintln(words...))
	}
	return all
}

// instant is a time of golden.md as an export tells it; - stays.
func instant(s string) string { return strings.Replace(s, "Z", ".000Z", 1) }

// amount is a number of cents as an export tells it.
func amount(t testing.TB, r financetest.Row, column string) string {
	t.Helper()
	return strconv.FormatFloat(float64(r.Int(t, column))/100, 'f', 2, 64)
}

// httpExports holds each file in one format.
func httpExports(format string) func(*testing.T, *bundle) {
	return func(t *testing.T, b *bundle) {
		s := b.opened("/admin/finance/export?start=2026-01-01&end=2026-08-20", format)
		require.Len(t, s, 6)
		exportSummary(t, s)
		exportSubscriptions(t, s)
		exportOverdue(t, s)
		exportCancellations(t, s)
		exportRefunds(t, s)
		exportMovements(t, s)
		exportEvents(t, b.opened("/admin/events-dashboard/events/export?active_only=false", format))
		exportCustomers(t, b.opened("/admin/customers/export?bom=0", format))
	}
}

func exportSummary(t *testing.T, s sheets) {
	want := []string{
		"start - 2026-01-01\n", "end - 2026-08-20\n", "time_zone - America/Sao_Paulo\n",
		"generated_at - 2026-08-20T15:00:00.000Z\n",
	}
	for _, r := range financetest.Table(t, "Period") {
		value := amount(t, r, "value")
		if slices.Contains([]string{"new_subscriptions", "cancellations"}, r["figure"]) {
			value = r["value"]
		}
		want = append(want, fmt.Sprintln(r["figure"], r["of"], value))
	}
	for _, r := range financetest.Table(t, "Overview") {
		figure, of, _ := strings.Cut(strings.Replace(r["figure"], "mrr_gw", "mrr gw", 1), " ")
		if of == "" {
			of = "-"
		}
		switch figure {
		case "amount_at_risk": // the sheet overdue tells it
		case "total_customers", "active_subscriptions", "overdue_count":
			want = append(want, fmt.Sprintln(figure, of, r["value"]))
		case "churn_rate_30d", "payment_success_rate":
			want = append(want, fmt.Sprintln(figure, of, r.Float(t, "value")))
		default:
			want = append(want, fmt.Sprintln(figure, of, amount(t, r, "value")))
		}
	}
	for _, r := range financetest.Table(t, "By payment method") {
		want = append(want, fmt.Sprintln("by_payment_method.count", r["method"], r["count"]),
			fmt.Sprintln("by_payment_method.mrr", r["method"], amount(t, r, "mrr")))
	}
	for _, r := range financetest.Table(t, "By plan") {
		want = append(want, fmt.Sprintln("by_plan.count", r["plan_id"], r["count"]),
			fmt.Sprintln("by_plan.mrr", r["plan_id"], amount(t, r, "mrr")))
	}
	require.ElementsMatch(t, want, s.lines("summary", "figure", "of", "value"))
}

func exportSubscriptions(t *testing.T, s sheets) {
	var want []string
	for _, r := range financetest.Table(t, "Subscriptions") {
		customers := financetest.Names(t, r["customers"])
		for i, name := range financetest.Names(t, r["subscriptions"]) {
			want = append(want, fmt.Sprintln(name, customers[i], r["plan"], r["gateway"], r["method"],
				amount(t, r, "price"), r["months"], r["status"], r["active"], r["trial"],
				r["failures"], amount(t, r, "refunded"), r["chargeback"]))
		}
	}
	require.Len(t, want, 68)
	got := s.lines("subscriptions", "subscription_id", "customer_id", "plan_id", "gateway", "payment_method",
		"monthly_price", "period_months", "status", "is_active", "is_trial",
		"payment_failures", "total_refunded", "has_chargeback")
	slices.Sort(got)
	require.Equal(t, want, got)
}

func exportOverdue(t *testing.T, s sheets) {
	var want []string
	for _, r := range financetest.Table(t, "Overdue") {
		want = append(want, fmt.Sprintln(r["subscription"], r["status"], r["gateway"], r["method"], r["failures"],
			amount(t, r, "amount"), r["days_overdue"]))
	}
	require.Equal(t, want, s.lines("overdue", "subscription_id", "subscription_status", "gateway", "payment_method",
		"payment_failures", "amount", "days_overdue"))
}

func exportCancellations(t *testing.T, s sheets) {
	var want []string
	for _, r := range financetest.Table(t, "Exits") {
		want = append(want, fmt.Sprintln(r["subscription"], r["customer"], r["day"], instant(r["at"]), r["reason"],
			instant(r["returned"]), r["counted"]))
	}
	require.Equal(t, want,
		s.lines("cancellations", "subscription_id", "customer_id", "day", "at", "reason", "returned_at", "counted"))
}

func exportRefunds(t *testing.T, s sheets) {
	var want []string
	for _, r := range financetest.Table(t, "Refunds") {
		want = append(want, fmt.Sprintln(r["refund"], r["subscription"], r["gateway"], amount(t, r, "amount"),
			instant(r["refunded"])))
	}
	require.Equal(t, want, s.lines("refunds", "refund_id", "subscription_id", "gateway", "amount", "refunded_at"))
}

func exportMovements(t *testing.T, s sheets) {
	var want []string
	for _, r := range financetest.Table(t, "Movements") {
		words := []any{r["month"] + "-01"}
		for _, field := range movementFields {
			words = append(words, amount(t, r, field))
		}
		want = append(want, fmt.Sprintln(words...))
	}
	require.Equal(t, want, s.lines("movements", append([]string{"month"}, movementFields...)...))
}

func exportEvents(t *testing.T, s sheets) {
	var want []string
	tickets := map[string]int64{}
	for _, r := range financetest.Table(t, "Events") {
		want = append(want, fmt.Sprintln(r["event"], r["type"], r["capacity"], r["issued"], r["sold"], r["promo"],
			r["available"], r["consumed"], r["expired"], r["orders"],
			amount(t, r, "revenue"), r.Float(t, "occupancy_pct")))
		for _, status := range []string{"pending", "available", "consumed", "expired"} {
			if n := r.Int(t, status); n > 0 {
				tickets[fmt.Sprintln(r["event"], status)] = n
			}
		}
	}
	require.Len(t, s, 2)
	got := s.lines("Events", "event_id", "event_type", "capacity", "tickets_issued", "tickets_sold", "tickets_promo",
		"available", "consumed", "expired", "orders_count", "revenue", "occupancy_pct")
	slices.Sort(got)
	require.Equal(t, want, got)
	counted := map[string]int64{}
	for _, line := range s.lines("Tickets", "event_id", "status") {
		counted[line]++
	}
	require.Equal(t, tickets, counted)
	require.Contains(t, s.lines("Tickets", "ticket_order_id", "unit_price", "payment_status", "customer_email"),
		"O3 30.00 succeeded c03@example.com\n")
}

func exportCustomers(t *testing.T, s sheets) {
	require.Len(t, s, 1)
	require.Len(t, s["customers"], int(figures(t, "Overview")["total_customers"]))
}
