package tf

import "github.com/gorge-tf/gorge/tf/core"

// constValue returns the value of x if it is known while the graph is built:
// that of a Const, seen through Identity, or of an eager Output.
func constValue(x Output) *core.Tensor {
	if x.op.vals != nil {
		return x.op.vals[x.k]
	}
	switch {
	case x.op.Role() == core.Constant:
		return x.op.TensorAttr("value")
	case x.op.Def.Has(core.Passthrough):
		return constValue(x.op.in[0])
	case x.op.is("Shape"):
		return shapeValue(x)
	}
	return nil
}

// shapeValue returns the value of a Shape operation on a fully known shape.
func shapeValue(x Output) *core.Tensor {
	s := x.op.in[0].Shape()
	if !s.Known() {
		return nil
	}
	if x.op.Type("out_type") == Int64 {
		return core.Wrap(convertInts[int64](s), Shape{len(s)})
	}
	return core.Wrap(convertInts[int32](s), Shape{len(s)})
}

func convertInts[T int32 | int64](s []int) []T {
	out := make([]T, len(s))
	for i, d := range s {
		out[i] = T(d)
	}
	return out
}

// partialValue returns x, a vector of sizes, as a partly known shape.
func partialValue(x Output) (Shape, bool) {
	visits := 1000 // a vector may be joined of another one many times, and that again
	return sizesOf(x, 0, &visits)
}

// sizesOf is partialValue for what is so deep below the vector that was asked for.
func sizesOf(x Output, depth int, visits *int) (Shape, bool) {
	const deepest = 20
	if *visits--; depth > deepest || *visits < 0 {
		return nil, false
	}
	if t := constValue(x); t != nil {
		v, err := t.Ints()
		return append(Shape{}, v...), err == nil && t.Rank() == 1
	}
	switch x.op.OpName() {
	case "Shape":
		s := x.op.in[0].Shape()
		return s, s != nil
	case "Pack":
		return packedValue(x)
	case "ConcatV2":
		return concatValue(x, depth, visits)
	}
	return nil, false
}

func packedValue(x Output) (Shape, bool) {
	out := Shape{}
	for _, in := range x.op.in {
		d := -1
		if t := constValue(in); t != nil && t.Rank() == 0 {
			if v, err := t.Ints(); err == nil {
				d = v[0]
			}
		}
		out = append(out, d)
	}
	return out, true
}

// largestRank is that of TensorFlow's shapes: a longer vector is no shape.
const largestRank = 254

func concatValue(x Output, depth int, visits *int) (Shape, bool) {
	out := Shape{}
	for _, in := range x.op.in[:len(x.op.in)-1] {
		s, ok := sizesOf(in, depth+1, visits)
		if !ok || len(out)+len(s) > largestRank {
			return nil, false
		}
		out = append(out, s...)
	}
	return out, true
}
