package localpg

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// errTryAgain marks a start that failed for a reason that passes: the port was taken in
// between, or the last of a killed server's processes are not gone yet.
var errTryAgain = errors.New("worth another try")

func runPostgres(ctx context.Context, dir *dataDir, bin Binaries, port int, o Options) (*process, error) {
	log, err := dir.rotateLog()
	if err != nil {
		return nil, err
	}
	defer log.Close()
	args := append([]string{"-D", dir.cluster()}, arguments(settings(port, o))...)
	p, err := startProcess(filepath.Join(bin.Dir, "postgres"), args, dir.account, log, syscall.SIGINT)
	if err != nil {
		return nil, err
	}
	if err := p.awaitReady(ctx, dir.cluster()); err != nil {
		if ctx.Err() != nil {
			terminate(ctx, p.pid, p.ended)
			return nil, err
		}
		tail := dir.logTail()
		err = fmt.Errorf("the private Postgres did not start: %w; its log %s ends: %s", err, dir.file("postgres.log"),
			strings.ReplaceAll(tail, "\n", "; "))
		if passing(tail) {
			err = fmt.Errorf("%w (%w)", err, errTryAgain)
		}
		return nil, err
	}
	return p, nil
}

func (p *process) ended() bool {
	select {
	case <-p.done:
		return true
	default:
		return false
	}
}

// awaitReady returns when the server accepts connections, a replica those that read. There is no time limit but the
// caller's: after a crash a server replays its log, however long that takes.
func (p *process) awaitReady(ctx context.Context, cluster string) error {
	for {
		pm, ok := readPostmaster(cluster)
		if ok && pm.pid == p.pid && (pm.status == "ready" || pm.status == "standby") {
			return nil
		}
		select {
		case <-p.done:
			return errors.Join(errors.New("it ended"), p.err)
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(5 * time.Millisecond):
		}
	}
}

func passing(log string) bool {
	return strings.Contains(log, "could not bind") || strings.Contains(log, "could not create any TCP/IP sockets") ||
		strings.Contains(log, "is still in use")
}

// settings are the package's own, then those that make tests fast, then the caller's.
func settings(port int, o Options) map[string]string {
	all := map[string]string{
		"listen_addresses":        "127.0.0.1",
		"port":                    strconv.Itoa(port),
		"unix_socket_directories": "", // the packaged default belongs to the system's own server
		"logging_collector":       "off",
		"log_destination":         "stderr",
		"fsync":                   "on",
	}
	if o.Ephemeral {
		maps.Copy(all, map[string]string{
			"fsync":                      "off",
			"full_page_writes":           "off",
			"synchronous_commit":         "off",
			"wal_level":                  "minimal",
			"max_wal_senders":            "0",
			"autovacuum":                 "off",
			"jit":                        "off",
			"dynamic_shared_memory_type": "mmap", // in the data directory, so that a killed server leaves none behind
			"shared_buffers":             "128MB",
			"max_wal_size":               "4GB",
			"checkpoint_timeout":         "1h",
		})
	}
	maps.Copy(all, o.Settings)
	return all
}

func arguments(settings map[string]string) []string {
	var args []string
	for _, name := range slices.Sorted(maps.Keys(settings)) {
		args = append(args, "-c", name+"="+settings[name])
	}
	return args
}
