// Command faults plants faults in the production code of a copy of the repository,
// one at a time, and expects the tests to find each: see list.go, and docs/testing.md.
// It exits with 1 when one is not caught, or has lost its place in the code.
//
//	go -C tools run ./faults [-fault name] [-n copies] [-list]
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"sync"
	"time"
)

func main() {
	only := flag.String("fault", "", "plant this one alone; several with commas")
	copies := flag.Int("n", 1, "how many are tried at a time, each in a copy of its own")
	list := flag.Bool("list", false, "only look for the places of all faults and for their tests")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, *only, max(*copies, 1), *list); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(ctx context.Context, only string, copies int, list bool) error {
	root, err := repository()
	if err != nil {
		return err
	}
	chosen, err := choose(only)
	if err != nil {
		return err
	}
	t, err := readTree(root)
	if err != nil {
		return err
	}
	places, err := t.placesOf(chosen)
	if err != nil || list {
		return err
	}
	outcomes := try(ctx, root, places, copies)
	missed := 0
	for _, o := range outcomes {
		if o.state != caught {
			missed++
			fmt.Printf("\n%s: %s\n%s\n%s\n", o.name, o.state, o.breaks, o.log)
		}
	}
	fmt.Printf("\n%d of %d faults are caught\n", len(outcomes)-missed, len(places))
	if missed > 0 || len(outcomes) < len(places) {
		return errors.New("not all faults are caught")
	}
	return nil
}

// choose returns the named faults; all without names.
func choose(only string) ([]fault, error) {
	known := map[string]bool{}
	var chosen []fault
	for _, f := range faults {
		if known[f.name] {
			return nil, fmt.Errorf("two faults are named %s", f.name)
		}
		known[f.name] = true
		if only == "" || strings.Contains(","+only+",", ","+f.name+",") {
			chosen = append(chosen, f)
		}
	}
	for name := range strings.SplitSeq(only, ",") {
		if name != "" && !known[name] {
			return nil, fmt.Errorf("no fault is named %s", name)
		}
	}
	return chosen, nil
}

func repository() (string, error) {
	out, err := exec.Command("git", "rev-parse", "--show-toplevel").Output()
	if err != nil {
		return "", fmt.Errorf("find the repository: %w", err)
	}
	return strings.TrimSpace(string(out)), nil
}

// What became of a fault.
const (
	caught    = "caught"
	notCaught = "NOT CAUGHT"
	noBuild   = "DOES NOT BUILD"
	noTest    = "NO TEST RAN"
	timedOut  = "TIMED OUT"
	notTried  = "NOT TRIED"
)

type outcome struct {
	place
	state string
	by    string // the test that failed
	took  time.Duration
	log   string
}

// try plants the faults in copies of the tree and prints a row for each as it ends.
func try(ctx context.Context, root string, places []place, copies int) []outcome {
	work := make(chan place)
	var outcomes []outcome
	var mu sync.Mutex
	var all sync.WaitGroup
	for range min(copies, len(places)) {
		all.Go(func() {
			dir, err := copyTree(root)
			defer func() { _ = os.RemoveAll(dir) }()
			for p := range work {
				o := outcome{place: p, state: notTried, log: fmt.Sprint(err)}
				if err == nil {
					o = p.tryIn(ctx, dir)
				}
				mu.Lock()
				outcomes = append(outcomes, o)
				fmt.Printf("%-28s %-14s %4.0f s  %s\n", o.name, o.state, o.took.Seconds(), o.by)
				mu.Unlock()
			}
		})
	}
	for _, p := range places {
		select {
		case work <- p:
		case <-ctx.Done():
		}
	}
	close(work)
	all.Wait()
	return outcomes
}

// tryIn plants the fault in a copy of the tree, runs its tests and takes it out again.
func (p place) tryIn(ctx context.Context, dir string) outcome {
	o := outcome{place: p}
	began := time.Now()
	file := filepath.Join(dir, p.file)
	if err := os.WriteFile(file, []byte(p.planted), 0o600); err != nil {
		o.state, o.log = notTried, err.Error()
		return o
	}
	defer func() {
		_ = os.WriteFile(file, []byte(p.text), 0o600) // the copy goes
		_ = p.pack(ctx, dir)
	}()
	if err := p.pack(ctx, dir); err != nil {
		o.state, o.log = notTried, err.Error()
		return o
	}
	args := append([]string{
		"test", "-vet=off", "-ldflags=-s -w", "-count=1", "-failfast", "-timeout=10m",
		"-run=^(" + strings.Join(p.tests, "|") + ")$",
	}, p.packages...)
	out, err := goIn(ctx, dir, args...).CombinedOutput()
	o.took, o.log = time.Since(began), string(out)
	if o.state, o.by = judge(o.log, err); ctx.Err() != nil {
		o.state = notTried
	}
	return o
}

// pack has the archive, from which databases are migrated, hold the migration in which the fault stands.
func (p place) pack(ctx context.Context, dir string) error {
	if !strings.HasPrefix(p.file, "migrations/") {
		return nil
	}
	cmd := goIn(ctx, dir, "test", "-vet=off", "-count=1", "-run=^TestTheArchiveHoldsTheFiles$", "./migrations/schema")
	cmd.Env = append(cmd.Env, "UPDATE_GOLDEN=1")
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("pack the migrations: %w: %s", err, out)
	}
	return nil
}

func goIn(ctx context.Context, dir string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Dir = dir
	// Without the paths of the copy in them, packages come from the cache.
	cmd.Env = append(os.Environ(), "GOFLAGS=-trimpath")
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = 10 * time.Second
	return cmd
}

// judge reads the output of go test: a test has to fail, and not the compiler.
func judge(log string, err error) (state, by string) {
	for line := range strings.Lines(log) {
		if name, ok := strings.CutPrefix(strings.TrimSpace(line), "--- FAIL: "); ok && by == "" {
			by, _, _ = strings.Cut(name, " ")
		}
	}
	switch {
	case strings.Contains(log, "[build failed]"), strings.Contains(log, "[setup failed]"):
		return noBuild, ""
	case strings.Contains(log, "panic: test timed out"):
		return timedOut, by
	case err == nil && strings.Contains(log, "[no tests to run]"):
		return noTest, ""
	case err == nil:
		return notCaught, ""
	case by == "" && strings.Contains(log, "panic: "):
		return caught, "panic"
	case by == "":
		return noTest, ""
	}
	return caught, by
}

// copyTree copies what git tracks, and what it would, to a temporary folder.
func copyTree(root string) (string, error) {
	dir, err := os.MkdirTemp("", "marquee-faults-")
	if err != nil {
		return "", err
	}
	files, err := tracked(root)
	if err != nil {
		return dir, err
	}
	for _, name := range files {
		raw, err := os.ReadFile(filepath.Join(root, name))
		if err != nil {
			return dir, err
		}
		to := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(to), 0o750); err != nil {
			return dir, err
		}
		if err := os.WriteFile(to, raw, 0o600); err != nil {
			return dir, err
		}
	}
	return dir, nil
}

// tracked lists the files of the tree, those that are to be added among them.
func tracked(root string) ([]string, error) {
	cmd := exec.Command("git", "ls-files", "-z", "--cached", "--others", "--exclude-standard")
	cmd.Dir = root
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("list the files: %w", err)
	}
	var files []string
	for name := range strings.SplitSeq(strings.TrimRight(string(out), "\x00"), "\x00") {
		if info, err := os.Stat(filepath.Join(root, name)); err == nil && info.Mode().IsRegular() {
			files = append(files, name)
		}
	}
	return files, nil
}
