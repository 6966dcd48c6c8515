package localpg

import (
	"bytes"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// dataDir is the place of everything one server keeps; see the package comment.
type dataDir struct {
	path    string
	account account
	lock    *os.File
}

// DefaultDataDir is where data is kept when nothing else is said: /var/lib/marquee for
// root, else $XDG_DATA_HOME/marquee or ~/.local/share/marquee.
func DefaultDataDir() (string, error) {
	if os.Geteuid() == 0 {
		return "/var/lib/marquee", nil
	}
	if dir := os.Getenv("XDG_DATA_HOME"); filepath.IsAbs(dir) {
		return filepath.Join(dir, "marquee"), nil
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return "", fmt.Errorf("find a place for the data (--data-dir names one): %w", err)
	}
	return filepath.Join(home, ".local", "share", "marquee"), nil
}

// openDataDir makes the directory where it is missing, sees to it that the server's
// account can get there, and takes the lock. A taken lock is a RunningError.
func openDataDir(path string) (*dataDir, error) {
	if path == "" {
		var err error
		if path, err = DefaultDataDir(); err != nil {
			return nil, err
		}
	}
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	d := &dataDir{path: path}
	if d.account, err = chooseAccount(d.cluster()); err != nil {
		return nil, err
	}
	if err := d.prepare(); err != nil {
		return nil, err
	}
	d.lock, err = lockFile(d.file("lock"), false)
	if errors.Is(err, errLocked) {
		return nil, d.runningError()
	}
	if err != nil {
		return nil, fmt.Errorf("own the data directory %s: %w", path, err)
	}
	return d, d.signLock()
}

func (d *dataDir) file(name string) string { return filepath.Join(d.path, name) }
func (d *dataDir) cluster() string         { return d.file("postgres") }

// prepare never widens the rights of a directory that it found, but for the data directory
// itself, which is ours, and not even of that one when it is somebody's home.
func (d *dataDir) prepare() error {
	mode := fs.FileMode(0o700)
	if d.account.stepDown {
		mode = 0o711
	}
	if err := makeDirs(d.path, mode); err != nil {
		return fmt.Errorf("make the data directory: %w", err)
	}
	if !d.account.stepDown {
		return nil
	}
	barrier, err := d.account.barrier(d.path)
	if err != nil {
		return fmt.Errorf("look at the data directory: %w", err)
	}
	if home, _ := os.UserHomeDir(); barrier == "" || barrier != d.real() || barrier == home {
		if barrier != "" {
			return d.account.barrierError(d.path, barrier)
		}
		return nil
	}
	return os.Chmod(d.path, mode)
}

func (d *dataDir) real() string {
	if path, err := filepath.EvalSymlinks(d.path); err == nil {
		return path
	}
	return d.path
}

// makeDirs is os.MkdirAll with exact modes: what it makes on the way gets 0755 (a strict
// umask would shut the server's account out), the last one gets mode.
func makeDirs(path string, mode fs.FileMode) error {
	info, err := os.Stat(path)
	if err == nil && !info.IsDir() {
		return fmt.Errorf("%s is not a directory", path)
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := makeDirs(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	if err := os.Mkdir(path, mode); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return os.Chmod(path, mode)
}

// signLock writes our process id into the lock, for the sentence of whoever comes second.
func (d *dataDir) signLock() error {
	if err := d.lock.Truncate(0); err != nil {
		return err
	}
	_, err := d.lock.WriteAt([]byte(strconv.Itoa(os.Getpid())+"\n"), 0)
	return err
}

func (d *dataDir) runningError() error {
	running := &RunningError{DataDir: d.path, PID: d.number("lock")}
	if pm, ok := readPostmaster(d.cluster()); ok {
		running.Port = pm.port
	}
	return running
}

// number reads a file that holds one number; 0 when it doesn't.
func (d *dataDir) number(name string) int {
	raw, err := os.ReadFile(d.file(name))
	if err != nil {
		return 0
	}
	n, _ := strconv.Atoi(strings.TrimSpace(string(raw)))
	return n
}

// password reads the superuser's password, or makes it when there is none yet.
func (d *dataDir) password() (string, error) {
	raw, err := os.ReadFile(d.file("password"))
	if err == nil && len(bytes.TrimSpace(raw)) > 0 {
		return string(bytes.TrimSpace(raw)), nil
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", err
	}
	password := rand.Text()
	return password, os.WriteFile(d.file("password"), []byte(password+"\n"), 0o600)
}

// major is the Postgres version the cluster was made by, 0 when there is no cluster.
func (d *dataDir) major() int { return d.number("postgres/PG_VERSION") }

// rotateLog opens an empty log and keeps that of the start before as postgres.log.1.
func (d *dataDir) rotateLog() (*os.File, error) {
	if err := os.Rename(d.file("postgres.log"), d.file("postgres.log.1")); err != nil &&
		!errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	return os.OpenFile(d.file("postgres.log"), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
}

// logTail is the end of the log, for an error's sentence.
func (d *dataDir) logTail() string {
	raw, _ := os.ReadFile(d.file("postgres.log"))
	const enough = 1500
	if len(raw) > enough {
		raw = raw[len(raw)-enough:]
	}
	return strings.TrimSpace(string(raw))
}

func (d *dataDir) release() { _ = unlockFile(d.lock) }
