//go:build unix && !linux

package embedded

import "syscall"

// procAttr makes a child run as cred, in its own process group so that Ctrl-C does not reach it. There is no parent-death signal on this system. A server
// that outlives its gateway is stopped at the next start.
func procAttr(cred *syscall.Credential, _ syscall.Signal) *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Credential: cred, Setpgid: true}
}
