package machine

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"os"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"
	"unsafe"

	"golang.org/x/sys/cpu"
)

// isas returns the sets of instructions that this processor has.
func isas() (out []ISA) {
	x := cpu.X86
	if x.HasAVX2 && x.HasFMA {
		out = append(out, AVX2)
	}
	if x.HasAVX512F && x.HasAVX512DQ && x.HasAVX512BW && x.HasAVX512VL {
		out = append(out, AVX512)
	}
	return out
}

// forEach runs a test with each set of instructions, if there are programs at all.
func forEach(t *testing.T, f func(t *testing.T, isa ISA)) {
	for _, isa := range isas() {
		t.Run(fmt.Sprint(isa), func(t *testing.T) {
			c := New(isa)
			c.Store(c.Load(Word), Word)
			if _, err := Load(isa, must(c.Assemble())); err != nil {
				t.Skipf("this build or system has no programs: %v", err)
			}
			f(t, isa)
		})
	}
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// specials are words that operations treat in ways of their own: zeros, infinities, NaNs
// with payloads of both kinds, denormal numbers, the least int32.
var specials = []uint32{0, 1 << 31, 0x7f800000, 0xff800000, 0x7fc00001, 0xffc00002, 0x7f800003, 0xff800004, 1, 0x80000001, 0x3f800000, 0xbf800000, 0x7f7fffff}

func words(r *rand.Rand, n int) []uint32 {
	out := make([]uint32, n)
	for i := range out {
		switch r.IntN(4) {
		case 0:
			out[i] = specials[r.IntN(len(specials))]
		case 1:
			out[i] = r.Uint32()
		default:
			out[i] = math.Float32bits(float32(r.NormFloat64()))
		}
	}
	return out
}

// quiet is a NaN as an operation returns it.
func quiet(w uint32) uint32 { return w | 1<<22 }

func isNaN(w uint32) bool { return w<<1 > 0xff000000 }

// arith is an operation on two float32, with the NaNs of the processor.
func arith(f func(a, b float32) float32) func(x []uint32) uint32 {
	return func(x []uint32) uint32 {
		switch {
		case isNaN(x[0]):
			return quiet(x[0])
		case isNaN(x[1]):
			return quiet(x[1])
		}
		r := math.Float32bits(f(math.Float32frombits(x[0]), math.Float32frombits(x[1])))
		if isNaN(r) {
			return 0xffc00000
		}
		return r
	}
}

// whole is a function that rounds to whole numbers.
func whole(f func(float64) float64) func(x uint32) uint32 {
	return func(x uint32) uint32 {
		if isNaN(x) {
			return quiet(x)
		}
		return math.Float32bits(float32(f(float64(math.Float32frombits(x)))))
	}
}

func relation(f func(a, b float32) bool) func(x []uint32) uint32 {
	return func(x []uint32) uint32 {
		if f(math.Float32frombits(x[0]), math.Float32frombits(x[1])) {
			return 1
		}
		return 0
	}
}

func extreme(beats func(a, b float32) bool) func(x []uint32) uint32 {
	return func(x []uint32) uint32 {
		if isNaN(x[0]) || beats(math.Float32frombits(x[0]), math.Float32frombits(x[1])) {
			return x[0]
		}
		return x[1]
	}
}

// An operation is what a Code can add, beside what it means.
type operation struct {
	name string
	n    int // operands
	add  func(c *Code, x []Value) Value
	mean func(x []uint32) uint32
}

func two(name string, f func(c *Code, x, y Value) Value, mean func(x []uint32) uint32) operation {
	return operation{name, 2, func(c *Code, x []Value) Value { return f(c, x[0], x[1]) }, mean}
}

func one(name string, f func(c *Code, x Value) Value, mean func(x uint32) uint32) operation {
	return operation{name, 1, func(c *Code, x []Value) Value { return f(c, x[0]) }, func(x []uint32) uint32 { return mean(x[0]) }}
}

func ints(f func(a, b int32) int32) func(x []uint32) uint32 {
	return func(x []uint32) uint32 { return uint32(f(int32(x[0]), int32(x[1]))) }
}

var operations = []operation{
	two("add", (*Code).Add, arith(func(a, b float32) float32 { return a + b })),
	two("sub", (*Code).Sub, arith(func(a, b float32) float32 { return a - b })),
	two("mul", (*Code).Mul, arith(func(a, b float32) float32 { return a * b })),
	two("div", (*Code).Div, arith(func(a, b float32) float32 { return a / b })),
	two("max", (*Code).Max, extreme(func(a, b float32) bool { return a > b })),
	two("min", (*Code).Min, extreme(func(a, b float32) bool { return a < b })),
	two("wherePositive", (*Code).WherePositive, func(x []uint32) uint32 {
		if math.Float32frombits(x[1]) > 0 {
			return x[0]
		}
		return 0
	}),
	two("greater", (*Code).Greater, relation(func(a, b float32) bool { return a > b })),
	two("greaterEqual", (*Code).GreaterEqual, relation(func(a, b float32) bool { return a >= b })),
	two("equal", (*Code).Equal, relation(func(a, b float32) bool { return a == b })),
	two("notEqual", (*Code).NotEqual, relation(func(a, b float32) bool { return a != b })),
	two("and", (*Code).And, func(x []uint32) uint32 { return x[0] & x[1] }),
	two("or", (*Code).Or, func(x []uint32) uint32 { return x[0] | x[1] }),
	two("xor", (*Code).Xor, func(x []uint32) uint32 { return x[0] ^ x[1] }),
	two("intAdd", (*Code).IntAdd, ints(func(a, b int32) int32 { return a + b })),
	two("intSub", (*Code).IntSub, ints(func(a, b int32) int32 { return a - b })),
	two("intMul", (*Code).IntMul, ints(func(a, b int32) int32 { return a * b })),
	two("intMax", (*Code).IntMax, ints(func(a, b int32) int32 { return max(a, b) })),
	two("intMin", (*Code).IntMin, ints(func(a, b int32) int32 { return min(a, b) })),
	one("intAbs", (*Code).IntAbs, func(x uint32) uint32 {
		if int32(x) < 0 {
			return -x
		}
		return x
	}),
	one("neg", (*Code).Neg, func(x uint32) uint32 { return x ^ 1<<31 }),
	one("abs", (*Code).Abs, func(x uint32) uint32 { return x &^ (1 << 31) }),
	one("sign", (*Code).Sign, func(x uint32) uint32 {
		switch {
		case isNaN(x):
			return x
		case x<<1 == 0:
			return 0
		}
		return x&(1<<31) | math.Float32bits(1)
	}),
	one("positive", (*Code).Positive, func(x uint32) uint32 {
		if isNaN(x) || math.Float32frombits(x) > 0 {
			return x
		}
		return 0
	}),
	one("sqrt", (*Code).Sqrt, func(x uint32) uint32 {
		if isNaN(x) {
			return quiet(x)
		}
		if f := math.Float32frombits(x); f < 0 {
			return 0xffc00000
		}
		return math.Float32bits(float32(math.Sqrt(float64(math.Float32frombits(x)))))
	}),
	one("floor", (*Code).Floor, whole(math.Floor)),
	one("ceil", (*Code).Ceil, whole(math.Ceil)),
	one("roundToEven", (*Code).RoundToEven, whole(math.RoundToEven)),
	{"pickPositive", 3, func(c *Code, x []Value) Value { return c.PickPositive(x[0], x[1], x[2]) }, func(x []uint32) uint32 {
		if math.Float32frombits(x[0]) > 0 {
			return x[1]
		}
		return x[2]
	}},
	one("literal", func(c *Code, x Value) Value { return c.Xor(c.Literal(-1.5), x) }, func(x uint32) uint32 { return x ^ 0xbfc00000 }),
	one("word", func(c *Code, x Value) Value { return c.Xor(x, c.Word(0x12345678)) }, func(x uint32) uint32 { return x ^ 0x12345678 }),
	{"negMulAdd", 3, func(c *Code, x []Value) Value { return c.NegMulAdd(x[0], x[1], x[2]) }, func(x []uint32) uint32 {
		return negMulAdd32(x[0], x[1], x[2])
	}},
	{"pick", 3, func(c *Code, x []Value) Value { return c.Pick(x[0], x[1], x[2]) }, func(x []uint32) uint32 {
		if x[0] != 0 {
			return x[1]
		}
		return x[2]
	}},
}

// negMulAdd32 is z - x·y rounded once: a product of two float32 is exact in float64, and
// so is the sum unless it must be rounded to odd.
func negMulAdd32(x, y, z uint32) uint32 {
	for _, w := range []uint32{x, y, z} {
		if isNaN(w) {
			return quiet(w)
		}
	}
	a, b, c := float64(math.Float32frombits(x)), float64(math.Float32frombits(y)), float64(math.Float32frombits(z))
	r := math.FMA(-a, b, c)
	if math.IsNaN(r) {
		return 0xffc00000
	}
	if exact := new(big.Float).SetPrec(2000); !math.IsInf(r, 0) && !math.IsInf(a, 0) && !math.IsInf(b, 0) {
		exact.Add(exact.Mul(big.NewFloat(-a).SetPrec(2000), big.NewFloat(b)), big.NewFloat(c))
		if f, _ := exact.Float32(); f != 0 || exact.Sign() != 0 {
			return math.Float32bits(f)
		}
	}
	return math.Float32bits(float32(r))
}

// run assembles and runs c for n elements.
func run(t *testing.T, isa ISA, c *Code, streams []unsafe.Pointer, n int) {
	t.Helper()
	p, err := Load(isa, must(c.Assemble()))
	if err != nil {
		t.Fatal(err)
	}
	p.Run(streams, n)
}

func address[T any](s []T) unsafe.Pointer { return unsafe.Pointer(unsafe.SliceData(s)) }

// TestOperations compares each operation, on words of all kinds and of all lengths up to
// some vectors, with what it means, and looks at what lies behind the result.
func TestOperations(t *testing.T) {
	forEach(t, func(t *testing.T, isa ISA) {
		for _, o := range operations {
			r := rand.New(rand.NewPCG(1, uint64(isa)))
			for n := range 71 {
				compareOne(t, isa, o, r, n)
			}
			compareOne(t, isa, o, r, 5000)
		}
	})
}

func compareOne(t *testing.T, isa ISA, o operation, r *rand.Rand, n int) {
	t.Helper()
	c, in, streams := New(isa), make([][]uint32, o.n), []unsafe.Pointer(nil)
	args := make([]Value, o.n)
	repeated := r.IntN(o.n + 1) // of which there is one word
	for k := range in {
		if k == repeated {
			in[k], args[k] = words(r, 1), c.Spread()
		} else {
			in[k], args[k] = words(r, n), c.Load(Word)
		}
		streams = append(streams, address(in[k]))
	}
	out := slices.Repeat([]uint32{0xdeadbeef}, n+40)
	c.Store(o.add(c, args), Word)
	run(t, isa, c, append(streams, address(out)), n)
	for i, got := range out {
		want, x := uint32(0xdeadbeef), make([]uint32, o.n)
		if i < n {
			for k := range x {
				x[k] = in[k][i%len(in[k])]
			}
			want = o.mean(x)
		}
		if o.n == 3 && isNaN(got) && isNaN(want) {
			continue // which of several NaNs a fused operation returns is the processor's business
		}
		if got != want {
			t.Fatalf("%s of %#x, element %d of %d, is %#x, want %#x", o.name, x, i, n, got, want)
		}
	}
}

// TestBytes reads and writes bools, which only AVX-512 can.
func TestBytes(t *testing.T) {
	forEach(t, func(t *testing.T, isa ISA) {
		c := New(isa)
		if !c.Bytes() {
			return
		}
		a, b := c.Load(Byte), c.Load(Word)
		c.Store(c.Xor(a, c.Word(1)), Byte)
		c.Store(c.Pick(a, b, c.Word(7)), Word)
		p := must(Load(isa, must(c.Assemble())))
		r := rand.New(rand.NewPCG(2, 3))
		for n := range 71 {
			in, values := make([]byte, n), words(r, n)
			for i := range in {
				in[i] = byte(r.IntN(2))
			}
			not, picked := slices.Repeat([]byte{9}, n+40), slices.Repeat([]uint32{9}, n+40)
			p.Run([]unsafe.Pointer{address(in), address(values), address(not), address(picked)}, n)
			for i := range not {
				wantNot, want := byte(9), uint32(9)
				if i < n {
					wantNot, want = 1-in[i], 7
					if in[i] == 1 {
						want = values[i]
					}
				}
				if not[i] != wantNot || picked[i] != want {
					t.Fatalf("element %d of %d: %d and %#x, want %d and %#x", i, n, not[i], picked[i], wantNot, want)
				}
			}
		}
	})
}

// TestRandomCode compares codes of many operations with what they mean, with operands that
// are used late and results that are written in the memory of operands.
func TestRandomCode(t *testing.T) {
	forEach(t, func(t *testing.T, isa ISA) {
		made := 0
		for seed := range uint64(400) {
			if randomCode(t, isa, rand.New(rand.NewPCG(seed, uint64(isa)))) {
				made++
			}
		}
		if made < 200 {
			t.Errorf("only %d of 400 codes did with the registers", made)
		}
	})
}

// A twin computes what a Code does, word by word.
type twin struct {
	*rand.Rand
	c      *Code
	values []Value
	words  [][]uint32 // by value: its lanes, one if it is repeated
}

func (w *twin) add(v Value, of []uint32) {
	w.values, w.words = append(w.values, v), append(w.words, of)
}

// operate adds an operation on values that are there.
func (w *twin) operate(n int) {
	o := operations[w.IntN(len(operations))]
	if o.n == 3 && o.name != "pick" {
		return // the NaNs of others are the processor's business
	}
	args, picked := make([]Value, o.n), make([]int, o.n)
	for k := range args {
		picked[k] = w.IntN(len(w.values))
		if w.IntN(2) == 0 {
			picked[k] = len(w.values) - 1 - w.IntN(min(3, len(w.values)))
		}
		args[k] = w.values[picked[k]]
	}
	out, x := make([]uint32, n), make([]uint32, o.n)
	for i := range out {
		for k, p := range picked {
			x[k] = w.words[p][i%len(w.words[p])]
		}
		out[i] = o.mean(x)
	}
	w.add(o.add(w.c, args), out)
}

// randomCode makes, runs and checks a code; false: it needs too many registers.
func randomCode(t *testing.T, isa ISA, r *rand.Rand) bool {
	t.Helper()
	n := r.IntN(71)
	w := &twin{Rand: r, c: New(isa)}
	var streams, inputs [][]uint32
	for range 1 + r.IntN(6) {
		in := words(r, n)
		w.add(w.c.Load(Word), slices.Clone(in))
		streams, inputs = append(streams, in), append(inputs, in)
	}
	for range r.IntN(4) {
		in := words(r, 1)
		w.add(w.c.Spread(), in)
		streams = append(streams, in)
	}
	for range 1 + r.IntN(40) {
		w.operate(n)
	}
	var want, got [][]uint32
	for range 1 + r.IntN(3) {
		k := len(w.values) - 1 - r.IntN(len(w.values))/2
		out := make([]uint32, n)
		if len(inputs) > 0 && r.IntN(2) == 0 {
			out, inputs = inputs[0], inputs[1:]
		}
		w.c.Store(w.values[k], Word)
		streams, got = append(streams, out), append(got, out)
		of := make([]uint32, n)
		for i := range of {
			of[i] = w.words[k][i%len(w.words[k])]
		}
		want = append(want, of)
	}
	code, err := w.c.Assemble()
	if err != nil {
		return false
	}
	var at []unsafe.Pointer
	for _, s := range streams {
		at = append(at, address(s))
	}
	must(Load(isa, code)).Run(at, n)
	for k := range want {
		if !slices.Equal(got[k], want[k]) {
			t.Fatalf("of %d elements, output %d is %#x, want %#x", n, k, got[k], want[k])
		}
	}
	return true
}

// TestMemoryIsGivenBack: programs of equal code share memory, which goes when the last of
// them does, and code that there is no room for is refused.
func TestMemoryIsGivenBack(t *testing.T) {
	forEach(t, func(t *testing.T, isa ISA) {
		code := func(w uint32) []byte {
			c := New(isa)
			c.Store(c.Xor(c.Load(Word), c.Word(w)), Word)
			return must(c.Assemble())
		}
		settle(t, 0)
		p := must(Load(isa, code(1)))
		if q := must(Load(isa, code(1))); p != q {
			t.Error("equal code is there twice")
		}
		var held []*Program
		for w := uint32(2); ; w++ {
			q, err := Load(isa, code(w))
			if err != nil {
				break
			}
			held = append(held, q)
		}
		if len(held) != MaxBytes/4096-1 || !Available() {
			t.Errorf("%d programs of one page have room beside another one, want %d", len(held), MaxBytes/4096-1)
		}
		runtime.KeepAlive(held)
		runtime.KeepAlive(p)
		settle(t, 0)
	})
}

// settle collects garbage until programs have so many bytes.
func settle(t *testing.T, bytes int) {
	t.Helper()
	for range 1000 {
		runtime.GC()
		loaded.Lock()
		have, entries := loaded.bytes, len(loaded.programs)
		loaded.Unlock()
		if have == bytes && entries == bytes/4096 {
			return
		}
		time.Sleep(time.Millisecond)
	}
	t.Fatal("programs that are not in use keep their memory")
}

// TestMemoryIsNeverWritableAndExecutable looks at the mappings of the process.
func TestMemoryIsNeverWritableAndExecutable(t *testing.T) {
	forEach(t, func(t *testing.T, isa ISA) {
		c := New(isa)
		c.Store(c.Abs(c.Load(Word)), Word)
		p := must(Load(isa, must(c.Assemble())))
		maps, err := os.ReadFile("/proc/self/maps")
		if err != nil {
			t.Skipf("the system lists no mappings: %v", err)
		}
		at := uint64(uintptr(unsafe.Pointer(unsafe.SliceData(p.memory))))
		found := false
		for line := range strings.Lines(string(maps)) {
			var from, to uint64
			var rights string
			fmt.Sscanf(line, "%x-%x %s", &from, &to, &rights)
			if strings.Contains(rights, "w") && strings.Contains(rights, "x") {
				t.Errorf("a mapping is writable and executable: %s", line)
			}
			if from <= at && at < to {
				found = strings.HasPrefix(rights, "r-x")
			}
		}
		if !found {
			t.Errorf("the program at %x has no mapping that is readable and executable only", at)
		}
		runtime.KeepAlive(p)
	})
}
