package localpg

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// postmaster is what a server says of itself in its cluster's postmaster.pid.
type postmaster struct {
	pid    int
	port   int    // 0 while it is too early to tell
	status string // "starting", "ready", "standby", "stopping" or empty
}

// readPostmaster returns false when there is no readable postmaster.pid.
func readPostmaster(cluster string) (postmaster, bool) {
	raw, err := os.ReadFile(filepath.Join(cluster, "postmaster.pid"))
	if err != nil {
		return postmaster{}, false
	}
	lines := strings.Split(string(raw), "\n")
	pid, err := strconv.Atoi(strings.TrimSpace(lines[0]))
	if err != nil || pid <= 0 {
		return postmaster{}, false
	}
	pm := postmaster{pid: pid}
	if len(lines) > 3 {
		pm.port, _ = strconv.Atoi(strings.TrimSpace(lines[3]))
	}
	if len(lines) > 7 {
		pm.status = strings.TrimSpace(lines[7])
	}
	return pm, true
}

// alive tells a running server from the trace of one that was killed, also when its
// process id has since gone to another program: a server's working directory is its cluster.
func (pm postmaster) alive(cluster string) bool {
	if err := syscall.Kill(pm.pid, 0); err != nil && !errors.Is(err, syscall.EPERM) {
		return false
	}
	cwd, err := os.Readlink(filepath.Join("/proc", strconv.Itoa(pm.pid), "cwd"))
	if errors.Is(err, fs.ErrNotExist) {
		if _, noProc := os.Stat("/proc/self/cwd"); noProc != nil {
			return true // no /proc here: the process id is all there is to go by
		}
		return false
	}
	if err != nil {
		return false // not ours to look at, so not our server
	}
	home, err := filepath.EvalSymlinks(cluster)
	return err == nil && cwd == home
}

// liveServer is the server that runs on the cluster, if one does. The trace of a killed
// one is removed when its process id now belongs to another program, since Postgres itself
// would take that program for a server and refuse; otherwise Postgres clears it better.
func liveServer(cluster string) (postmaster, bool) {
	pm, ok := readPostmaster(cluster)
	if !ok {
		return postmaster{}, false
	}
	if pm.alive(cluster) {
		return pm, true
	}
	if syscall.Kill(pm.pid, 0) == nil {
		_ = os.Remove(filepath.Join(cluster, "postmaster.pid"))
	}
	return postmaster{}, false
}
