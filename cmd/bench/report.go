package main

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"
)

// report is what a run has measured; kept as JSON where a file is named.
type report struct {
	At      time.Time `json:"at"`
	Load    float64   `json:"load"`
	Binary  string    `json:"binary"`
	Compare string    `json:"compare,omitempty"`
	Turn    float64   `json:"turn_seconds"`
	Rows    []row     `json:"rows"`
	Starts  []starts  `json:"starts,omitempty"`
	Costs   []cost    `json:"costs,omitempty"`
}

// row is one load at one number of clients, on both sides.
type row struct {
	Name    string   `json:"name"`
	What    string   `json:"what"`
	Clients int      `json:"clients"`
	Ours    figures  `json:"ours"`
	Beside  figures  `json:"beside"`
	Rate    float64  `json:"rate_ratio"` // medians, ours by the other's
	CPU     float64  `json:"cpu_ratio"`
	Spent   []*spent `json:"spent,omitempty"` // ours and, where it is another binary, the other's
	goal    goal
}

// figures are those of a side, one a turn. Times are in microseconds.
type figures struct {
	Name      string    `json:"name"`
	PerSecond []float64 `json:"per_second"`
	P50       []float64 `json:"p50_us"`
	P99       []float64 `json:"p99_us"`
	Server    []float64 `json:"server_cpu_us"`   // a request
	Postgres  []float64 `json:"postgres_cpu_us"` // a request
	Generator []float64 `json:"generator_cpu_us"`
}

func micros(d time.Duration) float64 { return float64(d.Nanoseconds()/100) / 10 }

func (f *figures) add(r result) {
	f.PerSecond = append(f.PerSecond, r.perSecond)
	f.P50, f.P99 = append(f.P50, micros(r.p50)), append(f.P99, micros(r.p99))
	f.Server, f.Postgres = append(f.Server, micros(r.cpu.server)), append(f.Postgres, micros(r.cpu.postgres))
	f.Generator = append(f.Generator, micros(r.generator))
}

// cpu is that of server and Postgres together, a turn.
func (f figures) cpu() []float64 {
	all := make([]float64, len(f.Server))
	for i := range all {
		all[i] = f.Server[i] + f.Postgres[i]
	}
	return all
}

func median(all []float64) float64 {
	if len(all) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(all))
	return sorted[len(sorted)/2]
}

func newReport(o options, load float64) report {
	return report{
		At: time.Now().UTC(), Load: load, Binary: o.binary, Compare: o.compare, Turn: o.length.Seconds(),
	}
}

// heading stands above the rows of a benchmark.
func (r *report) heading(format string, args ...any) {
	fmt.Printf("\n%s\n%-5s %-22s %7s %-10s %9s %17s %9s %9s %23s\n", fmt.Sprintf(format, args...), "", "", "clients", "",
		"req/s", "(least to most)", "p50 µs", "p99 µs", "CPU µs (server+Postgres)")
}

// add keeps a row and prints it.
func (r *report) add(row row) {
	row.Ours.print(row.Name, row.What, row.Clients)
	if row.Beside.Name != "" {
		row.Beside.print("", "", row.Clients)
		row.Rate = median(row.Ours.PerSecond) / median(row.Beside.PerSecond)
		row.CPU = median(row.Ours.cpu()) / median(row.Beside.cpu())
		fmt.Printf("%-5s %-22s %7s %s\n", "", "", "", r.verdict(row))
	}
	r.Rows = append(r.Rows, row)
}

func (f figures) print(name, what string, clients int) {
	spread := fmt.Sprintf("(%.0f to %.0f)", slices.Min(f.PerSecond), slices.Max(f.PerSecond))
	fmt.Printf("%-5s %-22s %7d %-10s %9.0f %17s %9.0f %9.0f %9.0f (%.0f + %.0f)\n", name, what, clients, f.Name,
		median(f.PerSecond), spread, median(f.P50), median(f.P99), median(f.cpu()), median(f.Server), median(f.Postgres))
}

// verdict words a row: beside the bare server the ratios and whether the goals are reached,
// beside another binary what has changed.
func (r *report) verdict(row row) string {
	if r.Compare != "" {
		return "rate " + changed(row.Ours.PerSecond, row.Beside.PerSecond) + ", CPU " +
			changed(row.Ours.cpu(), row.Beside.cpu()) + ", p99 " + changed(row.Ours.P99, row.Beside.P99)
	}
	said := []string{fmt.Sprintf("rate %.2f, CPU %.2f", row.Rate, row.CPU)}
	if least, ok := row.goal.rate[row.Clients]; ok {
		said = append(said, fmt.Sprintf("rate >= %.2f: %s", least, verdict(row.Rate >= least)))
	}
	if most := row.goal.cpu; most > 0 {
		said = append(said, fmt.Sprintf("CPU <= %.2f: %s", most, verdict(row.CPU <= most)))
	}
	if most := row.goal.p99; most > 0 {
		said = append(said, fmt.Sprintf("p99 <= %v: %s", most, verdict(median(row.Ours.P99) <= micros(most))))
	}
	return strings.Join(said, "; ")
}

// changed compares turns: beyond noise is what leaves no turn of one side among the other's.
func changed(now, then []float64) string {
	by := (median(now)/median(then) - 1) * 100
	if slices.Min(now) > slices.Max(then) || slices.Max(now) < slices.Min(then) {
		return fmt.Sprintf("%+.1f %% (changed)", by)
	}
	return fmt.Sprintf("%+.1f %% (noise)", by)
}

func verdict(ok bool) string {
	if ok {
		return "reached"
	}
	return "MISSED"
}

// rate is what the platform did of a load.
func (r *report) rate(name string, clients int) float64 {
	for _, row := range r.Rows {
		if row.Name == name && row.Clients == clients {
			return median(row.Ours.PerSecond)
		}
	}
	return 0
}

// keep writes the figures into a file, if one is named.
func (r *report) keep(file string) error {
	if file == "" {
		return nil
	}
	raw, err := json.MarshalIndent(r, "", "\t")
	if err == nil {
		err = os.WriteFile(file, append(raw, '\n'), 0o644)
	}
	if err != nil {
		return fmt.Errorf("keep the figures: %w", err)
	}
	return nil
}
