package main_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"marquee/testutil/pgtest"
	"marquee/testutil/secrettest"
)

// dashboard is one of Grafana's, with the members that its schema 39 has and these files use.
type dashboard struct {
	UID, Title, Description, Refresh, Timezone string
	Tags                                       []string
	SchemaVersion, Version, GraphTooltip       int
	Editable                                   bool
	Time                                       struct{ From, To string }
	Links                                      []struct {
		Type, Title                                    string
		Tags                                           []string
		AsDropdown, IncludeVars, KeepTime, TargetBlank bool
	}
	Templating struct {
		List []struct{ Name, Type, Query, Label string }
	}
	Panels []dashboardPanel
}

type dashboardPanel struct {
	ID                       int
	Title, Description, Type string
	Datasource               dashboardSource
	GridPos                  struct{ X, Y, W, H int }
	FieldConfig              struct {
		Defaults struct {
			Unit       string
			Min, Max   *float64
			Thresholds *struct {
				Mode  string
				Steps []struct {
					Color string
					Value *float64
				}
			}
			Custom *struct {
				ThresholdsStyle struct{ Mode string }
			}
		}
		Overrides []struct{}
	}
	Options struct {
		Legend *struct {
			DisplayMode, Placement string
			ShowLegend             bool
		}
		Tooltip                        *struct{ Mode, Sort string }
		ColorMode, GraphMode, TextMode string
		ReduceOptions                  *struct {
			Calcs  []string
			Fields string
			Values bool
		}
	}
	Targets []struct {
		RefID              string
		Datasource         dashboardSource
		Expr, LegendFormat string
	}
}

type dashboardSource struct{ Type, UID string }

// dashboards are those of deploy/grafana, by their files. A member that they would not read fails the test.
func dashboards(t *testing.T) map[string]dashboard {
	t.Helper()
	files, err := filepath.Glob(deploy + "/grafana/*.json")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	all := map[string]dashboard{}
	for _, file := range files {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		strict := json.NewDecoder(bytes.NewReader(text))
		strict.DisallowUnknownFields()
		var d dashboard
		require.NoError(t, strict.Decode(&d), file)
		all[filepath.Base(file)] = d
	}
	return all
}

// TestDashboardsAreSound: Grafana knows every member of them, no panel covers another, and what they name is there.
func TestDashboardsAreSound(t *testing.T) {
	t.Parallel()
	alerts := ""
	for _, rules := range ruleFiles {
		alerts += read(t, rules+".yaml")
	}
	uids := map[string]bool{}
	for file, d := range dashboards(t) {
		require.Regexp(t, "^marquee-[a-z]{1,32}$", d.UID, file)
		require.False(t, uids[d.UID], file)
		uids[d.UID] = true
		require.Equal(t, 39, d.SchemaVersion, file)
		require.Equal(t, []string{"marquee"}, d.Tags, file)
		require.Equal(t, "datasource prometheus", d.Templating.List[0].Type+" "+d.Templating.List[0].Query, file)
		source := dashboardSource{Type: "prometheus", UID: "${" + d.Templating.List[0].Name + "}"}
		covered, ids := map[[2]int]bool{}, map[int]bool{}
		for _, p := range d.Panels {
			at := file + ": " + p.Title
			require.False(t, ids[p.ID] || p.ID == 0, at)
			ids[p.ID] = true
			require.Contains(t, []string{"timeseries", "stat"}, p.Type, at)
			require.Contains(t, []string{"short", "s", "reqps", "ops", "bytes", "percentunit"}, p.FieldConfig.Defaults.Unit, at)
			require.Equal(t, source, p.Datasource, at)
			require.NotEmpty(t, p.Description, at)
			require.NotEmpty(t, p.Targets, at)
			for i, target := range p.Targets {
				require.Equal(t, string(rune('A'+i)), target.RefID, at)
				require.Equal(t, source, target.Datasource, at)
				require.NotEmpty(t, target.LegendFormat, at)
			}
			for _, alert := range names(`\b(Marquee[A-Z]\w+)`, p.Description) {
				require.Contains(t, alerts, "alert: "+alert+"\n", at)
			}
			for x := range p.GridPos.W {
				for y := range p.GridPos.H {
					cell := [2]int{p.GridPos.X + x, p.GridPos.Y + y}
					require.Less(t, cell[0], 24, at)
					require.False(t, covered[cell], "%s covers another", at)
					covered[cell] = true
				}
			}
		}
	}
	formula := regexp.MustCompile(`(?m)^    (1 - avg_over_time.*)$`).FindStringSubmatch(page(t, "slo.md"))
	require.NotNil(t, formula)
	require.Contains(t, read(t, "grafana/slo.json"), formula[1], "what docs/slo.md says the dashboard shows")
}

