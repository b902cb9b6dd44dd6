package text

import (
	"sync/atomic"
	"unicode"
	"unicode/utf16"

	"github.com/gorge-tf/gorge/internal/memory"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
)

const (
	errorAttrs    = "errors: {'strict', 'replace', 'ignore'} = 'replace'; replacement_char: int = 65533"
	decodeAttrs   = errorAttrs + "; replace_control_characters: bool = false"
	encodingAttr  = "output_encoding: {'UTF-8', 'UTF-16-BE', 'UTF-32-BE'}"
	splitsAttr    = "Tsplits: {int32, int64} = DT_INT64"
	malformedText = "Invalid formatting on input string"
)

func init() {
	forSplits := func(k core.NewKernel) core.KernelSet {
		return core.ByType("Tsplits", map[tf.DType]core.NewKernel{tf.Int32: k, tf.Int64: k})
	}
	core.Register(core.OpDef{
		Name: "UnicodeTranscode", In: "input: string", Out: "output: string", Attrs: "input_encoding: string; " + encodingAttr + "; " + decodeAttrs,
		Shape: core.UnchangedShape, NoGrad: core.NoGradientDefined, Kernels: core.AnyType(unicodeTranscode),
	})
	core.Register(core.OpDef{
		Name: "UnicodeDecode", In: "input: string", Out: "row_splits: Tsplits; char_values: int32", Attrs: "input_encoding: string; " + decodeAttrs + "; " + splitsAttr,
		Shape: unicodeDecodeShape, NoGrad: core.NoGradientDefined, Kernels: forSplits(unicodeDecode),
	})
	core.Register(core.OpDef{
		Name: "UnicodeDecodeWithOffsets", In: "input: string", Out: "row_splits: Tsplits; char_values: int32; char_to_byte_starts: int64",
		Attrs: "input_encoding: string; " + decodeAttrs + "; " + splitsAttr,
		Shape: unicodeDecodeShape, NoGrad: core.NoGradientDefined, Kernels: forSplits(unicodeDecode),
	})
	core.Register(core.OpDef{
		Name: "UnicodeEncode", In: "input_values: int32; input_splits: Tsplits", Out: "output: string",
		Attrs: "errors: {'ignore', 'replace', 'strict'} = 'replace'; " + encodingAttr + "; replacement_char: int = 65533; " + splitsAttr,
		Shape: unicodeEncodeShape, NoGrad: core.NoGradientDefined, Kernels: forSplits(unicodeEncode),
	})
}

// UnicodeOpts are the optional attributes of the operations on Unicode: Errors
// is "strict", "replace" (if it is not given) or "ignore" and says what becomes
// of what is no character, Replacement is what replaces it, U+FFFD if it is 0.
// ReplaceControls treats control characters alike; UnicodeEncode does not look
// at it.
type UnicodeOpts struct {
	Errors          string
	Replacement     rune
	ReplaceControls bool
}

// Apply sets the attributes.
func (o UnicodeOpts) Apply(s *tf.Spec) {
	if o.Errors != "" {
		s.Set("errors", o.Errors)
	}
	if o.Replacement != 0 {
		s.Set("replacement_char", int(o.Replacement))
	}
	if o.ReplaceControls {
		s.Set("replace_control_characters", true)
	}
}

// UnicodeTranscode turns the strings of x from one encoding into another:
// "UTF-8", "UTF-16-BE" or "UTF-32-BE". It reads UTF-8, UTF-16, UTF-32, these
// with -BE and -LE, US-ASCII, ISO-8859-1 to -15, and of those of regions the
// pages of Windows and DOS, KOI8, Shift_JIS, EUC-JP, EUC-KR, GBK, GB18030,
// Big5. The result has the shape of x. An encoding that is not known, a
// replacement outside of Unicode, and with Errors "strict" text that is not
// well-formed are refused with INVALID_ARGUMENT in the step.
// Its options are [UnicodeOpts].
func UnicodeTranscode(x tf.Output, from, to string, opts ...tf.Option) tf.Output {
	return apply("UnicodeTranscode", tf.Join(opts, tf.Attr("input_encoding", from), tf.Attr("output_encoding", to)), x)
}

