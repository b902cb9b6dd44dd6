package savedmodel

import (
	"context"
	"slices"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/pb"
	"github.com/gorge-tf/gorge/tf/session"
)

// foldNorms computes batch normalizations in advance whose parameters are constants
// and that follow a convolution or a product of matrices with constant weights:
// normalized(conv(x, w)) = conv(x, w·f) + (offset - mean·f), where f is
// scale/√(variance+ε) for each channel. Scaling by a constant vector is treated
// alike. Weights that are variables stay as they are: an assignment may reach them.
//
// A graph whose constants cannot be computed is left alone; loading it says why.
func foldNorms(ctx context.Context, mg *pb.MetaGraphDef) {
	f := newNormFolder(mg)
	var found []*norm
	for _, d := range mg.GetGraphDef().GetNode() {
		if n := f.match(d); n != nil {
			found = append(found, n)
		}
	}
	if found == nil || f.compute(ctx, found) != nil {
		return
	}
	for _, n := range found {
		f.fold(n)
	}
	f.sweep(found)
}

// normFolder is a graph whose normalizations are folded.
type normFolder struct {
	def      *pb.GraphDef
	nodes    map[string]*pb.NodeDef
	uses     map[string]int  // inputs of nodes, control inputs among them
	kept     map[string]bool // what signatures and loading name
	more     map[string]bool // nodes of which an output behind the first one is used
	constant map[string]bool // by the name of a node: it depends on constants only
	values   map[string]*tf.Tensor
}

// A norm is a node that normalizes or scales what linear computes. Fields name
// tensors.
type norm struct {
	node, linear, bias            *pb.NodeDef // bias is the BiasAdd between them, or nil
	scale, offset, mean, variance string      // only scale of a product
	epsilon                       float64
	format                        string
	before                        string      // the vector that bias adds
	weights                       *pb.NodeDef // a constant
	factor, shift                 []float32   // what comes of them, for each channel
}

func newNormFolder(mg *pb.MetaGraphDef) *normFolder {
	f := &normFolder{def: mg.GetGraphDef(), nodes: map[string]*pb.NodeDef{}, uses: map[string]int{}, kept: map[string]bool{}, more: map[string]bool{}, constant: map[string]bool{}}
	n := &needs{mg: mg}
	for _, name := range append(n.base(), n.outputs()...) {
		f.kept[name] = true
	}
	for _, d := range f.def.GetNode() {
		f.nodes[d.GetName()] = d
		for _, in := range d.GetInput() {
			f.uses[nodeOf(in)]++
			f.note(in)
		}
	}
	for _, s := range mg.GetSignatureDef() {
		for _, infos := range []map[string]*pb.TensorInfo{s.GetInputs(), s.GetOutputs()} {
			for _, info := range infos {
				for _, name := range tensorNames(info) {
					f.note(name)
				}
			}
		}
	}
	return f
}

// note notes that a tensor is used.
func (f *normFolder) note(tensor string) {
	if node, port, err := core.ParseTensorName(tensor); err == nil && port > 0 {
		f.more[node] = true
	}
}

// match returns the norm that d is, nil if it is none.
func (f *normFolder) match(d *pb.NodeDef) *norm {
	in := slices.Clone(dataInputs(d))
	var n *norm
	switch {
	case typeOf(d, "T") != pb.DataType_DT_FLOAT:
		return nil
	case slices.Contains([]string{"FusedBatchNorm", "FusedBatchNormV2", "FusedBatchNormV3"}, d.GetOp()):
		n = f.normalization(d, in)
	case d.GetOp() == "Mul" && len(in) == 2:
		n = f.product(d, in)
	}
	if n == nil || !f.linear(n, in) {
		return nil
	}
	for _, name := range n.constants() {
		if !f.isConstant(nodeOf(name)) {
			return nil
		}
	}
	return n
}

// normalization matches a fused batch normalization that does not train and whose
// first output only is used.
func (f *normFolder) normalization(d *pb.NodeDef, in []string) *norm {
	training := d.GetAttr()["is_training"]
	if training == nil || training.GetB() || len(in) != 5 || f.more[d.GetName()] {
		return nil
	}
	n := &norm{node: d, scale: in[1], offset: in[2], mean: in[3], variance: in[4], epsilon: 1e-4, format: formatOf(d)}
	if e := d.GetAttr()["epsilon"]; e != nil {
		n.epsilon = float64(e.GetF())
	}
	return n
}

// product matches the scaling of channels by a constant vector.
func (f *normFolder) product(d *pb.NodeDef, in []string) *norm {
	n := &norm{node: d, format: "NHWC"}
	switch {
	case f.isConstant(nodeOf(in[1])):
		n.scale = in[1]
	case f.isConstant(nodeOf(in[0])):
		n.scale = in[0]
		in[0], in[1] = in[1], in[0]
	default:
		return nil
	}
	return n
}

