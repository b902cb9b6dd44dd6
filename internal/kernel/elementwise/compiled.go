package elementwise

import (
	"sync"
	"sync/atomic"
	"unsafe"

	"github.com/gorge-tf/gorge/internal/kernel"
	"github.com/gorge-tf/gorge/internal/machine"
)

// isa is what the machine code of single operations is made of.
var isa machine.ISA

func init() { kernel.Dispatch(&isa, machine.AVX2, machine.AVX512) }

// fewCompiled elements at least are computed by machine code: Go's loops, to the same bits,
// take less than the call for fewer.
const fewCompiled = 16

// A Compiled runs an operation by itself as machine code, which is made for the first call.
// Where none can be made the loop in Go that defines the operation has to be run.
type Compiled struct {
	results  int // how many of the streams, the last ones, are written
	lanes    func(c *machine.Code, in []machine.Value, result machine.Size) bool
	programs [machine.AVX512 + 1]atomic.Pointer[compiledProgram]
	making   sync.Mutex
}

// A compiledProgram has no Program if none could be made.
type compiledProgram struct{ *machine.Program }

// Compile returns an operation that has such lanes.
func Compile(l machine.Lanes) *Compiled {
	return &Compiled{results: 1, lanes: func(c *machine.Code, in []machine.Value, result machine.Size) bool {
		y, ok := l(c, in)
		if ok {
			c.Store(y, result)
		}
		return ok
	}}
}

// CompileMany returns an operation with so many results of words, which l stores in their order.
func CompileMany(results int, l func(c *machine.Code, in []machine.Value)) *Compiled {
	return &Compiled{results: results, lanes: func(c *machine.Code, in []machine.Value, _ machine.Size) bool {
		l(c, in)
		return true
	}}
}

// A Stream is an operand or a result of machine code.
type Stream struct {
	at   unsafe.Pointer
	size int // of an element; 0: all results share the one there is
}

// Along is a stream of elements of one byte or four.
func Along[T any](x []T) Stream {
	return Stream{unsafe.Pointer(unsafe.SliceData(x)), int(unsafe.Sizeof(*new(T)))}
}

// Shared is a stream of one element that all results are computed of.
func Shared(x *float32) Stream { return Stream{unsafe.Pointer(x), 0} }

// mostStreams is how many streams a call has at most.
const mostStreams = 9

// Run computes n elements of the last stream, or the last ones, of those before it, or reports
// that it cannot and has done nothing. Every call of an operation has streams of the same sizes; a
// result may lie in the memory of an operand whose elements have its size.
func (c *Compiled) Run(n int, streams ...Stream) bool {
	if n < fewCompiled || isa == machine.None || !machine.Available() || len(streams) > mostStreams {
		return false
	}
	p := c.programs[isa].Load()
	if p == nil {
		p = c.compile(streams)
	}
	if p.Program == nil {
		return false
	}
	var at [mostStreams]unsafe.Pointer
	for from := 0; from < n; from += machine.MaxElements {
		for i, s := range streams {
			at[i] = unsafe.Add(s.at, from*s.size)
		}
		p.Run(at[:len(streams)], min(n-from, machine.MaxElements))
	}
	return true
}

// compile makes the program for streams of such sizes.
func (c *Compiled) compile(streams []Stream) *compiledProgram {
	c.making.Lock()
	defer c.making.Unlock()
	if p := c.programs[isa].Load(); p != nil {
		return p
	}
	p := new(compiledProgram)
	if code, ok := c.assemble(streams); ok {
		if made, err := machine.Load(isa, code); err == nil {
			p.Program = made
		}
	}
	c.programs[isa].Store(p)
	return p
}

func (c *Compiled) assemble(streams []Stream) (code []byte, ok bool) {
	m := machine.New(isa)
	in := make([]machine.Value, len(streams)-c.results)
	for i, s := range streams {
		switch {
		case s.size == int(machine.Byte) && !m.Bytes():
			return nil, false
		case i >= len(in):
		case s.size == 0:
			in[i] = m.Spread()
		default:
			in[i] = m.Load(machine.Size(s.size))
		}
	}
	if !c.lanes(m, in, machine.Size(streams[len(streams)-1].size)) {
		return nil, false
	}
	code, err := m.Assemble()
	return code, err == nil
}

// CompiledMap returns plain as a loop that runs as machine code where that is possible.
func CompiledMap[R any](l machine.Lanes, plain func(y []R, x []float32)) func(y []R, x []float32) {
	c := Compile(l)
	return func(y []R, x []float32) {
		if x = x[:len(y)]; !c.Run(len(y), Along(x), Along(y)) {
			plain(y, x)
		}
	}
}

// CompiledZip is CompiledMap for two operands.
func CompiledZip(l machine.Lanes, plain func(z, x, y []float32)) func(z, x, y []float32) {
	c := Compile(l)
	return func(z, x, y []float32) {
		if x, y = x[:len(z)], y[:len(z)]; !c.Run(len(z), Along(x), Along(y), Along(z)) {
			plain(z, x, y)
		}
	}
}

// blocks are memory of workers for what lies between two loops, in the first-level cache.
var blocks = sync.Pool{New: func() any { return new([widenBlock]float32) }}

// EachBlock calls f for parts [lo, hi) of n elements together with memory for as many.
func EachBlock(n int, f func(lo, hi int, buf []float32)) {
	b := blocks.Get().(*[widenBlock]float32)
	for lo := 0; lo < n; lo += widenBlock {
		hi := min(lo+widenBlock, n)
		f(lo, hi, b[:hi-lo])
	}
	blocks.Put(b)
}
