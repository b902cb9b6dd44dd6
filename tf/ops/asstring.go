package ops

import (
	"math"
	"strconv"
	"strings"

	"github.com/gorge-tf/gorge/internal/memory"
	"github.com/gorge-tf/gorge/internal/numeric"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
)

func init() {
	core.Register(core.OpDef{
		Name: "AsString", In: "input: T", Out: "output: string",
		Attrs: "T: {float, double, int32, uint8, int16, int8, int64, bfloat16, uint16, half, uint32, uint64, complex64, complex128, bool, variant, string}; " +
			"precision: int = -1; scientific: bool = false; shortest: bool = false; width: int = -1; fill: string = ''",
		Shape: core.UnchangedShape, NoGrad: core.NotDifferentiable, Kernels: core.AnyType(asString),
	})
}

// AsStringOpts are the optional attributes of AsString. Precision is the number
// of digits of floating-point numbers behind the point; 0 stands for 6 unless
// HasPrecision is set, which is needed for no digits alone. Scientific
// writes them with an exponent, Shortest with as few digits as they need. Width
// is the least length, filled with blanks, or zeros if Fill is "0"; a Fill of
// "-" aligns to the left, "+" and " " go before numbers that are not negative,
// and "#" keeps the point and the zeros at the end of floating-point numbers.
type AsStringOpts struct {
	Precision            int
	HasPrecision         bool
	Scientific, Shortest bool
	Width                int
	Fill                 string
}

// Apply sets the attributes.
func (o AsStringOpts) Apply(s *tf.Spec) {
	if o.Precision != 0 || o.HasPrecision {
		s.Set("precision", o.Precision)
	}
	if o.Width != 0 {
		s.Set("width", o.Width)
	}
	s.Set("scientific", o.Scientific)
	s.Set("shortest", o.Shortest)
	s.Set("fill", o.Fill)
}

// AsString writes the elements of x as C's printf does. x is of numbers, real
// or complex, bools, strings or variants; the result has its shape. A complex
// number becomes "(re,im)", NaN "nan" and an infinity "inf" or "-inf". In the
// step, INVALID_ARGUMENT refuses a precision, Scientific or Shortest for
// integers and bools, Scientific together with Shortest, a Fill that is none of
// " +-0#", and a width or precision above 65,536.
// Its options are [AsStringOpts].
func AsString(x tf.Output, opts ...tf.Option) tf.Output { return apply("AsString", opts, x) }

// A numberFormat is one conversion of C's printf.
type numberFormat struct {
	verb             byte // 'f', 'e' or 'g'
	width, precision int
	fill             byte // 0: none
}

func asString(n *core.Node) (core.Kernel, error) {
	f, err := asStringFormat(n)
	if err != nil {
		return core.Compute(func(*core.OpContext) error { return err }), nil
	}
	return core.Compute(func(c *core.OpContext) error {
		x := c.Input(0)
		text, quick := f.of(x), f.quick(x)
		if text == nil {
			return tf.Errorf(tf.Unimplemented, "AsString cannot write elements of type %s", x.DType().CName())
		}
		out, err := c.Alloc(0, tf.String, x.Shape())
		if err != nil {
			return err
		}
		y := core.Data[string](out)
		const grain = 1 << 10
		c.ParallelFor(len(y), grain, func(lo, hi int) {
			var texts memory.Texts
			var b []byte
			for i := lo; i < hi; i++ {
				if quick == nil {
					y[i] = text(i)
				} else {
					b = quick(b[:0], i)
					y[i] = texts.Of(b)
				}
			}
		})
		return nil
	}), nil
}

// asStringFormat reads the attributes and checks that they fit together.
func asStringFormat(n *core.Node) (*numberFormat, error) {
	d, fill := n.Type("T"), n.Str("fill")
	scientific, shortest := n.Bool("scientific"), n.Bool("shortest")
	f := &numberFormat{verb: 'f', width: n.Int("width"), precision: n.Int("precision")}
	const most = 1 << 16 // of width and precision: more makes no text but uses up memory
	switch plain := !d.IsFloat() && !d.IsComplex() && d != tf.String && d != tf.Variant; {
	case plain && (scientific || shortest):
		return nil, tf.Errorf(tf.InvalidArgument, "scientific and shortest format not supported for datatype %s", d.CName())
	case plain && f.precision >= 0:
		return nil, tf.Errorf(tf.InvalidArgument, "precision not supported for datatype %s", d.CName())
	case len(fill) > 1:
		return nil, tf.Errorf(tf.InvalidArgument, "Fill string must be one or fewer characters")
	case scientific && shortest:
		return nil, tf.Errorf(tf.InvalidArgument, "Cannot select both scientific and shortest notation")
	case len(fill) == 1 && !strings.Contains(" +-0#", fill):
		return nil, tf.Errorf(tf.InvalidArgument, "Fill argument not supported: \"%s\"", fill)
	case f.width > most || f.precision > most:
		return nil, tf.Errorf(tf.InvalidArgument, "width and precision must be at most %d, got %d and %d", most, f.width, f.precision)
	case scientific:
		f.verb = 'e'
	case shortest:
		f.verb = 'g'
	}
	if fill != "" {
		f.fill = fill[0]
	}
	return f, nil
}

