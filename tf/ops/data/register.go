package data

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync/atomic"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/gorge-tf/gorge/internal/dataset"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
)

// Attributes that many ops have.
const (
	outputs  = "output_types: list(type) >= 1; output_shapes: list(shape) >= 1"
	metadata = "; metadata: string = ''"
	plain    = outputs + metadata
	of       = "Toutput_types: list(type) >= 1; output_shapes: list(shape) >= 1"
	captures = "Targuments: list(type) >= 0; "
	input    = "input_dataset: variant"
	captured = input + "; other_arguments: Targuments"
)

// A maker makes the dataset that a node describes.
type maker func(c *core.OpContext) (dataset.Dataset, error)

// register registers an op whose output is a dataset.
func register(name, in, attrs string, stateful bool, m maker) {
	core.Register(core.OpDef{
		Name: name, In: in, Out: "handle: variant", Attrs: attrs, Stateful: stateful,
		Shape: core.ScalarShape, NoGrad: core.NotDifferentiable, Kernels: core.AnyType(kernel(m)),
	})
}

// registerBoth registers an op also under the name that it had before it was
// taken over from TensorFlow's experiments, when it had no metadata.
func registerBoth(name, in, attrs string, stateful bool, m maker) {
	register(name, in, attrs, stateful, m)
	register("Experimental"+name, in, strings.TrimSuffix(attrs, metadata), stateful, m)
}

func kernel(m maker) core.NewKernel {
	return func(*core.Node) (core.Kernel, error) {
		return core.Compute(func(c *core.OpContext) error {
			d, err := m(c)
			if err == nil {
				c.Set(0, dataset.Made(d, originOf(c)))
			}
			return err
		}), nil
	}
}

// originOf returns what there is to tell of the dataset that a node makes.
func originOf(c *core.OpContext) *dataset.Origin {
	o := &dataset.Origin{Node: c.Node, In: kept(c, 0, c.Inputs())}
	if c.Step != nil {
		o.Resources = c.Resources
		if c.Functions != nil {
			o.Functions = c.Functions.Lasting()
		}
	}
	return o
}

// declared returns what a node says of its elements.
func declared(n *core.Node) dataset.Spec {
	shapes, _ := n.Attr("output_shapes").([]tf.Shape)
	return dataset.Spec{Types: n.TypesAttr("output_types"), Shapes: shapes}
}

// spec is declared for datasets whose elements a function makes.
func spec(c *core.OpContext) *dataset.Spec {
	s := declared(c.Node)
	return &s
}

// scalar returns the value of input i.
func scalar[T tf.Elem](c *core.OpContext, i int, name string) (v T, err error) {
	if c.Input(i).Rank() != 0 {
		return v, tf.Errorf(tf.InvalidArgument, "%s must be a scalar", name)
	}
	return core.Data[T](c.Input(i))[0], nil
}

// on makes the maker of a dataset over another, the first input.
func on(f func(c *core.OpContext, input dataset.Dataset) (dataset.Dataset, error)) maker {
	return func(c *core.OpContext) (dataset.Dataset, error) {
		in, err := dataset.Of(c.Input(0))
		if err != nil {
			return nil, err
		}
		return f(c, in)
	}
}

// sized makes the maker of a dataset over another that a number, the second
// input, says more about.
func sized(name string, f func(dataset.Dataset, int64) dataset.Dataset) maker {
	return on(func(c *core.OpContext, in dataset.Dataset) (dataset.Dataset, error) {
		n, err := scalar[int64](c, 1, name)
		if err != nil {
			return nil, err
		}
		return f(in, n), nil
	})
}

// same is the maker of datasets that differ from their input in how they are
// computed only.
var same = on(func(_ *core.OpContext, in dataset.Dataset) (dataset.Dataset, error) { return in, nil })

// kept returns inputs from lo up to hi for as long as they are needed.
func kept(c *core.OpContext, lo, hi int) []*core.Tensor {
	in := make([]*core.Tensor, hi-lo)
	for i := range in {
		in[i] = c.Input(lo + i).Share().Escape()
	}
	return in
}

// function returns the function that an attribute names, for as long as there
// are iterators: it is given inputs from lo up to hi after its own arguments.
func function(c *core.OpContext, attr string, lo, hi int) (dataset.Func, error) {
	return functionOf(c, c.Node.FuncAttr(attr), lo, hi, atAttr(c.Node, attr))
}

