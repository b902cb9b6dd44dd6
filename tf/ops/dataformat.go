package ops

import (
	"slices"
	"strings"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
)

func init() {
	const attrs = "T: {int32, int64} = int32; src_format: string = 'NHWC'; dst_format: string = 'NCHW'"
	core.Register(core.OpDef{
		Name: "DataFormatDimMap", In: "x: T", Out: "y: T", Attrs: attrs,
		Shape: core.UnchangedShape, NoGrad: core.NoGradientDefined, Kernels: core.ByType("T", sameFor(dimMap, tf.Int32, tf.Int64)),
	})
	core.Register(core.OpDef{
		Name: "DataFormatVecPermute", In: "x: T", Out: "y: T", Attrs: attrs,
		Shape: core.UnchangedShape, NoGrad: core.NoGradientDefined, Kernels: core.ByType("T", sameFor(vecPermute, tf.Int32, tf.Int64)),
	})
}

// DataFormatOpts are the optional attributes of DataFormatDimMap and
// DataFormatVecPermute: NHWC and NCHW if empty.
type DataFormatOpts struct{ Src, Dst string }

// Apply sets the attributes.
func (o DataFormatOpts) Apply(s *tf.Spec) {
	if o.Src != "" {
		s.Set("src_format", o.Src)
	}
	if o.Dst != "" {
		s.Set("dst_format", o.Dst)
	}
}

// DataFormatDimMap returns which dimensions of the destination format those
// in x, of the source format, are. Its options are [DataFormatOpts]. x is
// int32 or int64, of any shape, which the result has too; negative dimensions
// count from the end. A format that does not have 4 or 5 letters, and formats
// of different letters, are refused with INVALID_ARGUMENT, as is, in the
// step, a dimension that the source format does not have.
func DataFormatDimMap(x tf.Output, opts ...tf.Option) tf.Output {
	return apply("DataFormatDimMap", opts, x)
}

// DataFormatVecPermute returns the rows of x, one for each dimension of the
// source format or each spatial one, in the order of the destination format.
// Its options are [DataFormatOpts]. x is int32 or int64: for n letters in a
// format a vector of n or n-2 elements, or a matrix of as many rows and 2
// columns; the result has its shape. With n-2 rows, formats have the letters
// H and W, for 5 letters D too. Other shapes are refused with
// INVALID_ARGUMENT in the step, as are formats that do not have 4 or 5
// letters or differ in their letters.
func DataFormatVecPermute(x tf.Output, opts ...tf.Option) tf.Output {
	return apply("DataFormatVecPermute", opts, x)
}

// formats returns the source and destination formats of n.
func formats(n *core.Node) (src, dst string, err error) {
	src, dst = n.Str("src_format"), n.Str("dst_format")
	if len(src) != 4 && len(src) != 5 {
		return "", "", tf.Errorf(tf.InvalidArgument, "Source format must be of length 4 or 5, received src_format = %s", src)
	}
	if len(dst) != 4 && len(dst) != 5 {
		return "", "", tf.Errorf(tf.InvalidArgument, "Destination format must be of length 4 or 5, received dst_format = %s", dst)
	}
	if sorted(src) != sorted(dst) {
		return "", "", tf.Errorf(tf.InvalidArgument, "Destination and source format must determine a permutation, got %s and %s", src, dst)
	}
	return src, dst, nil
}

func sorted(s string) string {
	b := []byte(s)
	slices.Sort(b)
	return string(b)
}

func dimMap(n *core.Node) (core.Kernel, error) {
	src, dst, err := formats(n)
	to := core.Make[int](len(src))
	for i := range to {
		to[i] = strings.IndexByte(dst, src[i])
	}
	return core.Compute(func(c *core.OpContext) error {
		x := c.Input(0)
		v, err := x.Ints()
		if err != nil {
			return err
		}
		for i, d := range v {
			at, ok := wrapAxis(d, len(to))
			if !ok {
				return tf.Errorf(tf.InvalidArgument, "a dimension must be in [-%d, %d), got %d", len(to), len(to), d)
			}
			v[i] = to[at]
		}
		out, err := c.Alloc(0, x.DType(), x.Shape())
		if err == nil {
			putInts(out, v)
		}
		return err
	}), err
}

func vecPermute(n *core.Node) (core.Kernel, error) {
	src, dst, err := formats(n)
	return core.Compute(func(c *core.OpContext) error {
		x := c.Input(0)
		if err := checkPermuted(x.Shape(), len(src)); err != nil {
			return err
		}
		from, to := src, dst
		if x.Dim(0) == len(src)-2 {
			if err := checkSpatial(src); err != nil {
				return err
			}
			from, to = spatial(src), spatial(dst)
		}
		out, err := c.Alloc(0, x.DType(), x.Shape())
		if err != nil {
			return err
		}
		width, take := x.Len()/x.Dim(0), move(out, x)
		for i := range from {
			take(strings.IndexByte(to, from[i])*width, i*width, width)
		}
		return nil
	}), err
}

// checkSpatial checks that a format names the dimensions of positions.
func checkSpatial(format string) error {
	need, words := "HW", "H and W for 2D"
	if len(format) == 5 {
		need, words = "HWD", "D, H and W for 3D"
	}
	for _, d := range need {
		if !strings.ContainsRune(format, d) {
			return tf.Errorf(tf.InvalidArgument, "Format specifier must contain %s case", words)
		}
	}
	return nil
}

// spatial returns the dimensions of positions in a format, which has them all.
func spatial(format string) string {
	return strings.Map(func(r rune) rune {
		if r == 'H' || r == 'W' || r == 'D' && len(format) == 5 {
			return r
		}
		return -1
	}, format)
}

// checkPermuted checks the shape of something that has a row for each of n
// dimensions, or n-2 spatial ones.
func checkPermuted(s tf.Shape, n int) error {
	switch {
	case len(s) != 1 && len(s) != 2:
		return tf.Errorf(tf.InvalidArgument, "input must be a vector or 2D tensor, but got shape %s", s.String())
	case s[0] != n && s[0] != n-2:
		if len(s) == 1 {
			return tf.Errorf(tf.InvalidArgument, "1D input must be of size %d or %d, but got shape %s", n-2, n, s.String())
		}
		return tf.Errorf(tf.InvalidArgument, "First dimension of 2D input must be of size %d or %d, but got shape %s", n-2, n, s.String())
	case len(s) == 2 && s[1] != 2:
		return tf.Errorf(tf.InvalidArgument, "Second dimension of 2D input must be of size 2, but got shape %s", s.String())
	}
	return nil
}
