package core

import (
	"cmp"
	"fmt"
	"maps"
	"path"
	"reflect"
	"runtime"
	"slices"
	"strings"
)

// An OpDef declares one operation, whole: its signature, what it means for
// shapes, how devices compute it and how gradients flow through it.
//
// In, Out and Attrs use the notation of TensorFlow's op definitions, entries
// separated by semicolons:
//
//	In:    "a: T; b: T"
//	Out:   "product: T"
//	Attrs: "transpose_a: bool = false; T: {half, float, double}"
type OpDef struct {
	Name           string
	In, Out, Attrs string
	Shape          func(*Infer) error
	Kernels        KernelSet
	Grad           Gradient // exactly one of Grad and NoGrad is given
	NoGrad         NoGrad
	// SparseGrad, if there, serves instead of Grad when a gradient comes in
	// sparse form; without it such a gradient is made dense first.
	SparseGrad SparseGradient

	// Body, if there, makes of a node's attributes the function that the node calls: the
	// op is put in terms of others. It calls visit with numbers of nodes that it adds, and
	// ends with the error that visit returns. The kernel, which is CallBody, serves nodes
	// that the body does not replace.
	Body func(n *Node, visit func(nodes int) error) (*FunctionBody, error)

	Role   Role   // how it directs or moves values, or calls functions; most ops have none
	Traits Traits // what passes may know of it

	// ShapeAt tells the inputs of which kernels read the shape only, by their numbers, and
	// for each another input, of the same type, that has that shape or makes the node fail.
	ShapeAt map[int]int

	Stateful      bool // has effects or state: never folded, merged or pruned as a duplicate
	Uninitialized bool // reference inputs may be uninitialized (Assign, IsVariableInitialized)
	Expensive     bool // worth a worker thread of its own when other nodes are ready
	MasterOnly    bool // reserved: never sent to another task
	Function      bool // a function of the graph's library that nodes call by its name
	Light         bool // takes little time beside a convolution of its size: gradients may compute it again; elementwise ops, views and the like do so anyway
	Composes      bool // its kernel calls functions of its own making, which no library has

	Inputs   []ArgDef  // parsed from In
	Outputs  []ArgDef  // parsed from Out
	AttrDefs []AttrDef // parsed from Attrs
	attrs    map[string]*AttrDef
	pc       uintptr // where it was registered
}

// A Gradient tells how gradients flow through an op. It is a function on graphs,
// which this package does not know: tf.GradFunc.
type Gradient interface{ Gradient() }

// A SparseGradient is the same for gradients in sparse form: tf.SparseGradFunc.
type SparseGradient interface{ SparseGradient() }

// NoGrad says why an op has no gradient function.
type NoGrad uint8

const (
	// NotDifferentiable ops end the path: their inputs count as constants.
	NotDifferentiable NoGrad = iota + 1
	// NoGradientDefined ops make differentiation fail, as TensorFlow does
	// for ops without a registered gradient.
	NoGradientDefined
)

var registry = map[string]*OpDef{}

// Register adds d to the known operations. It is meant for init functions and
// panics if d is malformed or its name is taken.
func Register(d OpDef) {
	if isNil(d.Grad) {
		d.Grad = nil
	}
	if isNil(d.SparseGrad) {
		d.SparseGrad = nil
	}
	if err := d.parse(); err != nil {
		panic(fmt.Sprintf("core: op %s: %v", d.Name, err))
	}
	var pc [1]uintptr
	runtime.Callers(2, pc[:])
	d.pc = pc[0]
	registry[d.Name] = &d
}

// isNil reports whether f holds a function that is nil: families of ops pass on
// what one of them may not have.
func isNil(f any) bool {
	v := reflect.ValueOf(f)
	return v.Kind() == reflect.Func && v.IsNil()
}

// Package returns the import path of the package that registered the op.
func (d *OpDef) Package() string {
	frame, _ := runtime.CallersFrames([]uintptr{d.pc}).Next()
	dir, name := path.Split(frame.Function)
	base, _, _ := strings.Cut(name, ".")
	return dir + base
}

