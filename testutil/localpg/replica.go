package localpg

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
)

// CopyInto makes of a data directory that holds nothing yet a streaming replica of the server: Start on it runs it.
// The server must not be an ephemeral one, whose log has not what a replica needs.
func (s *Server) CopyInto(ctx context.Context, path string) error {
	dir, err := openDataDir(path)
	if err != nil {
		return err
	}
	defer dir.release()
	if dir.major() != 0 {
		return fmt.Errorf("%s holds data already", dir.path)
	}
	bin, err := findOrFetch(ctx, dir.account, s.dir.major(), io.Discard)
	if err != nil {
		return err
	}
	if err := os.WriteFile(dir.file("password"), []byte(s.password+"\n"), 0o600); err != nil {
		return fmt.Errorf("keep the server's password: %w", err)
	}
	if err := errors.Join(os.Mkdir(dir.cluster(), 0o700), dir.account.selfAccount(dir.cluster())); err != nil {
		return fmt.Errorf("make the replica's cluster: %w", err)
	}
	args := []string{
		"--pgdata=" + dir.cluster(), "--write-recovery-conf", "--checkpoint=fast", "--no-sync",
		"--dbname=" + strings.ReplaceAll(s.URL(""), "/?", "?"),
	}
	return dir.runProgram(ctx, bin, "pg_basebackup", args)
}

// Process is the id of the server's main process; 0 of an adopted one.
func (s *Server) Process() int {
	if s.process == nil {
		return 0
	}
	return s.process.pid
}
