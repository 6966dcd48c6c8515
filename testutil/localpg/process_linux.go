package localpg

import "syscall"

func childAttributes(a account, dying syscall.Signal) *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Credential: a.credential(), Setpgid: true, Pdeathsig: dying}
}
