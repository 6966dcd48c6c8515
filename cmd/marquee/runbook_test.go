package main_test

import (
	"io/fs"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
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
		{"check", "rules", "--lint-fatal", deploy + "/prometheus/alerts.yaml", deploy + "/prometheus/slo.yaml"},
		{"test", "rules", deploy + "/prometheus/alerts_test.yaml", deploy + "/prometheus/slo_test.yaml"},
	} {
		out, err := exec.Command(promtool, args...).CombinedOutput()
		require.NoError(t, err, "%s", out)
	}
}

var statements = regexp.MustCompile("(?s)```(sh|sql)\n(.*?)```")

// TestTheRunbookIsTrue: each alert has its entry, and each command and statement of the page runs.
func TestTheRunbookIsTrue(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../docs/runbook.md")
	require.NoError(t, err)
	page := string(text)
	alerts := ""
	for _, rules := range ruleFiles {
		alerts += read(t, rules+".yaml")
	}
	require.Equal(t, names(`alert: (\w+)`, alerts), names(`(?m)^## (\w+)$`, page))
	require.Equal(t, names(`runbook: docs/runbook.md#(\w+)`, alerts), names(`(?m)^## (\w+)$`, strings.ToLower(page)))

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
	blocks := statements.FindAllStringSubmatch(page, -1)
	require.Greater(t, len(blocks), 25)
	for _, block := range blocks {
		c := exec.Command("bash", "-euo", "pipefail", "-c", block[2])
		if block[1] == "sql" {
			c = exec.Command("psql", "--dbname="+o.database, "--quiet", "--no-psqlrc", "--set=ON_ERROR_STOP=1")
			c.Stdin = strings.NewReader(block[2])
		}
		c.Dir, c.Env = bin, o.env
		out, err := c.CombinedOutput()
		require.NoError(t, err, "%s\n%s", block[2], out)
	}
}
