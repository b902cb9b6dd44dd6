package sparse

import (
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
)

func csrTransposeShape(c *core.Infer) error {
	d, s := c.Handle(0)
	setCSRShape(c, d, flipped(s, true))
	return nil
}

// flipped returns s with its last two dimensions exchanged, if that is asked
// for.
func flipped(s tf.Shape, swap bool) tf.Shape {
	s = s.Clone()
	if n := len(s); swap && n >= 2 {
		s[n-2], s[n-1] = s[n-1], s[n-2]
	}
	return s
}

// A csrForm says how a product's operands are read.
type csrForm struct{ transposeA, transposeB, conjugateA, conjugateB bool }

func csrFormOf(n *core.Node) (f csrForm, err error) {
	for _, o := range []struct {
		name       string
		flip, conj *bool
	}{{"a", &f.transposeA, &f.conjugateA}, {"b", &f.transposeB, &f.conjugateB}} {
		transpose, adjoint := n.Bool("transpose_"+o.name), n.Bool("adjoint_"+o.name)
		if transpose && adjoint {
			return f, invalid("Only one of adjoint_%s and transpose_%s may be true.", o.name, o.name)
		}
		*o.flip, *o.conj = transpose || adjoint, adjoint
	}
	return f, nil
}

// csrProductShape returns the shape of a product as far as a and b tell; nil if
// one is not known.
func csrProductShape(a, b tf.Shape, f csrForm) (tf.Shape, error) {
	if a == nil || b == nil {
		return nil, nil
	}
	a, b = flipped(a, f.transposeA), flipped(b, f.transposeB)
	for _, s := range []tf.Shape{a, b} {
		if len(s) != 2 && len(s) != 3 {
			return nil, invalid("Shape must be of rank 2 or 3 but is rank %d", len(s))
		}
	}
	if _, err := mergeDim(a[len(a)-1], b[len(b)-2]); err != nil {
		return nil, err
	}
	out := tf.Shape{a[len(a)-2], b[len(b)-1]}
	if len(a) == 3 || len(b) == 3 {
		out = append(tf.Shape{-1}, out...)
	}
	return out, nil
}

func csrMatMulShape(c *core.Infer) error {
	f, err := csrFormOf(c.Node)
	if err != nil {
		return err
	}
	_, a := c.Handle(0)
	b := c.In(1)
	out, err := csrProductShape(a, b, f)
	if err != nil {
		return err
	}
	if len(out) == 3 && len(b) == 3 && len(a) == 3 {
		if out[0], err = mergeDim(a[0], b[0]); err != nil {
			return err
		}
	}
	c.Set(0, flipped(out, c.Bool("transpose_output")))
	if out == nil {
		c.Set(0, nil)
	}
	return nil
}

func csrSparseMatMulShape(c *core.Infer) error {
	f, err := csrFormOf(c.Node)
	if err != nil {
		return err
	}
	_, a := c.Handle(0)
	_, b := c.Handle(1)
	out, err := csrProductShape(a, b, f)
	setCSRShape(c, c.Type("type"), out)
	return err
}

func csrTransposeGrad(op *tf.Operation, dy []tf.Output) []tf.Gradient {
	return tf.Grads(SparseMatrixTranspose(dy[0], op.Type("type"), SparseMatrixTransposeOpts{op.Bool("conjugate")}))
}
