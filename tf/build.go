package tf

import (
	"strings"

	"github.com/gorge-tf/gorge/tf/core"
)

// build completes o and adds it to its graph.
func (o *Operation) build(op string, spec *Spec) error {
	o.grad = spec.grad
	if o.g.IsEager() {
		return o.buildNow(op, spec)
	}
	if err := o.define(op, spec); err != nil {
		return err
	}
	if err := o.inferShapes(); err != nil {
		return err
	}
	return o.place(spec)
}

// define works out attributes and types of o from its inputs and spec.
func (o *Operation) define(op string, spec *Spec) (err error) {
	if o.Def, err = core.LookupOp(op); err != nil {
		return err
	}
	o.Attrs = spec.Attrs
	if o.Attrs == nil {
		o.Attrs = core.Attrs{}
	}
	if err := o.inferAttrs(); err != nil {
		return err
	}
	if err := o.Complete(); err != nil {
		return err
	}
	return o.checkInputs()
}

// inferAttrs works out the type and length attrs that the inputs imply.
func (o *Operation) inferAttrs() error {
	given := o.in
	for i := range o.Def.Inputs {
		a := &o.Def.Inputs[i]
		n, err := o.argLen(a, len(given), o.Def.Inputs[i+1:])
		if err != nil {
			return err
		}
		if n > len(given) {
			return o.wrongInputs()
		}
		if err := o.bind(a, given[:n]); err != nil {
			return err
		}
		given = given[n:]
	}
	if len(given) > 0 {
		return o.wrongInputs()
	}
	return nil
}

func (o *Operation) wrongInputs() error {
	return Errorf(InvalidArgument, "%s takes %s, got %d inputs", o.Def.Name, signature(o.Def.Inputs), len(o.in))
}

func signature(args []core.ArgDef) string {
	if len(args) == 0 {
		return "no inputs"
	}
	names := make([]string, len(args))
	for i := range args {
		names[i] = args[i].Name
	}
	return "inputs (" + strings.Join(names, ", ") + ")"
}

// argLen returns how many of the left inputs argument a takes; rest are the
// arguments after it.
func (o *Operation) argLen(a *core.ArgDef, left int, rest []core.ArgDef) (int, error) {
	if !a.IsList() {
		return 1, nil
	}
	if v, ok := o.Attrs[a.NumAttr].(int64); ok {
		if v < 0 || v > int64(left) {
			return 0, Errorf(InvalidArgument, "attr %q is %d, but there are %d inputs for %s", a.NumAttr, v, left, a.Name)
		}
		return int(v), nil
	}
	if v, ok := o.Attrs[a.ListAttr].([]DType); ok {
		return len(v), nil
	}
	lists := 1 // of this length
	for i := range rest {
		r := &rest[i]
		switch {
		case !r.IsList():
			left--
		case r.NumAttr != "" && r.NumAttr == a.NumAttr:
			lists++
		default:
			n, err := o.argLen(r, left, nil)
			if err != nil {
				return 0, err
			}
			left -= n
		}
	}
	return max(left, 0) / lists, nil
}

// bind sets the attrs that argument a, given as xs, implies.
func (o *Operation) bind(a *core.ArgDef, xs []Output) error {
	if a.NumAttr != "" {
		o.Attrs[a.NumAttr] = int64(len(xs))
	}
	if a.ListAttr != "" {
		if o.Attrs[a.ListAttr] == nil {
			ts := make([]DType, len(xs))
			for i, x := range xs {
				ts[i] = x.DType().Base()
			}
			o.Attrs[a.ListAttr] = ts
		}
		return nil
	}
	if a.TypeAttr == "" || len(xs) == 0 {
		return nil
	}
	for _, x := range xs {
		t := x.DType().Base()
		if have, ok := o.Attrs[a.TypeAttr].(DType); ok && have != t {
			return Errorf(InvalidArgument, "inputs of type %s must agree: %s is %v, expected %v", a.TypeAttr, x.Name(), t, have)
		}
		o.Attrs[a.TypeAttr] = t
	}
	return nil
}

// checkInputs compares the inputs' types with what the signature asks for.
func (o *Operation) checkInputs() error {
	for i, want := range o.InTypes {
		got := o.in[i].DType()
		if want.IsRef() && !got.IsRef() || want.Base() != got.Base() {
			return Errorf(InvalidArgument, "input %d must be %v, got %v", i, want, o.in[i])
		}
	}
	return nil
}

func (o *Operation) inferShapes() error {
	in := make([]Shape, len(o.in))
	for i, x := range o.in {
		in[i] = x.Shape()
	}
	shapes, handles, err := o.Infer(in, core.Known{
		Value:   func(i int) *core.Tensor { return constValue(o.in[i]) },
		Partial: func(i int) (Shape, bool) { return partialValue(o.in[i]) },
		Handle:  func(i int) core.HandleInfo { return o.in[i].op.handleOf(o.in[i].k) },
	})
	if err != nil {
		return err
	}
	o.shapes, o.handles = shapes, handles
	return nil
}

func (o *Operation) handleOf(k int) core.HandleInfo {
	if o.handles == nil {
		return core.HandleInfo{}
	}
	return o.handles[k]
}
