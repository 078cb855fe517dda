package rowplan

import (
	"bytes"
	"sync"
)

// Bounds of the memory that is kept for answers, in bytes: less is not worth the trouble, more would be held for the sake of a rare answer.
const (
	leastKept = 1 << 10
	mostKept  = 1 << 20
)

// Buffers keep the memory of answers that have been sent, for the answers to come.
type Buffers struct {
	pool sync.Pool // of *[]byte
}

// Give hands over the memory of an answer. Nobody may use it any more.
func (b *Buffers) Give(answer []byte) {
	if c := cap(answer); c >= leastKept && c <= mostKept {
		kept := answer[:0]
		b.pool.Put(&kept)
	}
}

// room makes sure that n bytes can be appended to buf without growing it, where n is known beforehand. The memory that it had is given back.
func (b *Buffers) room(buf *bytes.Buffer, n int) {
	if buf.Available() >= n {
		return
	}
	n += buf.Len()
	kept, _ := b.pool.Get().(*[]byte)
	if kept == nil || cap(*kept) < n {
		memory := make([]byte, 0, n)
		kept = &memory
	}
	old := buf.Bytes()
	*buf = *bytes.NewBuffer(append(*kept, old...))
	b.Give(old)
}
