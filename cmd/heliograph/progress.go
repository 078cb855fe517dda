package main

import (
	"fmt"
	"os"
	"strings"
)

// barWidth is the width of the bar in characters.
const barWidth = 30

// progress prints the progress of a task: a bar on a terminal, and one line per step elsewhere.
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
	case p.terminal && done+total == 0:
		fmt.Fprintf(p.out, "\r\033[K%s …", step)
	case p.terminal && total == 0:
		fmt.Fprintf(p.out, "\r\033[K%s %d", step, done)
	case p.terminal:
		full := barWidth * done / total
		fmt.Fprintf(p.out, "\r\033[K[%s%s] %d/%d %s", strings.Repeat("=", full), strings.Repeat(" ", barWidth-full), done, total, step)
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