// functionOf is function for a function at hand. attribute adds to an error which
// attribute's function it comes from.
func functionOf(c *core.OpContext, f core.Func, lo, hi int, attribute func(error) error) (dataset.Func, error) {
	if c.Step == nil || c.Functions == nil {
		return nil, tf.Errorf(tf.Internal, "No function library is provided.")
	}
	caller, captured := c.Functions.Lasting(), kept(c, lo, hi)
	most := arity(caller, f.Name)
	return func(ctx context.Context, in []*core.Tensor) (out []*core.Tensor, err error) {
		ended := make(chan struct{})
		args := slices.Concat(in, captured)
		caller.Call(ctx, f, args[:min(most, len(args))], func(ts []*core.Tensor, e error) {
			out, err = ts, attribute(dataset.FuncError(e))
			close(ended)
		})
		<-ended
		return out, err
	}, nil
}

// arity returns how many arguments a function takes. Datasets may hold more than
// that: TensorFlow's distributed ones keep, after what their functions take, the
// iterator that these read from, so that it lives as long as they do.
func arity(c core.FunctionCaller, name string) int {
	l, ok := c.(interface{ Library() *core.Library })
	if !ok || l.Library() == nil {
		return math.MaxInt
	}
	def := l.Library().Find(name)
	if def == nil {
		return math.MaxInt // and the call says so
	}
	for _, a := range def.GetSignature().GetInputArg() {
		if a.GetNumberAttr() != "" || a.GetTypeListAttr() != "" {
			return math.MaxInt // several arguments under one name
		}
	}
	return len(def.GetSignature().GetInputArg())
}

// calling makes the maker of a dataset that calls the function of an attribute,
// whose captured inputs lie between the dataset and the last few inputs.
func calling(attr string, last int, f func(c *core.OpContext, in dataset.Dataset, f dataset.Func) (dataset.Dataset, error)) maker {
	return on(func(c *core.OpContext, in dataset.Dataset) (dataset.Dataset, error) {
		fn, err := function(c, attr, 1, c.Inputs()-last)
		if err != nil {
			return nil, err
		}
		return f(c, in, fn)
	})
}

// blamable are the ops that TensorFlow names in errors of the functions that
// they call.
var blamable = []string{"MapDataset", "ParallelMapDataset", "ParallelMapDatasetV2", "FilterDataset", "ParallelFilterDataset", "FlatMapDataset",
	"InterleaveDataset", "ParallelInterleaveDatasetV2", "ParallelInterleaveDatasetV3", "ParallelInterleaveDatasetV4"}

// nameless counts datasets that have no name.
var nameless atomic.Int64

// atAttr returns what says of an error which dataset's function it is from. One
// that is out of range is no error yet: it may end the dataset.
func atAttr(n *core.Node, attr string) func(error) error {
	op := n.OpName()
	if attr == "reduce_func" && strings.HasSuffix(op, "GroupByWindowDataset") {
		return func(err error) error { return inside(err, n.FuncAttr(attr).Name) }
	}
	if !slices.Contains(blamable, op) {
		return func(err error) error { return err }
	}
	text := "Error in user-defined function passed to " + cmp.Or(nameIn(n.Str("metadata")), fmt.Sprint(op, ":", nameless.Add(1))) + " transformation with iterator: Iterator::Root::" +
		strings.Replace(op, "Dataset", "", 1) + ": "
	return func(err error) error {
		if err == nil || tf.CodeOf(err) == tf.OutOfRange || tf.CodeOf(err) == tf.Canceled {
			return err
		}
		e := *tf.AsError(err)
		e.Msg = text + e.Msg
		return &e
	}
}

// inside is an error of a function whose own codes must not be taken for those
// of the dataset.
func inside(err error, name string) error {
	if err == nil || tf.CodeOf(err) == tf.Canceled {
		return err
	}
	return &tf.Error{Code: tf.Internal, Msg: fmt.Sprintf("Got error code %s and message: {\n%s\n} \nfrom running user-defined function %s: ", tf.CodeOf(err), tf.AsError(err).Message(), name), Err: err}
}

// nameIn returns the name of a dataset that its metadata, a message, has in its
// first field.
func nameIn(metadata string) string {
	name := ""
	for b := []byte(metadata); len(b) > 0; {
		num, typ, n := protowire.ConsumeTag(b)
		if n < 0 {
			return name
		}
		size := protowire.ConsumeFieldValue(num, typ, b[n:])
		if size < 0 {
			return name
		}
		if num == 1 && typ == protowire.BytesType {
			v, _ := protowire.ConsumeBytes(b[n:])
			name = string(v)
		}
		b = b[n+size:]
	}
	return name
}
