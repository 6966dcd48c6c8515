//go:build unix && !linux

package localpg

import "syscall"

// childAttributes cannot ask for a death signal here: only Linux has it. A killed parent
// leaves its server running, and the next Start adopts it.
func childAttributes(a account, _ syscall.Signal) *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Credential: a.credential(), Setpgid: true}
}