// page is one of docs.
func page(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile("../../docs/" + name)
	require.NoError(t, err)
	return string(text)
}

// query is an expression of a panel as it is run here.
type query struct{ panel, expr string }

// Of so short a life as a test's, nothing stands for what is not there: `or vector(0)` goes.
var inATest = strings.NewReplacer("$__rate_interval", "30s", "[30d:1h]", "[1m:1s]", " or vector(0)", "")

func queries(t *testing.T) (all []query) {
	t.Helper()
	for file, d := range dashboards(t) {
		for _, p := range d.Panels {
			for _, target := range p.Targets {
				all = append(all, query{file + ": " + p.Title + " " + target.RefID, inATest.Replace(target.Expr)})
			}
		}
	}
	require.Greater(t, len(all), 50)
	return all
}

// TestEachQueryOfTheDashboardsHasAResult: Prometheus itself scrapes a serve and a work that are used, with a replica,
// evaluates the rules, and has a number for each expression.
func TestEachQueryOfTheDashboardsHasAResult(t *testing.T) {
	t.Parallel()
	cluster, serving, working := pgtest.Replicated(t, 1), loopback(), loopback()
	o := newOutsideOn(t, cluster.URL())
	o.env = append(o.env, "METRICS_ADDR="+serving, "WORK_METRICS_ADDR="+working,
		"DATABASE_REPLICA_URL="+cluster.ReplicaURL(0))
	use := o.used()
	use()
	requireScraped(t, serving, working)

	prometheus := startPrometheus(t, program(t, "prometheus", "prometheus"), serving, working)
	missing := map[query]string{}
	for _, q := range queries(t) {
		missing[q] = "not run yet"
	}
	defer func() {
		for q, why := range missing {
			t.Errorf("%s: %s: %s", q.panel, q.expr, why)
		}
	}()
	eventually(t, "queries have no result", func() bool {
		use()
		for q := range missing {
			if missing[q] = prometheus.why(q.expr); missing[q] == "" {
				delete(missing, q)
			}
		}
		return len(missing) == 0
	})
}

// used starts serve and work, and returns what uses them once: people sign up, buy and look on, and one is told to come
// again.
func (o *outside) used() func() {
	o.t.Helper()
	impatient := append(slices.Clone(o.env), "DATABASE_LOCK_WAIT=100ms")
	o.env = impatient
	o.serve("")
	o.start("work", "")
	event, root := o.event(), o.loginAs("root")
	o.exec(`INSERT INTO payments.intents (id, kind, subject_id, gateway, reference, next_look_at, created_at)
		SELECT platform.new_object_id(), 'order', platform.new_object_id(), 'gwb', 'of a dashboard', now() + interval '1 day', now()`)
	n := 0
	return func() {
		n++
		name := fmt.Sprintf("viewer%d", n)
		expect(o.t, 200, http.MethodPost, o.api("/customers/signup"), "", []map[string]any{{
			"username": name, "email": name + "@example.com", "password": o.password, "full_name": "Ana Souza",
			"phone": "+5511987654321", "verify_email_now": false,
		}})
		o.purchase(event)
		expect(o.t, 200, http.MethodGet, o.api("/videos"), root, nil)
		tx, err := o.db().Begin(context.Background())
		require.NoError(o.t, err)
		defer func() { _ = tx.Rollback(context.Background()) }()
		_, err = tx.Exec(context.Background(), "LOCK TABLE subscriptions.plans")
		require.NoError(o.t, err)
		expect(o.t, 503, http.MethodGet, o.api("/plans"), "", nil)
	}
}

