package localpg

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/user"
	"path/filepath"
	"strconv"
	"syscall"
)

// account is whom the server's processes run as. Postgres refuses to run as root, so
// root steps down to another account; everybody else runs it under their own.
type account struct {
	name     string
	uid, gid uint32
	stepDown bool
}

// chooseAccount prefers the owner of an existing cluster, so that data made as
// "nobody" still starts after an account "postgres" has appeared on the machine.
func chooseAccount(cluster string) (account, error) {
	uid, gid := os.Geteuid(), os.Getegid()
	if uid != 0 {
		return account{name: accountName(uid), uid: uint32(uid), gid: uint32(gid)}, nil //nolint:gosec // ids of the system are 32 bits
	}
	if info, err := os.Stat(cluster); err == nil {
		if st := info.Sys().(*syscall.Stat_t); st.Uid != 0 {
			return account{name: accountName(int(st.Uid)), uid: st.Uid, gid: st.Gid, stepDown: true}, nil
		}
	}
	for _, name := range []string{"postgres", "nobody"} {
		a, err := findAccount(name)
		if err == nil {
			return a, nil
		}
	}
	return account{},
		errors.New("no account to run Postgres as: it refuses root, and this machine has neither \"postgres\" nor \"nobody\": " +
			"run marquee as a normal user, or set DATABASE_URL to your own Postgres")
}

func findAccount(name string) (account, error) {
	u, err := user.Lookup(name)
	if err != nil {
		return account{}, err
	}
	uid, err := strconv.ParseUint(u.Uid, 10, 32)
	if err != nil {
		return account{}, err
	}
	gid, err := strconv.ParseUint(u.Gid, 10, 32)
	if err != nil {
		return account{}, err
	}
	return account{name: name, uid: uint32(uid), gid: uint32(gid), stepDown: true}, nil
}

func accountName(uid int) string {
	if u, err := user.LookupId(strconv.Itoa(uid)); err == nil {
		return u.Username
	}
	return strconv.Itoa(uid)
}

// credential is nil when the processes keep the account of this one.
func (a account) credential() *syscall.Credential {
	if !a.stepDown {
		return nil
	}
	return &syscall.Credential{Uid: a.uid, Gid: a.gid}
}

// selfAccount hands path to the account; it does nothing when that is who we are.
func (a account) selfAccount(path string) error {
	if !a.stepDown {
		return nil
	}
	return os.Chown(path, int(a.uid), int(a.gid))
}

// barrier is the first directory on the way from / to path, path included, that the
// account may not enter; empty when there is none.
func (a account) barrier(path string) (string, error) {
	path, err := filepath.EvalSymlinks(path)
	if err != nil {
		return "", err
	}
	blocked := ""
	for {
		info, err := os.Stat(path)
		if err != nil {
			return "", err
		}
		if info.IsDir() && !a.mayExecute(info) {
			blocked = path
		}
		parent := filepath.Dir(path)
		if parent == path {
			return blocked, nil
		}
		path = parent
	}
}

func (a account) mayExecute(info fs.FileInfo) bool {
	st := info.Sys().(*syscall.Stat_t)
	switch {
	case st.Uid == a.uid:
		return info.Mode()&0o100 != 0
	case st.Gid == a.gid:
		return info.Mode()&0o010 != 0
	default:
		return info.Mode()&0o001 != 0
	}
}

// barrierError is the sentence for a data directory that the account cannot reach.
func (a account) barrierError(dataDir, barrier string) error {
	return fmt.Errorf("the data directory %s is out of reach: Postgres does not run as root, and the account %q it would run as cannot enter %s: "+
		"choose a --data-dir outside of it (under /var/lib, for one), or run marquee as a normal user", dataDir, a.name,
		barrier)
}
