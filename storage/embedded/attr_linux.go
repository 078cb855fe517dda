package embedded

import "syscall"

// procAttr lets a child run as cred, out of reach of the terminal's Ctrl-C, and asks the kernel to send it death when
// the thread that started it ends. The kernel resets that request when the user changes; Go makes it after that.
func procAttr(cred *syscall.Credential, death syscall.Signal) *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Credential: cred, Setpgid: true, Pdeathsig: death}
}
