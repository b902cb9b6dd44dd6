package data

import (
	"encoding/binary"
	"fmt"
	"hash/fnv"
	"log/slog"
	"maps"
	"slices"
	"strings"

	"google.golang.org/protobuf/proto"

	"github.com/gorge-tf/gorge/internal/dataset"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/pb"
)

func init() {
	op := func(name, in, out, attrs string, k core.NewKernel) {
		core.Register(core.OpDef{Name: name, In: in, Out: out, Attrs: attrs, Shape: core.ScalarShape, NoGrad: core.NotDifferentiable, Kernels: core.AnyType(k)})
	}
	const strip = "strip_device_assignment: bool = false"
	op("DatasetToGraph", input, "graph: string", "stateful_whitelist: list(string) >= 0 = []; allow_stateful: bool = false; "+strip, toGraph)
	op("DatasetToGraphV2", input, "graph: string", "external_state_policy: int = 0; "+strip, toGraph)
	op("DatasetFromGraph", "graph_def: string", "handle: variant", "", fromGraph)
	op("DatasetFingerprint", input, "fingerprint: uint64", "", fingerprint)
}

// toGraph tells, in a graph, how a dataset was made.
func toGraph(n *core.Node) (core.Kernel, error) {
	policy := n.Int("external_state_policy")
	if n.OpName() == "DatasetToGraph" && !n.Bool("allow_stateful") {
		policy = policyFail
	}
	return core.Compute(func(c *core.OpContext) error {
		if _, err := dataset.Of(c.Input(0)); err != nil {
			return err
		}
		own := policy
		if v, ok := option(c.Input(0), optionExternalState); ok {
			own = int(v)
		}
		def, err := graphOf(c.Input(0), own, c.Step)
		if err != nil {
			return tf.Errorf(tf.FailedPrecondition, "Failed to serialize the input pipeline graph: %s", tf.AsError(err).Message())
		}
		if n.Bool("strip_device_assignment") {
			stripDevices(def)
		}
		b, err := proto.MarshalOptions{Deterministic: true}.Marshal(def)
		if err != nil {
			return err
		}
		c.Set(0, core.Scalar(string(b)))
		return nil
	}), nil
}

// stripDevices leaves of the devices of functions' nodes what says nothing of
// the task.
func stripDevices(def *pb.GraphDef) {
	for _, f := range def.GetLibrary().GetFunction() {
		for _, n := range f.GetNodeDef() {
			if _, local, ok := strings.Cut(n.GetDevice(), "/device:"); ok {
				n.Device = "/device:" + local
			}
		}
	}
}

// graphOf returns the graph that makes the dataset of a tensor; the dataset is
// the input of its node "dataset". With a step, it makes variables of its own with
// the values that those of the dataset have in the step.
func graphOf(t *core.Tensor, policy int, s *core.Step) (*pb.GraphDef, error) {
	if err := external(t, policy); err != nil {
		return nil, err
	}
	w := &graphWriter{step: s, def: &pb.GraphDef{Versions: &pb.VersionDef{Producer: core.ProducerVersion}}, names: map[*dataset.Origin]string{}, functions: map[string]*pb.FunctionDef{}}
	name, err := w.dataset(t)
	if err != nil {
		return nil, err
	}
	attrs, err := core.AttrsProto(core.Attrs{"T": tf.Variant, "index": int64(0)})
	if err != nil {
		return nil, err
	}
	w.def.Node = append(w.def.Node, &pb.NodeDef{Name: "dataset", Op: "_Retval", Input: []string{name}, Attr: attrs})
	w.def.Library = &pb.FunctionDefLibrary{}
	for _, f := range slices.Sorted(maps.Keys(w.functions)) {
		w.def.Library.Function = append(w.def.Library.Function, w.functions[f])
	}
	return w.def, nil
}

// A graphWriter adds nodes to a graph, inputs first.
type graphWriter struct {
	step      *core.Step // in which variables are copied; nil: they are not
	def       *pb.GraphDef
	names     map[*dataset.Origin]string // of the nodes that are there already
	functions map[string]*pb.FunctionDef // that nodes need
}

