package main

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/compose-spec/compose-go/v2/cli"
	"github.com/compose-spec/compose-go/v2/dotenv"
	"github.com/compose-spec/compose-go/v2/types"
)

// TestTheComposeFileStartsThePlatform: read by the library with which Compose reads it, Postgres comes first, then the
// migrations, then serve and work, which may write nothing.
func TestTheComposeFileStartsThePlatform(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for from, to := range map[string]string{"compose.yaml": "compose.yaml", "marquee.env.example": "marquee.env"} {
		text, err := os.ReadFile(filepath.Join("..", "..", "deploy", from))
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, to), text, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	// Compose itself adds the form in which docker reads its --env-file.
	dotenv.RegisterFormat("raw", func(from io.Reader, _ string, to map[string]string, _ func(string) (string, bool)) error {
		text, err := io.ReadAll(from)
		for line := range strings.Lines(string(text)) {
			if name, value, ok := strings.Cut(strings.TrimSpace(line), "="); ok && !strings.HasPrefix(name, "#") {
				to[name] = value
			}
		}
		return err
	})
	load := func(env ...string) (*types.Project, error) {
		options, err := cli.NewProjectOptions([]string{filepath.Join(dir, "compose.yaml")}, cli.WithEnv(env))
		if err != nil {
			t.Fatal(err)
		}
		return options.LoadProject(context.Background())
	}
	project, err := load("POSTGRES_PASSWORD=secret")
	if err != nil {
		t.Fatal(err)
	}
	if len(project.Services) != 4 {
		t.Errorf("%d services", len(project.Services))
	}
	for name, want := range map[string][2]string{
		"migrate": {"migrate up", "service_healthy"}, "serve": {"serve", "service_completed_successfully"},
		"work": {"work", "service_completed_successfully"},
	} {
		service := project.Services[name]
		before := map[string]string{"migrate": "postgres", "serve": "migrate", "work": "migrate"}[name]
		if got := strings.Join(service.Command, " "); got != want[0] || service.DependsOn[before].Condition != want[1] {
			t.Errorf("%s runs %q after %v", name, got, service.DependsOn)
		}
		url, file := service.Environment["DATABASE_URL"], service.Environment["PUBLIC_URL"]
		if url == nil || *url != "postgres://marquee:secret@postgres/marquee" || file == nil || !service.ReadOnly {
			t.Errorf("%s: %+v", name, service)
		}
	}
	if _, err := load(); err == nil || !strings.Contains(err.Error(), "POSTGRES_PASSWORD") {
		t.Errorf("without a password: %v", err)
	}
}
