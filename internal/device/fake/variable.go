package fake

import (
	"slices"

	"github.com/gorge-tf/gorge/tf/core"
)

// cell is what variables are, of both kinds: a place for a tensor.
type cell interface {
	Swap(f func(old *core.Tensor) (*core.Tensor, error)) error
}

// touchesVariables reports whether a kernel of n may read or write variables.
func touchesVariables(n *core.Node) bool {
	return slices.ContainsFunc(n.InTypes, func(d core.DType) bool { return d.IsRef() || d == core.Resource })
}

// standIn returns the variable that a private kernel sees in place of r.
func (v *visit) standIn(r *core.Ref) (*core.Ref, error) {
	if p := v.refs[r]; p != nil {
		return p, nil
	}
	if v.refs == nil {
		v.refs = map[*core.Ref]*core.Ref{}
	}
	p := &core.Ref{}
	if t := r.Load(); t != nil {
		defer t.Release()
		private, err := open(t)
		if err != nil {
			return nil, err
		}
		p.Store(private)
	}
	v.refs[r] = p
	return p, nil
}

// storeRefs puts what a kernel has left in the stand-ins into the variables.
func (v *visit) storeRefs() {
	for r, p := range v.refs {
		if t := p.Load(); t != nil {
			r.Store(seal(t))
			t.Release()
		}
	}
}

// outside returns the variable that p stands for; p itself, a new variable, if
// it stands for none.
func (v *visit) outside(p *core.Ref) *core.Ref {
	for r, q := range v.refs {
		if q == p {
			return r
		}
	}
	return p
}

// cells returns the variables that the handles among the inputs point to, each
// once, as far as they exist.
func (v *visit) cells() (out []cell) {
	for _, h := range v.handles {
		value, _ := v.d.resources.Find(h.Container, h.Name, h.HashCode)
		if c, ok := value.(cell); ok && !slices.Contains(out, c) {
			out = append(out, c)
		}
	}
	return out
}

// openVariables makes the values of resource variables readable.
func (v *visit) openVariables() { v.convert(open) }

// closeVariables makes them opaque again, and those of new ones.
func (v *visit) closeVariables() {
	v.convert(func(t *core.Tensor) (*core.Tensor, error) {
		if !t.Addressable() {
			return t.Share(), nil
		}
		return seal(t), nil
	})
}

func (v *visit) convert(f func(*core.Tensor) (*core.Tensor, error)) {
	for _, c := range v.cells() {
		c.Swap(func(old *core.Tensor) (*core.Tensor, error) {
			if old == nil {
				return nil, nil
			}
			t, err := f(old)
			if err == nil {
				old.Release()
			}
			return t, err
		})
	}
}
