package pgtest

import (
	"context"
	"fmt"
	"maps"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"time"

	"github.com/testcontainers/testcontainers-go"
	containerpg "github.com/testcontainers/testcontainers-go/modules/postgres"
)

// engineIsUp asks the Docker engine for a sign of life, for a second at most: the
// library itself takes ten to find that there is none.
func engineIsUp(ctx context.Context) bool {
	for _, address := range engineAddresses() {
		if ping(ctx, address) {
			return true
		}
	}
	return false
}

func engineAddresses() []string {
	if host := os.Getenv("DOCKER_HOST"); host != "" {
		return []string{host}
	}
	addresses := []string{"unix:///var/run/docker.sock"}
	if dir := os.Getenv("XDG_RUNTIME_DIR"); dir != "" {
		addresses = append(addresses, "unix://"+filepath.Join(dir, "docker.sock"))
	}
	if home, err := os.UserHomeDir(); err == nil {
		addresses = append(addresses, "unix://"+filepath.Join(home, ".docker", "run", "docker.sock"))
	}
	return addresses
}

func ping(ctx context.Context, address string) bool {
	u, err := url.Parse(address)
	if err != nil {
		return false
	}
	network, target := u.Scheme, u.Host
	if network == "unix" {
		target = u.Path
	}
	if network != "unix" && network != "tcp" {
		return false
	}
	client := http.Client{Timeout: 10 * time.Second, Transport: &http.Transport{
		DisableKeepAlives: true,
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return (&net.Dialer{}).DialContext(ctx, network, target)
		},
	}}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://engine/_ping", nil)
	if err != nil {
		return false
	}
	resp, err := client.Do(req)
	if err != nil {
		return false
	}
	defer resp.Body.Close()
	return resp.StatusCode == http.StatusOK
}

// containerURL is the server in the container that all test processes share by its name;
// the library's reaper removes it after the last of them.
func containerURL(ctx context.Context) (string, error) {
	// Two processes that make the container at once would meet at its name.
	lock, err := flock(filepath.Join(os.TempDir(), fmt.Sprintf("marquee-pgtest-%d.lock", os.Getuid())), syscall.LOCK_EX)
	if err != nil {
		return "", err
	}
	defer lock.Close()
	command := []string{"postgres", "-c", "fsync=off", "-c", "full_page_writes=off", "-c", "synchronous_commit=off"}
	for _, name := range slices.Sorted(maps.Keys(settings)) {
		command = append(command, "-c", name+"="+settings[name])
	}
	container, err := containerpg.Run(ctx, "postgres:15",
		testcontainers.WithReuseByName("marquee-pgtest"),
		testcontainers.WithTmpfs(map[string]string{"/var/lib/postgresql/data": "rw"}),
		testcontainers.WithCmd(command...),
		containerpg.BasicWaitStrategies(),
	)
	if err != nil {
		return "", err
	}
	return container.ConnectionString(ctx, "sslmode=disable")
}
