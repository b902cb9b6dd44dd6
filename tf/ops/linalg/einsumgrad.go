package linalg

import (
	"slices"
	"strings"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/ops"
)

// einsumGrad: the gradient of an operand is an Einsum of that of the result
// and the other operand. What the operand was summed over, or broadcast along,
// is put right before and after.
func einsumGrad(op *tf.Operation, dy []tf.Output) []tf.Gradient {
	in, out, _ := strings.Cut(op.Str("equation"), "->")
	terms := strings.Split(in, ",")
	if len(terms) == 1 {
		return tf.Grads(einsumBack(dy[0], out, op.Input(0), in))
	}
	x, y := op.Input(0), op.Input(1)
	if strings.Contains(out, dots) {
		for i, t := range terms {
			if !strings.Contains(t, dots) {
				terms[i] = t + dots
			}
		}
	}
	dx := einsumGradOf(dy[0], out, x, terms[0], conjugates(y), terms[1])
	dz := einsumGradOf(dy[0], out, y, terms[1], conjugates(x), terms[0])
	if !strings.Contains(out, dots) {
		return tf.Grads(dx, dz)
	}
	sx, sy := ops.Shape(x), ops.Shape(y)
	bx, atX := unnamedSizes(sx, terms[0])
	by, atY := unnamedSizes(sy, terms[1])
	rx, ry := ops.BroadcastGradientArgs(bx, by)
	shift := func(r tf.Output, at int) tf.Output { return ops.AddV2(r, number(r, at)) }
	return tf.Grads(ops.Reshape(ops.Sum(dx, shift(rx, atX)), sx), ops.Reshape(ops.Sum(dz, shift(ry, atY)), sy))
}

const dots = "..."

// unnamedSizes returns the sizes that the ellipsis of a term stands for and the
// number of dimensions before them.
func unnamedSizes(shape tf.Output, term string) (tf.Output, int) {
	at := strings.Index(term, dots)
	after := len(term) - at - len(dots)
	end, o := -after, ops.StridedSliceOpts{}
	if after == 0 {
		o.EndMask = 1
	}
	return ops.StridedSlice(shape, vector(shape, at), vector(shape, end), vector(shape, 1), o), at
}

// einsumGradOf returns the gradient for x, with dimensions by the name of term.
func einsumGradOf(dy tf.Output, out string, x tf.Output, term string, other tf.Output, otherTerm string) tf.Output {
	left := strings.Map(func(r rune) rune {
		if r != '.' && !strings.ContainsRune(out+otherTerm, r) {
			return -1
		}
		return r
	}, term)
	dx := Einsum(out+","+otherTerm+"->"+left, []tf.Output{dy, other})
	if left == term {
		return dx
	}
	return einsumBack(dx, left, x, term)
}

// einsumBack returns the gradient for the only operand x, which has been
// summed over the dimensions that out lacks: dy repeated along those.
func einsumBack(dy tf.Output, out string, x tf.Output, term string) tf.Output {
	var lacking []rune
	for _, r := range term {
		if r != '.' && !strings.ContainsRune(out, r) && !slices.Contains(lacking, r) {
			lacking = append(lacking, r)
		}
	}
	if len(lacking) == 0 {
		return Einsum(out+"->"+term, []tf.Output{dy})
	}
	shape, sizes := ops.Shape(x), []tf.Output{}
	ones := core.Make[int](len(lacking))
	for i, r := range lacking {
		at := axisOf(term, r)
		sizes = append(sizes, ops.Reshape(ops.GatherV2(shape, ops.FloorMod(number(x, at), ops.Size(shape)), number(x, 0)), vector(x, 1)))
		ones[i] = 1
	}
	whole := ops.Shape(dy)
	dy = ops.Reshape(dy, concat(vector(x, ones...), whole))
	dy = ops.BroadcastTo(dy, concat(append(sizes, whole)...))
	return Einsum(string(lacking)+out+"->"+term, []tf.Output{dy})
}

// axisOf returns the first dimension of a term that r names, counted from the
// end if it is behind an ellipsis.
func axisOf(term string, r rune) int {
	before, after, _ := strings.Cut(term, dots)
	if i := strings.IndexRune(before, r); i >= 0 {
		return i
	}
	return strings.IndexRune(after, r) - len(after)
}
