package localpg

import (
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"syscall"
)

// process is a child that dies with us: it runs in its own process group, so that a
// Ctrl-C at the terminal reaches it only through us, and the kernel signals it when
// this process ends without a chance to do so itself.
type process struct {
	pid    int
	handle *os.Process
	done   chan struct{} // closed when the child has ended
	err    error         // how it ended; read after done
}

// startProcess starts path as the account. output, which may be nil, takes both of the
// child's output streams. dying is what the kernel sends when this process is gone.
func startProcess(path string, args []string, a account, output *os.File, dying syscall.Signal) (*process, error) {
	cmd := exec.Command(path, args...)
	// The caller's directory may be closed to the account the child runs as.
	cmd.Dir = "/"
	cmd.Stdout, cmd.Stderr = output, output
	cmd.SysProcAttr = childAttributes(a, dying)

	p := &process{done: make(chan struct{})}
	started := make(chan error)
	go func() {
		// The kernel sends the signal when the *thread* that forked ends, and Go ends idle
		// threads; this one is pinned for as long as the child lives.
		runtime.LockOSThread()
		defer close(p.done)
		err := cmd.Start()
		if err == nil {
			p.handle, p.pid = cmd.Process, cmd.Process.Pid
		}
		started <- err
		if err == nil {
			p.err = cmd.Wait()
		}
	}()
	if err := <-started; err != nil {
		return nil, fmt.Errorf("start %s as %s: %w", path, a.name, err)
	}
	return p, nil
}