// dataset adds the node of a dataset and returns its name.
func (w *graphWriter) dataset(t *core.Tensor) (string, error) {
	o := dataset.OriginOf(t)
	if o == nil {
		if _, err := dataset.Of(t); err != nil {
			return "", err
		}
		return "", tf.Errorf(tf.Unimplemented, "a dataset that no op has made has no graph")
	}
	if name := w.names[o]; name != "" {
		return name, nil
	}
	var in []string
	for _, x := range o.In {
		name, err := w.input(x)
		if err != nil {
			return "", err
		}
		in = append(in, name)
	}
	if err := w.need(o); err != nil {
		return "", err
	}
	name, err := w.add(o.Node.OpName(), o.Node.Attrs, in)
	w.names[o] = name
	return name, err
}

func (w *graphWriter) add(op string, attrs core.Attrs, in []string) (string, error) {
	protos, err := core.AttrsProto(attrs)
	if err != nil {
		return "", err
	}
	name := fmt.Sprintf("%s/_%d", op, len(w.def.Node))
	w.def.Node = append(w.def.Node, &pb.NodeDef{Name: name, Op: op, Input: in, Attr: protos})
	return name, nil
}

// input adds what makes an input: a dataset, several of them, or a value.
func (w *graphWriter) input(t *core.Tensor) (string, error) {
	if w.step != nil && t.DType() == tf.Resource && t.Rank() == 0 && t.Handles()[0].TypeName == "tensorflow::Var" {
		return w.variable(t)
	}
	if t.DType() != tf.Variant {
		return w.add("Const", core.Attrs{"dtype": t.DType(), "value": t}, nil)
	}
	if t.Rank() == 0 {
		return w.dataset(t)
	}
	if t.Rank() > 1 {
		return "", tf.Errorf(tf.Unimplemented, "a dataset of variants of shape %s has no graph", t.Shape().String())
	}
	var parts []string
	for i := range t.Variants() {
		one := core.NewTensor(tf.Variant, tf.Shape{})
		one.Variants()[0] = t.Variants()[i]
		name, err := w.dataset(one)
		if err != nil {
			return "", err
		}
		parts = append(parts, name)
	}
	return w.add("Pack", core.Attrs{"T": tf.Variant, "N": int64(len(parts)), "axis": int64(0)}, parts)
}

// need adds the functions that the op calls, and those that they call.
func (w *graphWriter) need(o *dataset.Origin) error {
	l := libraryOf(o)
	var err error
	eachFunction(o.Node.Attrs, func(name string) {
		if err == nil {
			err = w.function(l, name)
		}
	})
	return err
}

func (w *graphWriter) function(l *core.Library, name string) error {
	if w.functions[name] != nil {
		return nil
	}
	f := l.Find(name)
	if f == nil {
		return tf.Errorf(tf.NotFound, "Function %s is not defined.", name)
	}
	w.functions[name] = proto.CloneOf(f)
	for _, called := range calledBy(l, f) {
		if err := w.function(l, called); err != nil {
			return err
		}
	}
	return nil
}

// libraryOf returns the functions of the graph that a dataset is from.
func libraryOf(o *dataset.Origin) *core.Library {
	if l, ok := o.Functions.(core.FunctionLibrary); ok {
		return l.Library()
	}
	return nil
}

// eachFunction calls f with the functions that attributes name.
func eachFunction(attrs core.Attrs, f func(name string)) {
	for _, key := range slices.Sorted(maps.Keys(attrs)) {
		switch v := attrs[key].(type) {
		case core.Func:
			f(v.Name)
		case []core.Func:
			for _, each := range v {
				f(each.Name)
			}
		}
	}
}

