package machine

import (
	"errors"
	"os"
	"runtime"
	"sync"
	"sync/atomic"
	"unsafe"
	"weak"
)

const (
	// MaxElements is the most that one call may be for.
	MaxElements = 16 << 10
	// MaxBytes is how much memory all programs have at most.
	MaxBytes = 32 << 20
)

var (
	errDenied = errors.New("the system must allow memory to be made executable, it does not")
	errFull   = errors.New("machine code has all the memory that it may have")
)

// Variable is the name of the variable of the environment that "off" in it keeps programs
// from being loaded.
const Variable = "GORGE_MACHINE_CODE"

// denied is set when programs are not wanted, and for good when the system has refused
// executable memory.
var denied atomic.Bool

func init() { denied.Store(os.Getenv(Variable) == "off") }

// Available reports whether programs can be loaded, as far as is known.
func Available() bool { return !denied.Load() }

// Use says whether programs are wanted. Tests and measurements compare by it what is
// computed with and without.
func Use(wanted bool) { denied.Store(!wanted) }

// loaded holds the programs that are in use, by their code: clusters that compute the same
// share one.
var loaded struct {
	sync.Mutex
	programs map[string]weak.Pointer[Program]
	bytes    int // of all of their memory
}

// A Program is machine code that can be run, by any number of goroutines at once. Its
// memory is given back when nothing refers to it any more.
type Program struct {
	isa    ISA
	memory []byte // executable, read-only
}

// Load makes a program of what [Code.Assemble] has returned.
func Load(isa ISA, code []byte) (*Program, error) {
	if denied.Load() {
		return nil, errDenied
	}
	key := string(code)
	loaded.Lock()
	defer loaded.Unlock()
	if p := loaded.programs[key].Value(); p != nil {
		return p, nil
	}
	size := pages(len(code))
	if loaded.bytes+size > MaxBytes {
		return nil, errFull
	}
	m, err := executable(code, size)
	if err != nil {
		denied.Store(true)
		return nil, errDenied
	}
	p := &Program{isa, m}
	if loaded.programs == nil {
		loaded.programs = map[string]weak.Pointer[Program]{}
	}
	loaded.programs[key] = weak.Make(p)
	loaded.bytes += size
	runtime.AddCleanup(p, func(m []byte) { unload(key, m) }, m)
	return p, nil
}

// unload gives the memory of a program back.
func unload(key string, m []byte) {
	loaded.Lock()
	defer loaded.Unlock()
	if loaded.programs[key].Value() == nil { // else the same code has been loaded again
		delete(loaded.programs, key)
	}
	loaded.bytes -= len(m)
	release(m)
}

func pages(n int) int {
	const page = 4 << 10
	return (n + page - 1) &^ (page - 1)
}

// tails are words of ones and zeros: the mask of n lanes begins n words before the zeros.
var tails = [16]int32{-1, -1, -1, -1, -1, -1, -1, -1}

// Run runs the program for n elements, at most [MaxElements], of the streams that begin
// at these addresses, which must be on the heap.
func (p *Program) Run(streams []unsafe.Pointer, n int) {
	lanes := p.isa.Lanes()
	whole, rest := n&^(lanes-1), n&(lanes-1)
	tail := uintptr(1)<<rest - 1
	if p.isa == AVX2 {
		tail = uintptr(unsafe.Pointer(&tails[lanes-rest]))
	}
	call(unsafe.SliceData(p.memory), unsafe.SliceData(streams), whole, tail)
	runtime.KeepAlive(p)
	runtime.KeepAlive(streams)
}
