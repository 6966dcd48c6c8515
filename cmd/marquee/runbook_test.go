package main_test

import (
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"marquee/testutil/pgbouncer"
	"marquee/testutil/soak"
)

// names are what a pattern finds in a text, in order and once each.
func names(pattern, text string) (found []string) {
	for _, m := range regexp.MustCompile(pattern).FindAllStringSubmatch(text, -1) {
		found = append(found, m[1])
	}
	slices.Sort(found)
	return slices.Compact(found)
}

// ruleFiles are the rules; each has its tests in a file beside it.
var ruleFiles = []string{"prometheus/alerts", "prometheus/slo"}

// TestAlertsComeWhenTheyShould: promtool's own tests of the rules, which use metrics that are there.
func TestAlertsComeWhenTheyShould(t *testing.T) {
	t.Parallel()
	var code strings.Builder
	for _, dir := range []string{"../../modules", "../../platform", "../internal/app"} {
		require.NoError(t, filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
			if err != nil || entry.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
				return err
			}
			text, err := os.ReadFile(path)
			code.Write(text)
			return err
		}))
	}
	known := names(`"(marquee_\w+)"`, code.String())
	for _, rules := range ruleFiles {
		metrics := names(`\b(marquee_\w+)`, read(t, rules+".yaml"))
		require.Greater(t, len(metrics), 3)
		for _, name := range metrics {
			name = regexp.MustCompile(`_(bucket|count|sum)$`).ReplaceAllLiteralString(name, "")
			require.Contains(t, known, name)
		}
		alerts := names(`alert: (\w+)`, read(t, rules+".yaml"))
		require.Equal(t, alerts, names(`\b(Marquee[A-Z]\w+)`, read(t, rules+"_test.yaml")), "tested")
	}
	promtool := program(t, "promtool", "prometheus")
	for _, args := range [][]string{
		{"check", "config", deploy + "/prometheus/prometheus.yaml"},
		{"check", "rules", "--lint-fatal", deploy + "/prometheus/alerts.yaml", deploy + "/prometheus/slo.yaml"},
		{"test", "rules", deploy + "/prometheus/alerts_test.yaml", deploy + "/prometheus/slo_test.yaml"},
	} {
		out, err := exec.Command(promtool, args...).CombinedOutput()
		require.NoError(t, err, "%s", out)
	}
}

var statements = regexp.MustCompile("(?s)```(sh|sql)\n(.*?)```")

// TestTheRunbookIsTrueLong: each alert has its entry, each command and statement of the page runs, on a database with a
// payment that waits for a decision, and what the page names beside them is there.
func TestTheRunbookIsTrueLong(t *testing.T) {
	t.Parallel()
	soak.Long(t)
	runbook := page(t, "runbook.md")
	alerts := ""
	for _, rules := range ruleFiles {
		alerts += read(t, rules+".yaml")
	}
	require.Equal(t, names(`alert: (\w+)`, alerts), names(`(?m)^## (\w+)$`, runbook))
	require.Equal(t, names(`runbook: docs/runbook.md#(\w+)`, alerts), names(`(?m)^## (\w+)$`, strings.ToLower(runbook)))
	blocks := statements.FindAllStringSubmatch(runbook, -1)
	require.Greater(t, len(blocks), 25)

	requireTools(t, "psql", "curl")
	o := newOutside(t)
	bin, metrics := t.TempDir(), loopback()
	require.NoError(t, os.Symlink(build(t, "faultpoints"), bin+"/marquee"))
	o.env = append(o.env, "METRICS_ADDR="+metrics, "PATH="+bin+":"+os.Getenv("PATH"), "METRICS=http://"+metrics,
		"API="+o.api(""), "RECONCILE_PAUSE=0s")
	o.serve("")
	status, _, err := tryCall(http.MethodGet, "http://"+metrics+"/metrics", "", nil)
	require.NoError(t, err)
	require.Equal(t, 200, status)
	o.subscribed(o.login())
	o.unapplied(false)
	o.env = append(o.env, "TOKEN="+o.loginAs("root"))
	for _, block := range blocks {
		if !strings.Contains(block[2], "$POOLER") {
			o.typed(bin, block[1], block[2])
		}
	}
	require.Equal(t, 1, o.count("SELECT count(*) FROM payments.unapplied_payments WHERE state = 'refunded'"))
	requireNamesThatAreThere(t, o, statements.ReplaceAllLiteralString(runbook, ""))
	pgbouncer.Each(t, func(t *testing.T, program pgbouncer.Program) {
		pooler, err := url.Parse(program.Start(t, o.database))
		require.NoError(t, err)
		pooler.Path = "pgbouncer"
		behind := *o
		behind.t, behind.env = t, append(slices.Clone(o.env), "POOLER="+pooler.String())
		for _, block := range blocks {
			if strings.Contains(block[2], "$POOLER") {
				out := behind.typed(bin, "sh", block[2])
				require.Contains(t, out, "cl_waiting")
				require.Contains(t, out, "maxwait")
			}
		}
	})
}

