package lookup

import (
	"fmt"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/gorge-tf/gorge/internal/resource"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
)

const (
	sharing   = "container: string = ''; shared_name: string = ''; use_node_name_sharing: bool = false; "
	keyValue  = "key_dtype: type; value_dtype: type"
	ofTensors = keyValue + "; value_shape: shape = []"
	ofBuckets = ofTensors + "; initial_num_buckets: int = 131072; max_load_factor: float = 0.8"
)

func init() {
	const changing = core.ChangingTable | core.Parameter
	kind("HashTable", 0, keyValue, nil, hashPairs, makeStatic)
	kind("MutableHashTable", changing, keyValue, nil, mutablePairs, makeMutable)
	kind("MutableHashTableOfTensors", changing, ofTensors, nil, tensorPairs, makeOfTensors)
	kind("MutableDenseHashTable", changing, ofBuckets, []string{"empty_key: key_dtype", "deleted_key: key_dtype"}, densePairs, makeDense)
}

// kind declares the three ops that make tables of one kind: with a handle that
// is a reference, with a resource handle, and without a name. Traits are those of the
// first two.
func kind(name string, traits core.Traits, attrs string, in []string, pairs map[tf.DType][]tf.DType, new newTable) {
	first, both := "", ""
	grad := core.NotDifferentiable
	if len(in) == 2 {
		first, both = in[0], in[0]+"; "+in[1]
	}
	core.Register(core.OpDef{
		Name: name, Traits: traits, In: first, Out: "table_handle: Ref(string)", Attrs: sharing + attrs, Stateful: true,
		Shape: referenceShape, NoGrad: grad, Kernels: core.AnyType(create(new, pairs, false)),
	})
	core.Register(core.OpDef{
		Name: name + "V2", Traits: traits, In: both, Out: "table_handle: resource", Attrs: sharing + attrs, Stateful: true,
		Shape: handleShape, NoGrad: grad, Kernels: core.AnyType(create(new, pairs, false)),
	})
	core.Register(core.OpDef{
		Name: "Anonymous" + name, In: both, Out: "table_handle: resource", Attrs: attrs, Stateful: true,
		Shape: handleShape, NoGrad: core.NoGradientDefined, Kernels: core.AnyType(create(new, pairs, true)),
	})
}

// The pairs of key and value types that TensorFlow has tables of, by key.
var (
	common       = []tf.DType{tf.Float32, tf.Float64, tf.Int32}
	hashPairs    = pairsOf([]tf.DType{tf.String}, []tf.DType{tf.Int64, tf.String}, []tf.DType{tf.Bool, tf.Int64, tf.String})
	mutablePairs = pairsOf(nil, []tf.DType{tf.Int64, tf.String, tf.Variant}, []tf.DType{tf.Bool, tf.Int64})
	tensorPairs  = pairsOf(nil, []tf.DType{tf.Int64, tf.String}, []tf.DType{tf.Bool, tf.Int64})
	densePairs   = pairsOf(nil, []tf.DType{tf.Bool, tf.Int64, tf.Variant}, []tf.DType{tf.Bool, tf.Int64, tf.Resource})
)

func pairsOf(i32, i64, str []tf.DType) map[tf.DType][]tf.DType {
	return map[tf.DType][]tf.DType{tf.Int32: slices.Concat(common, i32), tf.Int64: slices.Concat(common, i64), tf.String: slices.Concat(common, str)}
}

// newTable makes a table as the node's attributes and inputs say.
type newTable func(n *core.Node, c *core.OpContext) (table, error)

func signatureOf(n *core.Node) signature {
	return signature{key: n.Type("key_dtype"), value: n.Type("value_dtype"), keyShape: tf.Shape{}, valueShape: tf.Shape{}}
}

func makeStatic(n *core.Node, _ *core.OpContext) (table, error) {
	return newStatic(signatureOf(n)), nil
}
func makeMutable(n *core.Node, _ *core.OpContext) (table, error) {
	return newMutable(signatureOf(n)), nil
}

func makeOfTensors(n *core.Node, _ *core.OpContext) (table, error) {
	s := signatureOf(n)
	s.valueShape = n.ShapeAttr("value_shape")
	if len(s.valueShape) != 1 {
		return nil, tf.Errorf(tf.InvalidArgument, "Default value must be a vector, got shape %s", s.valueShape.String())
	}
	if err := core.CheckSize(s.value, s.valueShape); err != nil {
		return nil, err
	}
	return newMutable(s), nil
}

