package gateway

// heapFloor is how much garbage there may be, in bytes, before it is looked for, however little else the heap holds.
const heapFloor = 32 << 20

// Floor is memory that nobody uses, to be held as long as the gateway runs. The garbage collector begins when the heap has doubled: without it
// the few megabytes that a gateway lives on would be searched some hundred times a second under load. No page of it is ever
// touched, so it takes address space, and none of the machine's memory.
type Floor []byte

// NewFloor makes a floor. The sooner after the start, the surer that its pages are fresh.
func NewFloor() Floor { return make([]byte, heapFloor) }
