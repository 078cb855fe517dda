package rowplan

import (
	"bytes"
	"sync"
)

// Sizes in bytes of the buffers that are reused. Smaller ones are cheap to allocate, and no response is larger by default. The collector frees unused ones.
const (
	minReused = 1 << 10
	maxReused = 16 << 20
)

// Buffers reuses the memory of responses that have been sent.
type Buffers struct {
	pool sync.Pool // of *[]byte
}

// Put returns the memory of a response to the pool. The caller must not use it any more.
func (b *Buffers) Put(response []byte) {
	if c := cap(response); c >= minReused && c <= maxReused {
		free := response[:0]
		b.pool.Put(&free)
	}
}

// grow makes sure that n more bytes fit into buf without another allocation. The memory that buf had goes back to the pool.
func (b *Buffers) grow(buf *bytes.Buffer, n int) {
	if buf.Available() >= n {
		return
	}
	n += buf.Len()
	free, _ := b.pool.Get().(*[]byte)
	if free == nil || cap(*free) < n {
		memory := make([]byte, 0, n)
		free = &memory
	}
	old := buf.Bytes()
	*buf = *bytes.NewBuffer(append(*free, old...))
	b.Put(old)
}