// requireScraped: each metric that a query names is told by one of the processes.
func requireScraped(t *testing.T, addresses ...string) {
	t.Helper()
	missing := ""
	defer func() {
		if missing != "" {
			t.Errorf("nobody tells of %s", missing)
		}
	}()
	eventually(t, "a metric of a dashboard is not there", func() bool {
		var told strings.Builder
		for _, address := range addresses {
			_, text, err := tryCall(http.MethodGet, "http://"+address+"/metrics", "", nil)
			require.NoError(t, err)
			_, _ = told.Write(text)
		}
		for _, q := range queries(t) {
			for _, name := range names(`\b((?:marquee|process)_\w+)`, q.expr) {
				if !strings.Contains(told.String(), "\n"+name+"{") && !strings.Contains(told.String(), "\n"+name+" ") {
					missing = name + ", of " + q.panel
					return false
				}
			}
		}
		missing = ""
		return true
	})
}

// prometheus is a running one.
type prometheus struct {
	t       *testing.T
	address string
}

// startPrometheus starts one by the example of deploy/prometheus, that scrapes the addresses and evaluates each second.
func startPrometheus(t *testing.T, program string, addresses ...string) prometheus {
	t.Helper()
	dir, p := t.TempDir(), prometheus{t, loopback()}
	for _, file := range []string{"prometheus.yaml", "alerts.yaml", "slo.yaml"} {
		text := read(t, "prometheus/"+file)
		for from, to := range map[string]string{
			`"127.0.0.1:9090", "127.0.0.1:9091"`: `"` + strings.Join(addresses, `", "`) + `"`,
			"_interval: 15s":                     "_interval: 1s", "interval: 1m\n": "interval: 1s\n",
		} {
			text = strings.ReplaceAll(text, from, to)
		}
		require.NoError(t, os.WriteFile(filepath.Join(dir, file), []byte(text), 0o600))
	}
	var log secrettest.Log
	c := exec.Command(program, "--config.file="+filepath.Join(dir, "prometheus.yaml"), "--log.level=warn",
		"--storage.tsdb.path="+filepath.Join(dir, "data"), "--web.listen-address="+p.address)
	c.Stdout, c.Stderr = &log, &log
	require.NoError(t, c.Start())
	t.Cleanup(func() {
		_ = c.Process.Signal(syscall.SIGTERM)
		_ = c.Wait()
		if t.Failed() {
			t.Log(log.String())
		}
	})
	is(t, 200, "http://"+p.address+"/-/ready")
	return p
}

// why an expression has no number: "" where it has one.
func (p prometheus) why(expr string) string {
	p.t.Helper()
	res, err := http.PostForm("http://"+p.address+"/api/v1/query", url.Values{"query": {expr}})
	require.NoError(p.t, err)
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	require.NoError(p.t, err)
	var answer struct {
		Status string
		Data   struct{ Result []struct{ Value []any } }
	}
	require.NoError(p.t, json.Unmarshal(text, &answer), "%s", text)
	require.Equal(p.t, "success", answer.Status, "%s: %s", expr, text)
	for _, series := range answer.Data.Result {
		n, err := strconv.ParseFloat(series.Value[1].(string), 64)
		require.NoError(p.t, err)
		if !math.IsNaN(n) && !math.IsInf(n, 0) {
			return ""
		}
	}
	return string(text)
}