// calledBy returns the functions that the nodes of one name.
func calledBy(l *core.Library, f *pb.FunctionDef) (names []string) {
	for _, n := range f.GetNodeDef() {
		if l.Find(n.GetOp()) != nil {
			names = append(names, n.GetOp())
		}
		for _, v := range n.GetAttr() {
			for _, each := range append(v.GetList().GetFunc(), v.GetFunc()) {
				if name := each.GetName(); name != "" && l.Find(name) != nil {
					names = append(names, name)
				}
			}
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// fingerprint tells datasets apart by how they are made.
func fingerprint(*core.Node) (core.Kernel, error) {
	return core.Compute(func(c *core.OpContext) error {
		if _, err := dataset.Of(c.Input(0)); err != nil {
			return err
		}
		b, err := fingerprintOf(c.Input(0))
		if err != nil {
			return tf.Errorf(tf.FailedPrecondition, "Failed to serialize the input pipeline graph: %s", tf.AsError(err).Message())
		}
		sum := fnv.New64a()
		_, _ = sum.Write(b)
		c.Set(0, core.Scalar(sum.Sum64()))
		return nil
	}), nil
}

// fingerprintOf returns bytes that datasets have in common which were made in the
// same way.
func fingerprintOf(t *core.Tensor) (all []byte, err error) {
	def, err := graphOf(t, policyIgnore, nil)
	if err != nil {
		return nil, err
	}
	h := &graphHash{functions: map[string]*pb.FunctionDef{}, within: map[string]bool{}}
	for _, f := range def.GetLibrary().GetFunction() {
		h.functions[f.GetSignature().GetName()] = f
	}
	for _, n := range def.GetNode() {
		b, err := h.node(n)
		if err != nil {
			return nil, err
		}
		all = append(all, b...)
	}
	return all, nil
}

// A graphHash makes text of nodes in which functions stand for what they do:
// programs give them names of no meaning.
type graphHash struct {
	functions map[string]*pb.FunctionDef
	within    map[string]bool // functions that are being written
}

func (h *graphHash) node(n *pb.NodeDef) ([]byte, error) {
	n = proto.CloneOf(n)
	var inner []byte
	for _, key := range slices.Sorted(maps.Keys(n.GetAttr())) {
		v := n.GetAttr()[key]
		for _, f := range append(v.GetList().GetFunc(), v.GetFunc()) {
			b, err := h.function(f.GetName())
			if err != nil {
				return nil, err
			}
			if inner = append(inner, b...); f != nil {
				f.Name = ""
			}
		}
	}
	b, err := proto.MarshalOptions{Deterministic: true}.Marshal(n)
	b = append(b, inner...)
	return binary.AppendUvarint(b, uint64(len(b))), err
}

func (h *graphHash) function(name string) (all []byte, err error) {
	f := h.functions[name]
	if f == nil || h.within[name] {
		return []byte(name), nil
	}
	h.within[name] = true
	defer delete(h.within, name)
	for _, n := range f.GetNodeDef() {
		b, err := h.node(n)
		if err != nil {
			return nil, err
		}
		all = append(all, b...)
	}
	for _, key := range slices.Sorted(maps.Keys(f.GetRet())) {
		all = append(all, key+"="+f.GetRet()[key]+";"...)
	}
	return all, nil
}

// What is done about state outside of iterators, which is not saved with them.
const (
	policyWarn   = 0
	policyIgnore = 1
	policyFail   = 2
)

// external looks for state outside that a dataset depends on, and fails, warns or
// does nothing about it.
func external(t *core.Tensor, policy int) error {
	if policy < policyWarn || policy > policyFail {
		return tf.Errorf(tf.InvalidArgument, "Unexpected value of external policy: %d", policy)
	}
	if policy == policyIgnore {
		return nil
	}
	op := statefulIn(t, map[*dataset.Origin]bool{})
	switch {
	case op == "":
		return nil
	case policy == policyFail:
		return tf.Errorf(tf.FailedPrecondition, "%s is stateful.", op)
	}
	slog.Warn("the state of an op that a dataset uses is not saved with its iterator", "op", op)
	return nil
}