// UnicodeDecode returns the characters of the strings of x as a ragged matrix:
// those of string i are chars[splits[i]:splits[i+1]]. Encodings are those of
// UnicodeTranscode. Splits, a vector int64 unless the attribute Tsplits says
// int32, has one element more than x, whose strings are taken in row-major
// order; chars is an int32 vector. Errors are those of UnicodeTranscode.
// Its options are [UnicodeOpts].
func UnicodeDecode(x tf.Output, from string, opts ...tf.Option) (splits, chars tf.Output) {
	op := tf.Apply(nil, "UnicodeDecode", []tf.Output{x}, tf.Join(opts, tf.Attr("input_encoding", from))...)
	return op.Output(0), op.Output(1)
}

// UnicodeDecodeWithOffsets is UnicodeDecode and also returns at which byte of
// its string each character begins. Starts is an int64 vector as long as
// chars. Errors are those of UnicodeDecode. Its options are [UnicodeOpts].
func UnicodeDecodeWithOffsets(x tf.Output, from string, opts ...tf.Option) (splits, chars, starts tf.Output) {
	op := tf.Apply(nil, "UnicodeDecodeWithOffsets", []tf.Output{x}, tf.Join(opts, tf.Attr("input_encoding", from))...)
	return op.Output(0), op.Output(1), op.Output(2)
}

// UnicodeEncode undoes UnicodeDecode: it makes a string of each row of
// characters, in the encoding "UTF-8", "UTF-16-BE" or "UTF-32-BE". chars is an
// int32 vector, splits a vector of int32 or int64 with one element more than
// the result. Other shapes are refused with INVALID_ARGUMENT, when the graph
// is built if they are known, else in the step; so are, in the step, splits
// that do not begin with 0, rise and end with the number of chars. What is no
// character is replaced by U+FFFD, dropped, or refused with INVALID_ARGUMENT,
// as [UnicodeOpts] say.
func UnicodeEncode(chars, splits tf.Output, to string, opts ...tf.Option) tf.Output {
	return apply("UnicodeEncode", tf.Join(opts, tf.Attr("output_encoding", to)), chars, splits)
}

func unicodeDecodeShape(c *core.Infer) error {
	rows := -1
	if s := c.In(0); s.Known() {
		rows = s.NumElements() + 1
	}
	c.Set(0, tf.Shape{rows})
	for i := 1; i < c.NumOut(); i++ {
		c.Set(i, tf.Shape{-1})
	}
	return nil
}

func unicodeEncodeShape(c *core.Infer) error {
	if _, err := c.Rank(0, 1); err != nil {
		return err
	}
	s, err := c.Rank(1, 1)
	if err != nil {
		return err
	}
	if s[0] == 0 {
		return invalid("Dimension size, after subtracting 1, must be non-negative: input_splits is empty")
	}
	c.Set(0, tf.Shape{max(s[0]-1, -1)})
	return nil
}

func unicodeTranscode(n *core.Node) (core.Kernel, error) {
	r, err := newReader(n)
	if err != nil {
		return nil, err
	}
	put := encoders[n.Str("output_encoding")]
	return core.Compute(func(c *core.OpContext) error {
		out, err := c.Alloc(0, tf.String, c.Input(0).Shape())
		if err != nil {
			return err
		}
		in, y := core.Data[string](c.Input(0)), core.Data[string](out)
		var wrong atomic.Bool
		c.ParallelFor(len(y), grain/8, func(lo, hi int) {
			if !r.transcode(y[lo:hi], in[lo:hi], put) {
				wrong.Store(true)
			}
		})
		if wrong.Load() {
			return invalid(malformedText)
		}
		return nil
	}), nil
}

func unicodeDecode(n *core.Node) (core.Kernel, error) {
	r, err := newReader(n)
	if err != nil {
		return nil, err
	}
	d := n.Type("Tsplits")
	return core.Compute(func(c *core.OpContext) error {
		in := core.Data[string](c.Input(0))
		room, splits := core.Make[int](len(in)+1), core.Make[int](len(in)+1)
		for i, s := range in {
			room[i+1] = room[i] + len(s)
		}
		chars, starts := core.Make[int32](room[len(in)]), []int64(nil)
		if len(n.OutTypes) > 2 {
			starts = core.Make[int64](room[len(in)])
		}
		if !r.readAll(c, chars, starts, room, splits[1:]) {
			return invalid(malformedText)
		}
		for i := range in {
			splits[i+1] += splits[i]
		}
		if err := allocInts(c, 0, d, splits); err != nil {
			return err
		}
		if err := gathered(c, 1, chars, room, splits); err != nil || starts == nil {
			return err
		}
		return gathered(c, 2, starts, room, splits)
	}), nil
}

