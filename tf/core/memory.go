package core

import (
	"errors"
	"fmt"

	"github.com/gorge-tf/gorge/internal/memory"
	"github.com/gorge-tf/gorge/internal/resource"
)

// SetMemoryLimit bounds the memory of the process: what tensors take and all
// else on Go's heap. An operation that would exceed it fails with
// RESOURCE_EXHAUSTED, and names who holds what. It returns the limit before. The
// default, which 0 stands for, is nine tenths of what the machine, the control
// groups of the process and its resource limits allow.
func SetMemoryLimit(bytes int64) (before int64) { return memory.SetLimit(bytes) }

// MemoryUsage returns what the process uses now, garbage included that has not
// been collected, and its limit.
func MemoryUsage() (inUse, limit int64) { return memory.Usage() }

// SetMemoryShares bounds what one session and what one step may hold of the
// limit in tensors of 64 KB and more: parts in 0 to 1, of which 0 stands for all
// of it, the default. It returns what they were.
func SetMemoryShares(session, step float64) (beforeSession, beforeStep float64) {
	return memory.SetShares(session, step)
}

// Make is make([]T, n) for kernels, of as many elements as inputs or attributes
// say. If that exceeds the memory limit it panics, which makes the node fail
// with RESOURCE_EXHAUSTED: see Panicked.
func Make[T any](n int) []T { return memory.Make[T](n) }

// Room tells that the kernel is about to allocate n bytes in another way than by
// Make and tensors: strings that it composes, say. If that exceeds the memory
// limit it panics, which makes the node fail with RESOURCE_EXHAUSTED.
func Room(n int) { memory.Room(n) }

// Exhausted reports whether err says that memory was not to be had.
func Exhausted(err error) bool {
	var m *memory.Exhausted
	return errors.As(err, &m)
}

// oom says, in TensorFlow's words and then in ours, why there is no memory for a
// tensor. Clients look for the words.
func oom(d DType, s Shape, device string, err error) error {
	if device == "" {
		device = "/device:CPU:0"
	}
	return &Error{Code: ResourceExhausted, Err: err,
		Msg: fmt.Sprintf("OOM when allocating tensor with shape%s and type %s on %s by allocator cpu; %v", s.String(), d.CName(), device, err)}
}

// A MemoryHolder is a resource that holds memory for long: a variable, a queue.
// HeldMemory names the kind, "queues" say, and returns the bytes, or 0 if that
// cannot be known at once: it must not wait for locks that are held while
// anything is allocated.
type MemoryHolder interface {
	HeldMemory() (kind string, bytes int)
}

// tellHolders returns err, if it says that memory was not to be had, with what
// the resources of the device hold. Nothing is locked then: the kernel has ended.
func tellHolders(err error, m *resource.Manager) error {
	if m == nil || !Exhausted(err) {
		return err
	}
	held := map[string]int64{}
	m.Each(func(_, _ string, value any) {
		if h, ok := value.(MemoryHolder); ok {
			kind, n := h.HeldMemory()
			held[kind] += int64(n)
		}
	})
	var list []memory.Holder
	for kind, n := range held {
		list = append(list, memory.Holder{Name: kind, Bytes: n})
	}
	if list = memory.Largest(list); len(list) == 0 {
		return err
	}
	e := *AsError(err)
	e.Msg = e.Message() + "; of this device: " + memory.Held(list)
	return &e
}

// Failed returns err, with which the kernel has ended or which a panic of its
// became, as the run reports it: with the node and its inputs named and, where
// memory was not to be had, who holds it. Executors call it.
func (c *OpContext) Failed(err error) error {
	if c.Step != nil {
		err = tellHolders(err, c.Resources)
	}
	return AtNode(err, c.Node, c.Describe())
}

// textHeader is what a string takes beside its bytes.
const textHeader = 16

// HeldBytes returns what t keeps in memory: for strings, their headers too.
func (t *Tensor) HeldBytes() int {
	if t.buf == nil {
		return t.NumBytes() + textHeader*t.Len()
	}
	return t.NumBytes()
}