func (d *OpDef) parse() (err error) {
	switch {
	case registry[d.Name] != nil:
		return fmt.Errorf("registered twice")
	case d.Shape == nil:
		return fmt.Errorf("no shape function")
	case (d.Grad == nil) != (d.NoGrad != 0):
		return fmt.Errorf("want exactly one of Grad and NoGrad")
	}
	if d.Inputs, err = parseArgs(d.In); err != nil {
		return err
	}
	if d.Traits&ReadsState != 0 {
		d.Traits |= Droppable
	}
	if d.Outputs, err = parseArgs(d.Out); err != nil {
		return err
	}
	if d.AttrDefs, err = parseAttrs(d.Attrs); err != nil {
		return err
	}
	d.attrs = make(map[string]*AttrDef, len(d.AttrDefs))
	for i := range d.AttrDefs {
		d.attrs[d.AttrDefs[i].Name] = &d.AttrDefs[i]
	}
	return cmp.Or(d.resolveArgs(d.Inputs), d.resolveArgs(d.Outputs), d.checkShapeAt())
}

// checkShapeAt checks that inputs that stand for others are single tensors of their types.
func (d *OpDef) checkShapeAt() error {
	for i, k := range d.ShapeAt {
		last := len(d.Inputs) - 1
		if min(i, k) < 0 || max(i, k) > last || i == k {
			return fmt.Errorf("ShapeAt: input %d stands for input %d of %d", k, i, last+1)
		}
		for _, a := range d.Inputs {
			if a.IsList() {
				return fmt.Errorf("ShapeAt: input %s is a list", a.Name)
			}
		}
	}
	return nil
}

// resolveArgs checks that the attrs that give types and lengths exist and
// tells list(type) attrs from type attrs.
func (d *OpDef) resolveArgs(args []ArgDef) error {
	for i := range args {
		a := &args[i]
		if a.NumAttr != "" && (d.attrs[a.NumAttr] == nil || d.attrs[a.NumAttr].Kind != "int") {
			return fmt.Errorf("argument %s: no int attr %q", a.Name, a.NumAttr)
		}
		if a.TypeAttr == "" {
			continue
		}
		t := d.attrs[a.TypeAttr]
		if t == nil || t.Kind != "type" {
			return fmt.Errorf("argument %s: no type attr %q", a.Name, a.TypeAttr)
		}
		if t.List {
			a.ListAttr, a.TypeAttr = a.TypeAttr, ""
		}
	}
	return nil
}

// Attr returns the definition of an attribute, or nil.
func (d *OpDef) Attr(name string) *AttrDef { return d.attrs[name] }

// OpNames returns the names of all registered operations, sorted.
func OpNames() []string { return slices.Sorted(maps.Keys(registry)) }

// Lookup returns the definition of an op, or nil.
func Lookup(name string) *OpDef { return registry[name] }

// LookupOp is Lookup with TensorFlow's error for an op that is not there.
func LookupOp(name string) (*OpDef, error) {
	if d := registry[name]; d != nil {
		return d, nil
	}
	return nil, unknownOp(name)
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

// argTypes returns the types of all tensors of args, given the attrs.
func argTypes(args []ArgDef, attrs Attrs) ([]DType, error) {
	var out []DType
	for i := range args {
		ts, err := args[i].Types(attrs)
		if err != nil {
			return nil, err
		}
		out = append(out, ts...)
	}
	return out, nil
}

// maxListLen bounds the lists of tensors that one node may have, so that a few
// bytes of a bad GraphDef do not ask for a lot of memory.
const maxListLen = 1 << 16

// Types returns the types of the tensors that a stands for in a node with attrs.
func (a *ArgDef) Types(attrs Attrs) ([]DType, error) {
	if a.ListAttr != "" {
		ts, ok := attrs[a.ListAttr].([]DType)
		if !ok {
			return nil, Errorf(InvalidArgument, "attr %q has to be given", a.ListAttr)
		}
		return ts, nil
	}
	n := int64(1)
	if a.NumAttr != "" {
		n, _ = attrs[a.NumAttr].(int64)
		if n < 0 || n > maxListLen {
			return nil, Errorf(InvalidArgument, "attr %q is the length of %s, which must be at least 0 and at most %d, got %d", a.NumAttr, a.Name, maxListLen, n)
		}
	}
	t := a.Type
	if a.TypeAttr != "" {
		t, _ = attrs[a.TypeAttr].(DType)
	}
	if t == Invalid {
		return nil, Errorf(InvalidArgument, "attr %q has to be given", a.TypeAttr)
	}
	if a.Ref {
		t = t.Ref()
	}
	return slices.Repeat([]DType{t}, int(n)), nil
}
