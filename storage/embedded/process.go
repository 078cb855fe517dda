//go:build unix

package embedded

import (
	"os/exec"
	"runtime"
)

// process is a started program. err, how it ended, may be read after done is closed.
type process struct {
	cmd  *exec.Cmd
	done chan struct{}
	err  error
}

// launch starts cmd and waits for its end on a thread of its own: the parent-death signal belongs to the thread that
// starts the child, so that one must live as long as the child. The goroutine never unlocks it, hence the thread ends
// with the goroutine.
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

// ended tells whether the program is over.
func (p *process) ended() bool {
	select {
	case <-p.done:
		return true
	default:
		return false
	}
}
