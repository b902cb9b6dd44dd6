package stablehlo

import (
	"bytes"
	"encoding/binary"
	"slices"
)

// A build makes an artifact of one function by hand: of any version of the bytecode,
// and with whatever errors a test wants.
type build struct {
	version     uint64
	strings     []string
	attrs       []made
	types       []made
	values, ops uint64
	body        []byte // arguments and operations of the function
	dict        uint64 // the function's attributes
	kind        uint64 // the one of them that is its type
	copies      int    // of the function, besides the first
	padding     int    // before the module's region, if that is aligned to 16 bytes
}

// made is an entry of a table.
type made struct {
	dialect uint64 // 0 is builtin, 1 is vhlo
	data    []byte
}

// The names of operations that builds may use.
var names = []string{"module", "func_v1", "abs_v1", "add_v1", "if_v1", "return_v1", "gather_v1", "while_v1", "tuple_v1",
	"constant_v1", "tanh_v1", "dynamic_conv_v1", "call_v1"}

const (
	opFunc = iota + 1
	opAbs
	opAdd
	opIf
	opReturn
	opGather
	opWhile
	opTuple
	opConstant
	opTanh
	opDynamicConv
	opCall
)

// nums encodes integers, small ones in a byte, others in nine.
func nums(ns ...uint64) (out []byte) {
	for _, n := range ns {
		if n < 128 {
			out = append(out, byte(n<<1|1))
		} else {
			out = binary.LittleEndian.AppendUint64(append(out, 0), n)
		}
	}
	return out
}

// newBuild has a function that returns its argument of type tensor<f32>.
func newBuild(version uint64) *build {
	b := &build{version: version, strings: append([]string{"builtin", "vhlo"}, names...)}
	b.attr(0, 15) // the location of everything
	f32 := b.typ(1, 4)
	tensor := b.typ(1, 20, 0, f32)
	function := b.typ(1, 8, 1, tensor, 1, tensor)
	b.kind = b.attr(1, 17, function)
	b.dict = b.set(
		"sym_name", b.attr(1, 14, b.text("main")),
		"function_type", b.kind,
		"sym_visibility", b.attr(1, 14, b.text("public")),
		"arg_attrs", b.attr(1, 1, 0),
		"res_attrs", b.attr(1, 1, 0))
	return b.code(1, 0)
}

// code starts a body with as many arguments of type tensor<f32> as args.
func (b *build) code(args, results uint64, ops ...[]byte) *build {
	b.body = b.arguments(args)
	b.values, b.ops = args+results, uint64(len(ops)+1)
	b.body = append(b.body, slices.Concat(ops...)...)
	if len(ops) == 0 {
		b.body = append(b.body, op(opReturn, hasOperands, nums(1, 0))...)
	}
	b.ops = max(uint64(len(ops)), 1)
	return b
}

func (b *build) arguments(n uint64) []byte {
	out := nums(n)
	for range n {
		if b.version >= elidedLocations {
			out = append(out, nums(1<<1)...)
		} else {
			out = append(out, nums(1, 0)...)
		}
	}
	if b.version >= useListOrders {
		out = append(out, 0)
	}
	return out
}

// op encodes an operation.
func op(name uint64, mask byte, rest []byte) []byte {
	return append(append(append(nums(name), mask), nums(0)...), rest...)
}

// region encodes a region without arguments.
func region(values uint64, ops ...[]byte) []byte {
	return append(nums(1, values, uint64(len(ops))<<1), slices.Concat(ops...)...)
}

func (b *build) text(s string) uint64 {
	b.strings = append(b.strings, s)
	return uint64(len(b.strings) - 1)
}

func (b *build) attr(dialect uint64, ns ...uint64) uint64 {
	b.attrs = append(b.attrs, made{dialect, nums(ns...)})
	return uint64(len(b.attrs) - 1)
}

func (b *build) typ(dialect uint64, ns ...uint64) uint64 {
	b.types = append(b.types, made{dialect, nums(ns...)})
	return uint64(len(b.types) - 1)
}

// set adds a dictionary of names and attributes.
func (b *build) set(pairs ...any) uint64 {
	out := []uint64{1, uint64(len(pairs) / 2)}
	for i := 0; i < len(pairs); i += 2 {
		out = append(out, b.attr(0, 2, b.text(pairs[i].(string))), pairs[i+1].(uint64))
	}
	return b.attr(0, out...)
}

// artifact returns the bytes.
func (b *build) artifact() []byte {
	out := append([]byte("ML\xEFR"), nums(b.version)...)
	out = append(out, "handmade\x00"...)
	for id, data := range [][]byte{b.stringTable(), b.dialects(), nil, b.offsets(), b.module()} {
		if id == attrTypeSection {
			for _, e := range slices.Concat(b.attrs, b.types) {
				data = append(data, e.data...)
			}
		}
		out = append(out, part(byte(id), data)...)
	}
	if b.version >= properties {
		out = append(out, part(propertySection, nums(0))...)
	}
	return out
}

func part(id byte, data []byte) []byte {
	return slices.Concat([]byte{id}, nums(uint64(len(data))), data)
}

func (b *build) stringTable() []byte {
	out := nums(uint64(len(b.strings)))
	for _, s := range slices.Backward(b.strings) {
		out = append(out, nums(uint64(len(s)+1))...)
	}
	for _, s := range b.strings {
		out = append(append(out, s...), 0)
	}
	return out
}

func (b *build) dialects() []byte {
	shift := func(since uint64) uint64 {
		if b.version >= since {
			return 1
		}
		return 0
	}
	out := nums(2, 0, 1<<shift(dialectVersions))
	if b.version >= elidedLocations {
		out = append(out, nums(uint64(len(names)))...)
	}
	for i := range names {
		out = append(out, nums(min(uint64(i), 1), 1, uint64(i+2)<<shift(properties))...)
	}
	return out
}

func (b *build) offsets() []byte {
	out := nums(uint64(len(b.attrs)), uint64(len(b.types)))
	for _, e := range slices.Concat(b.attrs, b.types) {
		out = append(out, nums(e.dialect, 1, uint64(len(e.data))<<1|1)...)
	}
	return out
}

func (b *build) module() []byte {
	body := append(nums(1, b.values, b.ops<<1|1), b.body...)
	function := op(opFunc, hasAttrs|hasRegions, append(nums(b.dict, 1<<1), body...))
	inner := append(nums(1, 0, uint64(1+b.copies)<<1), bytes.Repeat(function, 1+b.copies)...)
	switch {
	case b.padding > 0:
		head := slices.Concat([]byte{irSection | 0x80}, nums(uint64(len(inner)), 16))
		inner = slices.Concat(head, bytes.Repeat([]byte{0xCB}, b.padding), inner)
	case b.version >= isolatedSections:
		inner = part(irSection, inner)
	}
	return append(nums(1<<1), op(0, hasRegions, append(nums(1<<1|1), inner...))...)
}