// readAll reads text i of input 0 into what begins at room[i], and notes how many characters it
// has. It reports false if one is refused.
func (r reader) readAll(c *core.OpContext, chars []int32, starts []int64, room, counts []int) bool {
	in := core.Data[string](c.Input(0))
	var wrong atomic.Bool
	c.ParallelFor(len(in), grain/8, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			begin := []int64(nil)
			if starts != nil {
				begin = starts[room[i]:room[i+1]]
			}
			n, bad, _ := r.read(chars[room[i]:room[i+1]], begin, in[i])
			if counts[i] = n; bad && r.strict {
				wrong.Store(true)
				return
			}
		}
	})
	return !wrong.Load()
}

// gathered makes output o of rows of v, which begin where room says, one behind the other, as
// splits says.
func gathered[T tf.Elem](c *core.OpContext, o int, v []T, room, splits []int) error {
	out, err := c.Alloc(o, tf.TypeOf[T](), tf.Shape{splits[len(splits)-1]})
	if err != nil {
		return err
	}
	y := core.Data[T](out)
	c.ParallelFor(len(splits)-1, grain, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			copy(y[splits[i]:splits[i+1]], v[room[i]:])
		}
	})
	return nil
}

func unicodeEncode(n *core.Node) (core.Kernel, error) {
	p, err := newPolicy(n)
	if err != nil {
		return nil, err
	}
	put := encoders[n.Str("output_encoding")]
	return core.Compute(func(c *core.OpContext) error {
		at, err := encodedRows(c.Input(0), c.Input(1))
		if err != nil {
			return err
		}
		out, err := c.Alloc(0, tf.String, tf.Shape{len(at) - 1})
		if err != nil {
			return err
		}
		chars, y := core.Data[int32](c.Input(0)), core.Data[string](out)
		var wrong atomic.Bool
		c.ParallelFor(len(y), grain/4, func(lo, hi int) {
			if !p.encodeRows(y[lo:hi], chars, at[lo:hi+1], put) {
				wrong.Store(true)
			}
		})
		if wrong.Load() {
			return invalid("Code point is out of range for Unicode, or is a surrogate.")
		}
		return nil
	}), nil
}

// encodedRows checks where the rows of characters begin.
func encodedRows(chars, splits *core.Tensor) ([]int, error) {
	if chars.Rank() != 1 || splits.Rank() != 1 {
		return nil, invalid("Both the input_tensor and input_splits should be of rank 1. ")
	}
	at, err := splits.Ints()
	switch {
	case err != nil:
		return nil, err
	case len(at) == 0:
		return nil, invalid("Input_splits should contain elements, but given input_values has 0 elements")
	case at[0] != 0:
		return nil, invalid("First value in input_splits must be zero.")
	case at[len(at)-1] != chars.Len():
		return nil, invalid("Last value in input_splits must be equal to length of input_tensor.")
	}
	for i := 1; i < len(at); i++ {
		if at[i] < at[i-1] {
			return nil, invalid("Values in input_splits must be equal or in ascending order.")
		}
		if at[i] > chars.Len() {
			return nil, invalid("Values in input_splits must be less than or equal to input_tensor length.")
		}
	}
	return at, nil
}

// encodeRows writes rows of characters, whose ends at has. It reports false if one is refused.
func (p policy) encodeRows(y []string, chars []int32, at []int, put encoder) (ok bool) {
	var texts memory.Texts
	var b []byte
	for i := range y {
		row := chars[at[i]:at[i+1]]
		core.Room(len(row))
		if b, ok = p.encode(b[:0], row, put); !ok {
			return false
		}
		y[i] = texts.Of(b)
	}
	return true
}

// encode appends the characters of a row to b. It reports false if one is refused.
func (p policy) encode(b []byte, chars []int32, put encoder) ([]byte, bool) {
	for _, c := range chars {
		if c < 0 || c > unicode.MaxRune || utf16.IsSurrogate(c) {
			if p.strict {
				return b, false
			}
			if p.ignore {
				continue
			}
			c = p.replacement
		}
		b = put(b, c)
	}
	return b, true
}
