//go:build unix

package embedded

import (
	"os/exec"
	"runtime"
)

// process is a started program. err is its result and may be read after done is closed.
type process struct {
	cmd  *exec.Cmd
	done chan struct{}
	err  error
}

// launch starts cmd and waits for its end on a separate thread. The parent-death signal is sent when the thread that started the child ends, so that thread
// must live as long as the child. The goroutine never unlocks the thread, so the thread ends with it.
func launch(cmd *exec.Cmd) (*process, error) {
	p := &process{cmd: cmd, done: make(chan struct{})}
	started := make(chan error, 1)
	go func() {
		runtime.LockOSThread()
		err := cmd.Start()
		started <- err
		if err != nil {
			return
		}
		p.err = cmd.Wait()
		close(p.done)
	}()
	return p, <-started
}

// ended reports whether the program has ended.
func (p *process) ended() bool {
	select {
	case <-p.done:
		return true
	default:
		return false
	}
}
