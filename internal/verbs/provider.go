package verbs

import "errors"

// A Device is an opened RDMA device with one protection domain. Its methods,
// and those of what it makes, are safe for concurrent use.
type Device interface {
	Attributes() Attributes
	// Register makes memory known to the device, which may read it from then
	// on, and write it too if access says so. The memory must stay where it
	// is until it is deregistered.
	Register(mem []byte, access Access) (MemoryRegion, error)
	CreateCQ(entries int) (CompletionQueue, error)
	// CreateQP returns a reliably connected queue pair in the state INIT. It
	// takes up to depth requests of each kind at a time, and tells of all of
	// them in cq.
	CreateQP(cq CompletionQueue, depth int) (QueuePair, error)
	// NextEvent waits for something to happen to the device, a port or a queue
	// pair that no work request asked for. It returns ErrClosed once the device
	// is closed. One goroutine at a time calls it.
	NextEvent() (Event, error)
	Close() error
}

// Attributes describe a device.
type Attributes struct {
	Name       string
	Detail     string // for logs: provider, port, kind of link, GID, MTU
	LID        uint16 // local identifier of the port
	GID        GID
	MaxMessage int // bytes that one work request can carry
	MaxInline  int // bytes that a request can take along when it is posted
	MaxDepth   int // of a queue pair; 0: any
	MaxCQE     int // entries of a completion queue; 0: any
	// CopyBelow is the size from which on registering memory for a single
	// transfer costs less than copying it.
	CopyBelow int
}

// A GID is the global identifier of a port, an IPv6 address in form.
type GID [16]byte

// Access says what a device may do with memory besides reading it.
type Access int

// The kinds of access, which are bits with libibverbs' values.
const (
	LocalWrite  Access = 1
	RemoteWrite Access = 2
)

// A MemoryRegion is memory that a device knows.
type MemoryRegion interface {
	Addr() uint64 // of the first byte, as work requests and peers name it
	LKey() uint32 // for work requests of this device
	RKey() uint32 // for peers
	// Deregister returns when the device has stopped using the memory. A
	// transfer under way is broken off, and with it its queue pair.
	Deregister() error
}

// An SGE is a piece of registered memory.
type SGE struct {
	Addr   uint64
	Length uint32
	LKey   uint32
}

// An Address is how a peer reaches a queue pair.
type Address struct {
	LID uint16
	GID GID
	QPN uint32
	PSN uint32 // number of the first packet that the queue pair sends
}

// A QueuePair is one end of a reliable connection: what is posted to it
// arrives in order, once, or the queue pair fails.
type QueuePair interface {
	Num() uint32
	// Connect brings the queue pair from INIT through RTR to RTS. psn is the
	// first packet number that it uses itself.
	Connect(psn uint32, remote Address) error
	// PostSend queues requests in order. After an error it is not known which of
	// them have been queued: the queue pair is of no use any more.
	PostSend(wrs ...SendWR) error
	// PostRecv queues memory for Sends of the peer, or, with none, for the
	// immediate values of writes.
	PostRecv(wrs ...RecvWR) error
	// Fail moves the queue pair to the error state: all that is posted is
	// flushed.
	Fail() error
	// Destroy returns when the queue pair uses no memory any more, neither
	// for its own requests nor for those of the peer.
	Destroy() error
}

// A SendWR is a work request to the sending side of a queue pair.
type SendWR struct {
	ID         uint64
	Op         Opcode
	Local      SGE
	RemoteAddr uint64 // of writes
	RKey       uint32
	Imm        uint32 // of OpWriteImm
	// Inline, if not nil, is sent instead of Local: at most MaxInline bytes of
	// any memory, which are read before PostSend returns.
	Inline []byte
	// Quiet requests have no completion unless they fail. They keep their place
	// in the queue until a later request that is not quiet has completed, which
	// tells that they have, too.
	Quiet bool
}

// Len is the number of bytes that the request carries.
func (wr *SendWR) Len() int {
	if wr.Inline != nil {
		return len(wr.Inline)
	}
	return int(wr.Local.Length)
}

// A RecvWR is a work request to the receiving side of a queue pair.
type RecvWR struct {
	ID  uint64
	SGE SGE
}

// An Opcode is what a work request asks for, or a completion tells of.
type Opcode int

// What can be asked for, and what comes of it at the peer.
const (
	OpWrite    Opcode = iota
	OpWriteImm        // the peer hears of it
	OpSend
	OpRecv         // a Send has arrived
	OpRecvWriteImm // a write with an immediate value has arrived
)

// A Completion tells the end of a work request. If Status is not Success, only
// ID and QPN mean something beside it.
type Completion struct {
	ID     uint64
	Status Status
	Op     Opcode
	Len    uint32 // bytes that arrived
	Imm    uint32
	QPN    uint32
}

// A CompletionQueue gathers what the queue pairs of a device have done.
type CompletionQueue interface {
	// Poll takes what is there, up to len(wc) completions.
	Poll(wc []Completion) (int, error)
	// Arm asks for an event at the next completion.
	Arm() error
	// Wait waits for the event, or returns ErrClosed.
	Wait() error
	Close() error
}

// ErrClosed is returned by the methods of what has been closed.
var ErrClosed = errors.New("verbs: closed")
