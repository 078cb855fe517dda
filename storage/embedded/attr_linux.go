package embedded

import "syscall"

// procAttr makes a child run as cred, in its own process group so that Ctrl-C does not reach it. The kernel sends it the signal death when the thread that
// started it ends. A change of user resets this setting; Go applies it after the change.
func procAttr(cred *syscall.Credential, death syscall.Signal) *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Credential: cred, Setpgid: true, Pdeathsig: death}
}
