//go:build unix && !linux

package embedded

import "syscall"

// procAttr lets a child run as cred, out of reach of the terminal's Ctrl-C. There is no parent-death signal here: a
// server that outlives its gateway is stopped at the next start.
func procAttr(cred *syscall.Credential, _ syscall.Signal) *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Credential: cred, Setpgid: true}
}