// of returns how the elements of x are written, nil if they cannot be.
func (f *numberFormat) of(x *core.Tensor) func(i int) string {
	switch x.DType() {
	case tf.Float32, tf.Float64, tf.Float16, tf.BFloat16:
		return func(i int) string { return f.float(floatAt(x, i)) }
	case tf.Complex64, tf.Complex128:
		return func(i int) string { return f.complex(complexAt(x, i)) }
	case tf.Bool:
		v := core.Data[bool](x)
		return func(i int) string { return strconv.FormatBool(v[i]) }
	case tf.String:
		v := core.Data[string](x)
		return func(i int) string { return f.pad("", v[i], false) }
	case tf.Variant:
		v := x.Variants()
		return func(i int) string { return f.pad("", variantText(v[i].Value), false) }
	}
	return func(i int) string { return f.integer(integerText(x, i), x.DType()) }
}

// quick is of for numbers without width and filling, nil for other elements.
func (f *numberFormat) quick(x *core.Tensor) func(b []byte, i int) []byte {
	const longest = 64 // digits, which need no look at the memory that is left
	if f.width > 0 || f.fill != 0 || f.verb == 'g' || f.precision > longest {
		return nil
	}
	switch x.DType() {
	case tf.Float32:
		v := core.Data[float32](x)
		return func(b []byte, i int) []byte { return f.appendFloat(b, float64(v[i])) }
	case tf.Float64:
		v := core.Data[float64](x)
		return func(b []byte, i int) []byte { return f.appendFloat(b, v[i]) }
	case tf.Int32:
		v := core.Data[int32](x)
		return func(b []byte, i int) []byte { return strconv.AppendInt(b, int64(v[i]), 10) }
	case tf.Int64:
		v := core.Data[int64](x)
		return func(b []byte, i int) []byte { return strconv.AppendInt(b, v[i], 10) }
	}
	return nil
}

func (f *numberFormat) appendFloat(b []byte, v float64) []byte {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return append(b, f.float(v)...)
	}
	digits := f.precision
	if digits < 0 {
		digits = 6
	}
	return f.appendDigits(b, v, digits)
}

func (f *numberFormat) appendDigits(b []byte, v float64, digits int) []byte {
	if f.verb == 'f' {
		return numeric.AppendFixed(b, v, digits)
	}
	return strconv.AppendFloat(b, v, f.verb, digits, 64)
}

func floatAt(x *core.Tensor, i int) float64 {
	switch v := x.At(i).(type) {
	case float32:
		return float64(v)
	case float64:
		return v
	case tf.Half:
		return float64(v.Float32())
	case tf.BF16:
		return float64(v.Float32())
	}
	return 0
}

func complexAt(x *core.Tensor, i int) complex128 {
	if x.DType() == tf.Complex64 {
		return complex128(core.Data[complex64](x)[i])
	}
	return core.Data[complex128](x)[i]
}

func (f *numberFormat) complex(v complex128) string {
	return "(" + f.float(real(v)) + "," + f.float(imag(v)) + ")"
}

func (f *numberFormat) integer(digits string, d tf.DType) string {
	sign := ""
	if rest, negative := strings.CutPrefix(digits, "-"); negative {
		sign, digits = "-", rest
	} else if d != tf.Uint8 && d != tf.Uint16 && d != tf.Uint32 && d != tf.Uint64 {
		sign = f.plus()
	}
	return f.pad(sign, digits, true)
}

// plus returns what stands in front of numbers that are not negative.
func (f *numberFormat) plus() string {
	if f.fill == '+' || f.fill == ' ' {
		return string(rune(f.fill))
	}
	return ""
}

func (f *numberFormat) float(v float64) string {
	sign := f.plus()
	if math.Signbit(v) {
		sign = "-"
	}
	if math.IsNaN(v) {
		return f.pad(sign, "nan", false)
	}
	if v = math.Abs(v); math.IsInf(v, 1) {
		return f.pad(sign, "inf", false)
	}
	digits := f.precision
	if digits < 0 {
		digits = 6
	}
	core.Room(max(digits, 0))
	if f.verb != 'g' {
		return f.pad(sign, f.pointed(string(f.appendDigits(nil, v, digits))), true)
	}
	number, exponent := generalParts(v, max(digits, 1))
	if f.fill != '#' {
		number = trimZeros(number)
	}
	return f.pad(sign, f.pointed(number+exponent), true)
}

// pointed gives a number a point, even if nothing is behind it, where the fill asks for that.
func (f *numberFormat) pointed(number string) string {
	if f.fill != '#' || strings.Contains(number, ".") {
		return number
	}
	whole, exponent := number, ""
	if i := strings.IndexByte(number, 'e'); i >= 0 {
		whole, exponent = number[:i], number[i:]
	}
	return whole + "." + exponent
}

// pad fills text up to the width.
func (f *numberFormat) pad(sign, text string, zeros bool) string {
	n := max(f.width-len(sign)-len(text), 0)
	switch {
	case f.fill == '-':
		return sign + text + core.Repeat(" ", n)
	case f.fill == '0' && zeros:
		return sign + core.Repeat("0", n) + text
	}
	return core.Repeat(" ", n) + sign + text
}