func makeDense(n *core.Node, c *core.OpContext) (table, error) {
	s := signatureOf(n)
	s.valueShape = n.ShapeAttr("value_shape")
	s.keyShape = c.Input(0).Shape().Clone()
	load := n.Float("max_load_factor")
	var deleted *core.Tensor
	if c.Inputs() > 1 {
		deleted = c.Input(1)
	}
	switch {
	case !(load > 0 && load < 1):
		return nil, tf.Errorf(tf.InvalidArgument, "max_load_factor must be between 0 and 1, got: %v", load)
	case len(s.valueShape) > 1 || s.valueShape == nil:
		return nil, tf.Errorf(tf.InvalidArgument, "Empty value must be a scalar or a vector, got shape %s", s.valueShape.String())
	case len(s.keyShape) > 1:
		return nil, tf.Errorf(tf.InvalidArgument, "Empty key must be a scalar or a vector, got shape %s", s.keyShape.String())
	case deleted != nil && !deleted.Shape().Equal(s.keyShape):
		return nil, tf.Errorf(tf.InvalidArgument, "Empty and deleted keys must have same shape, got shapes: %s and %s", s.keyShape.String(), deleted.Shape().String())
	}
	if err := core.CheckSize(s.value, s.valueShape); err != nil {
		return nil, err
	}
	return newDense(s, c.Input(0), deleted, n.Int("initial_num_buckets"), load)
}

// serial makes names of tables that no other node shares.
var serial atomic.Int64

// create makes the table when the node first runs, or finds the one that other
// nodes share under its name. A table without a name lives as long as its
// handles.
func create(new newTable, pairs map[tf.DType][]tf.DType, anonymous bool) core.NewKernel {
	return func(n *core.Node) (core.Kernel, error) {
		k, v := n.Type("key_dtype"), n.Type("value_dtype")
		if !slices.Contains(pairs[k], v) {
			return nil, tf.Errorf(tf.NotFound, "No OpKernel was registered to support Op '%s' with key_dtype %v and value_dtype %v", n.OpName(), k, v)
		}
		if anonymous {
			return core.Compute(func(c *core.OpContext) error {
				t, err := new(n, c)
				if err == nil {
					c.Set(0, core.HandleTensor(handleOf(c, n, "", "", t)))
				}
				return err
			}), nil
		}
		s := &shared{n: n, new: new, container: n.Str("container"), name: tableName(n), private: n.Str("shared_name") == "" && !n.Bool("use_node_name_sharing")}
		return core.Compute(s.compute), nil
	}
}

func tableName(n *core.Node) string {
	switch name := n.Str("shared_name"); {
	case name != "":
		return name
	case n.Bool("use_node_name_sharing"):
		return n.Name
	}
	return fmt.Sprintf("_%d_%s", serial.Add(1), n.Name)
}

// shared is the kernel of tables with a name.
type shared struct {
	n               *core.Node
	new             newTable
	container, name string
	private         bool // the table is the node's own: it goes when the kernel and the handles are collected
	kept            sync.Once
	ref             core.Ref // the handle, if it is a reference
}

// keep returns the handle h; one of a private table keeps the kernel, which nothing else does in an
// eager graph.
func (s *shared) keep(m *resource.Manager, h core.ResourceHandle) core.ResourceHandle {
	if s.private {
		s.kept.Do(func() {
			container, name := s.container, s.name
			runtime.AddCleanup(s, func(m *resource.Manager) {
				go func() { _ = resource.Delete[table](m, container, name) }() // cleanups must not wait
			}, m)
		})
		h.Object = s
	}
	return h
}

func (s *shared) compute(c *core.OpContext) error {
	if c.Step == nil || c.Resources == nil {
		return tf.Errorf(tf.Internal, "no resources")
	}
	t, err := resource.LookupOrCreate(c.Resources, s.container, s.name, func() (table, error) { return s.new(s.n, c) })
	if err != nil {
		return err
	}
	if err := t.about().checkTypes(s.n.Type("key_dtype"), s.n.Type("value_dtype"), s.name); err != nil {
		return err
	}
	if s.n.OutTypes[0] == tf.Resource {
		c.Set(0, core.HandleTensor(s.keep(c.Resources, handleOf(c, s.n, c.Resources.Container(s.container), s.name, nil))))
		return nil
	}
	if !s.ref.Initialized() {
		names, err := core.FromSlice([]string{c.Resources.Container(s.container), s.name})
		if err != nil {
			return err
		}
		s.ref.Store(names)
	}
	c.Out[0].Ref = &s.ref
	return nil
}

// handleOf returns a handle by name or, of a table without one, by itself.
func handleOf(c *core.OpContext, n *core.Node, container, name string, t table) core.ResourceHandle {
	h := core.ResourceHandle{Container: container, Name: name, HashCode: tableType.Hash, TypeName: tableType.Name}
	if t != nil {
		h.Object = t
	}
	if c.Step != nil && c.Device != nil {
		h.Device = c.Device.Spec().String()
	}
	return h
}

func referenceShape(c *core.Infer) error {
	c.Set(0, tf.Shape{2})
	return nil
}

func handleShape(c *core.Infer) error {
	c.Set(0, tf.Shape{})
	if c.NumIn() == 0 { // the keys are scalars
		s := c.ShapeAttr("value_shape")
		if c.Attr("value_shape") == nil {
			s = tf.Shape{}
		}
		c.SetHandle(0, c.Type("value_dtype"), s)
	}
	return nil
}
