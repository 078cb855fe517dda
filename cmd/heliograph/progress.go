package main

import (
	"fmt"
	"os"
)

// progress prints the progress of a task: one line that is redrawn on a terminal, and one line per step elsewhere.
type progress struct {
	out      *os.File
	terminal bool
	last     string
}

func newProgress(out *os.File) *progress {
	info, err := out.Stat()
	return &progress{out: out, terminal: err == nil && info.Mode()&os.ModeCharDevice != 0}
}

// show prints the progress of a step. total is 0 if it is not known.
func (p *progress) show(step string, done, total int) {
	switch {
	case p.terminal && total == 0:
		fmt.Fprintf(p.out, "\r\033[K%s %d", step, done)
	case p.terminal:
		fmt.Fprintf(p.out, "\r\033[K%s %d/%d", step, done, total)
	case step != p.last:
		fmt.Fprintln(p.out, step)
	}
	p.last = step
}

// end clears the line on a terminal.
func (p *progress) end() {
	if p.terminal && p.last != "" {
		fmt.Fprint(p.out, "\r\033[K")
	}
}