// typed runs a block of the runbook as an operator does, and returns what it prints.
func (o *outside) typed(dir, language, text string) string {
	o.t.Helper()
	c := exec.Command("bash", "-euo", "pipefail", "-c", text)
	if language == "sql" {
		c = exec.Command("psql", "--dbname="+o.database, "--quiet", "--no-psqlrc", "--set=ON_ERROR_STOP=1")
		c.Stdin = strings.NewReader(text)
	}
	c.Dir, c.Env = dir, o.env
	out, err := c.CombinedOutput()
	require.NoError(o.t, err, "%s\n%s", text, out)
	return string(out)
}

var (
	quoted     = regexp.MustCompile("`([^`\n]+)`")
	supervised = regexp.MustCompile(`^(systemctl|journalctl|kubectl) .*\b(marquee-\w+)\b`)
	route      = regexp.MustCompile(`^(GET|POST|PUT|DELETE) (/\S+)$`)
)

// requireNamesThatAreThere: what stands between the blocks of the runbook names units, deployments and routes that are
// there, and no command that was not run.
func requireNamesThatAreThere(t *testing.T, o *outside, text string) {
	t.Helper()
	manifests := read(t, "kubernetes/serve.yaml") + read(t, "kubernetes/work.yaml")
	paths := expect(t, 200, http.MethodGet, o.api("/openapi.json"), "", nil)["paths"].(map[string]any)
	found := map[string]int{}
	for _, m := range quoted.FindAllStringSubmatch(text, -1) {
		first, rest, several := strings.Cut(m[1], " ")
		if run := supervised.FindStringSubmatch(m[1]); run != nil {
			found["supervised"]++
			if run[1] == "kubectl" {
				require.Contains(t, m[1], " deploy/"+run[2])
				require.Contains(t, manifests, "kind: Deployment\nmetadata:\n  name: "+run[2]+"\n")
			} else {
				require.FileExists(t, deploy+"/systemd/"+run[2]+".service")
			}
			continue
		}
		if of := route.FindStringSubmatch(m[1]); of != nil {
			found["routes"]++
			operations, _ := paths["/api/v1"+of[2]].(map[string]any)
			require.Contains(t, operations, strings.ToLower(of[1]), m[1])
			continue
		}
		if strings.HasPrefix(m[1], "deploy/") {
			found["files"]++
			require.FileExists(t, "../../"+m[1])
		}
		if several && slices.Contains([]string{"marquee", "psql", "curl", "systemctl", "journalctl", "kubectl"}, first) {
			require.Equal(t, `"$DATABASE_URL"`, rest, "%s is not run: put it into a block", m[1])
		}
	}
	for _, kind := range []string{"supervised", "routes", "files"} {
		require.Positive(t, found[kind], kind)
	}
}
