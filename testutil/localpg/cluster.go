package localpg

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// createCluster runs initdb beside the cluster's place and renames the result into it, so
// that an interrupted initdb leaves nothing that looks like a cluster. An ephemeral one is not
// synced, and its sessions begin without the thousands of hashes that SCRAM takes for each.
func (d *dataDir) createCluster(ctx context.Context, bin Binaries, ephemeral bool) error {
	password, err := d.password()
	if err != nil {
		return fmt.Errorf("make the database password: %w", err)
	}
	// Locales come with the operating system. Both sort by code point; the first also knows
	// letters outside ASCII, which upper(), lower() and the text search need.
	for _, locale := range []string{"C.UTF-8", "C"} {
		if err = d.initdb(ctx, bin, password, locale, ephemeral); err == nil {
			return nil
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
	}
	return err
}

func (d *dataDir) initdb(ctx context.Context, bin Binaries, password, locale string, ephemeral bool) error {
	fresh := d.file("postgres.new")
	if err := errors.Join(os.RemoveAll(fresh), os.Mkdir(fresh, 0o700), d.account.selfAccount(fresh)); err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(fresh) }()
	passwordFile, err := d.lendPassword(password)
	if err != nil {
		return err
	}
	defer func() { _ = os.Remove(passwordFile) }()

	args := []string{
		"--pgdata=" + fresh, "--username=postgres", "--pwfile=" + passwordFile,
		"--encoding=UTF8", "--locale=" + locale,
	}
	if ephemeral {
		args = append(args, "--auth=md5", "--no-sync")
	} else {
		args = append(args, "--auth=scram-sha-256")
	}
	if err := d.runProgram(ctx, bin, "initdb", args); err != nil {
		return err
	}
	return os.Rename(fresh, d.cluster())
}

// runProgram runs one of Postgres's own programs to its end, with its output in the log. An error has what it wrote; a
// cancelled context kills it.
func (d *dataDir) runProgram(ctx context.Context, bin Binaries, name string, args []string) error {
	log, err := d.rotateLog()
	if err != nil {
		return err
	}
	defer log.Close()
	p, err := startProcess(filepath.Join(bin.Dir, name), args, d.account, log, syscall.SIGKILL)
	if err != nil {
		return err
	}
	select {
	case <-p.done:
	case <-ctx.Done():
		_ = syscall.Kill(-p.pid, syscall.SIGKILL)
		<-p.done
		return ctx.Err()
	}
	if p.err != nil {
		return fmt.Errorf("%s of %s: %w: %s", name, bin.Dir, p.err, strings.ReplaceAll(d.logTail(), "\n", "; "))
	}
	return nil
}

// lendPassword writes the password where initdb's account can read it, for the moment.
func (d *dataDir) lendPassword(password string) (string, error) {
	path := d.file("password.initdb")
	if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
		return "", err
	}
	if err := os.WriteFile(path, []byte(password+"\n"), 0o600); err != nil {
		return "", err
	}
	return path, d.account.selfAccount(path)
}