// linear finds what computes the first input of a norm. Nothing else may use that.
func (f *normFolder) linear(n *norm, in []string) bool {
	d := f.alone(in[0])
	if d != nil && d.GetOp() == "BiasAdd" && formatOf(d) == n.format {
		n.bias, n.before = d, d.Input[1]
		d = f.alone(d.Input[0])
	}
	if d == nil || typeOf(d, "T") != pb.DataType_DT_FLOAT {
		return false
	}
	switch d.GetOp() {
	case "Conv2D", "DepthwiseConv2dNative":
		if formatOf(d) != n.format {
			return false
		}
	case "MatMul":
		if d.GetAttr()["transpose_b"].GetB() || !n.product() {
			return false
		}
	default:
		return false
	}
	n.linear, n.weights = d, f.alone(d.Input[1])
	for n.weights != nil && core.HasTrait(n.weights.GetOp(), core.Passthrough) {
		n.weights = f.alone(n.weights.Input[0])
	}
	return n.weights != nil && core.RoleOf(n.weights.GetOp()) == core.Constant
}

// alone returns the node of a tensor that one input uses only.
func (f *normFolder) alone(tensor string) *pb.NodeDef {
	name := nodeOf(tensor)
	if f.uses[name] != 1 || f.kept[name] {
		return nil
	}
	return f.nodes[name]
}

// product reports whether n only scales.
func (n *norm) product() bool { return n.mean == "" }

func (n *norm) constants() []string {
	all := []string{n.before, n.scale, n.offset, n.mean, n.variance}
	return slices.DeleteFunc(all, func(s string) bool { return s == "" })
}

// isConstant reports whether a node computes the same in every step: it is a
// constant, or an operation without state on such.
func (f *normFolder) isConstant(name string) bool {
	if is, ok := f.constant[name]; ok {
		return is
	}
	f.constant[name] = false // while it is looked at: a loop is not constant
	d := f.nodes[name]
	if d == nil {
		return false
	}
	def, err := core.LookupOp(d.GetOp())
	is := err == nil && !def.Stateful && !f.kept[name] && !def.Has(core.Overridable) && !core.RoleOf(d.GetOp()).DirectsFlow() && (core.RoleOf(d.GetOp()) == core.Constant || len(d.GetInput()) > 0)
	for _, in := range d.GetInput() {
		is = is && in[0] != '^' && f.isConstant(nodeOf(in))
	}
	f.constant[name] = is
	return is
}

// compute computes the constants of norms, by a graph that has nothing else.
func (f *normFolder) compute(ctx context.Context, norms []*norm) error {
	var names, roots []string
	for _, n := range norms {
		for _, c := range n.constants() {
			names, roots = append(names, c), append(roots, nodeOf(c))
		}
	}
	keep := (&needs{nodes: f.nodes}).reach(roots...)
	def := &pb.GraphDef{Versions: f.def.GetVersions()}
	for _, d := range f.def.GetNode() {
		if keep[d.GetName()] {
			def.Node = append(def.Node, d)
		}
	}
	g := tf.NewGraph()
	if err := g.ImportProto(def, tf.ImportOptions{}); err != nil {
		return err
	}
	var fetches []tf.Fetchable
	for _, name := range names {
		x, err := g.Output(name)
		if err != nil {
			return err
		}
		fetches = append(fetches, x)
	}
	s, err := session.New(g, session.With(session.Config{SoftPlacement: true}))
	if err != nil {
		return err
	}
	defer s.Close()
	values, err := s.Run(ctx, nil, fetches...)
	f.values = map[string]*tf.Tensor{}
	for i, v := range values {
		f.values[names[i]] = v
	}
	return err
}

// sweep drops the constants and the additions that only the folded norms needed.
func (f *normFolder) sweep(norms []*norm) {
	dead := map[string]bool{}
	var drop func(name string)
	uses := map[string]int{}
	for _, d := range f.def.GetNode() {
		for _, in := range d.GetInput() {
			uses[nodeOf(in)]++
		}
	}
	drop = func(name string) {
		d := f.nodes[name]
		if d == nil || dead[name] || uses[name] > 0 || f.kept[name] {
			return
		}
		dead[name] = true
		for _, in := range d.GetInput() {
			uses[nodeOf(in)]--
			drop(nodeOf(in))
		}
	}
	for _, n := range norms {
		if n.linear == nil {
			continue
		}
		if n.bias != nil {
			drop(n.bias.GetName())
		}
		for _, c := range n.constants() {
			drop(nodeOf(c))
		}
	}
	f.def.Node = slices.DeleteFunc(f.def.Node, func(d *pb.NodeDef) bool { return dead[d.GetName()] })
}

func typeOf(d *pb.NodeDef, attr string) pb.DataType { return d.GetAttr()[attr].GetType() }

func formatOf(d *pb.NodeDef) string {
	if s := d.GetAttr()["data_format"].GetS(); len(s) > 0 {
		return string(s)
	}
	return "NHWC"
}
