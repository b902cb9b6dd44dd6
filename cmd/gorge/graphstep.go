package main

import (
	"maps"
	"os"
	"slices"
	"strings"

	"google.golang.org/protobuf/encoding/prototext"
	"google.golang.org/protobuf/proto"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/pb"
	"github.com/gorge-tf/gorge/tf/savedmodel"
)

// stepFlags say which step of a graph in a file is meant.
type stepFlags struct{ tags, signature, inputs, outputs string }

// read returns the graph of a file, what the step feeds and what it fetches.
func (o *stepFlags) read(path string) (*tf.Graph, []tf.Output, []tf.Fetchable, error) {
	m, err := readAnyGraph(path, tagSet(o.tags))
	if err != nil {
		return nil, nil, nil, err
	}
	for _, n := range m.GetGraphDef().GetNode() {
		n.Device = withoutTask(n.GetDevice())
	}
	g := tf.NewGraph()
	if err := g.ImportProto(m.GetGraphDef(), tf.ImportOptions{}); err != nil {
		return nil, nil, nil, err
	}
	in, out, err := o.names(m)
	if err != nil {
		return nil, nil, nil, err
	}
	feeds, err := outputsNamed(g, in)
	if err != nil {
		return nil, nil, nil, err
	}
	fetches, err := fetchesNamed(g, out)
	return g, feeds, fetches, err
}

// readAnyGraph reads a SavedModel, a MetaGraphDef or a GraphDef. The last becomes a
// MetaGraphDef without signatures.
func readAnyGraph(path string, tags []string) (*pb.MetaGraphDef, error) {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return nil, core.FileError(path, err)
	case info.IsDir():
		m, err := savedmodel.Read(path)
		if err != nil {
			return nil, err
		}
		return savedmodel.Find(m, tags...)
	case strings.HasSuffix(path, ".meta"):
		return readMetaGraph(path)
	}
	def, err := readGraph(path)
	return &pb.MetaGraphDef{GraphDef: def}, err
}

// readMetaGraph reads a MetaGraphDef, binary or text.
func readMetaGraph(path string) (*pb.MetaGraphDef, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, core.FileError(path, err)
	}
	m := &pb.MetaGraphDef{}
	if err := proto.Unmarshal(data, m); err != nil && prototext.Unmarshal(data, m) != nil {
		return nil, tf.Errorf(tf.DataLoss, "%s must be a MetaGraphDef: %v", path, err)
	}
	return m, nil
}

// withoutTask returns a device without the task that it is of: the graph of a cluster
// is planned as one of this process.
func withoutTask(device string) string {
	d, err := core.ParseDevice(device)
	if err != nil {
		return device // importing the graph says what is wrong
	}
	return core.DeviceSpec{Replica: -1, Task: -1, Type: d.Type, ID: d.ID}.String()
}

// names returns the names of what is fed and fetched; those of the signature where the
// flags give none.
func (o *stepFlags) names(m *pb.MetaGraphDef) (in, out []string, err error) {
	in, out = listed(o.inputs), listed(o.outputs)
	if len(m.GetSignatureDef()) == 0 || len(out) > 0 {
		return in, out, nil
	}
	sig := m.GetSignatureDef()[o.signature]
	if sig == nil {
		return nil, nil, tf.Errorf(tf.NotFound, "there must be a signature of the name %q: choose one of %q by --signature_def, or give --outputs",
			o.signature, signatures(m))
	}
	if len(in) == 0 {
		in = tensorsOf(sig.GetInputs())
	}
	return in, tensorsOf(sig.GetOutputs()), nil
}

// signatures returns the names of the signatures that are not TensorFlow's own.
func signatures(m *pb.MetaGraphDef) []string {
	names := slices.Sorted(maps.Keys(m.GetSignatureDef()))
	return slices.DeleteFunc(names, func(name string) bool { return strings.HasPrefix(name, "__saved_model_") })
}

func listed(flag string) []string {
	return strings.FieldsFunc(flag, func(r rune) bool { return r == ',' })
}

// tensorsOf returns the names of the tensors of a signature, by its keys, each once.
func tensorsOf(infos map[string]*pb.TensorInfo) (names []string) {
	add := func(name string) {
		if name != "" && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	for _, key := range slices.Sorted(maps.Keys(infos)) {
		info := infos[key]
		add(info.GetName())
		if c := info.GetCooSparse(); c != nil {
			add(c.GetValuesTensorName())
			add(c.GetIndicesTensorName())
			add(c.GetDenseShapeTensorName())
		}
		for _, part := range info.GetCompositeTensor().GetComponents() {
			add(part.GetName())
		}
	}
	return names
}

func outputsNamed(g *tf.Graph, names []string) ([]tf.Output, error) {
	out := make([]tf.Output, len(names))
	for i, name := range names {
		var err error
		if out[i], err = g.Output(name); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// fetchesNamed returns tensors ("x:0") and operations ("x"); without names all
// operations that no other one uses.
func fetchesNamed(g *tf.Graph, names []string) ([]tf.Fetchable, error) {
	var out []tf.Fetchable
	for _, name := range names {
		f, err := fetchNamed(g, name)
		if err != nil {
			return nil, err
		}
		out = append(out, f)
	}
	if len(names) > 0 {
		return out, nil
	}
	if out = ends(g); len(out) == 0 {
		return nil, tf.Errorf(tf.InvalidArgument, "the graph must have an operation that can be fetched")
	}
	return out, nil
}

func fetchNamed(g *tf.Graph, name string) (tf.Fetchable, error) {
	if strings.Contains(name, ":") {
		return g.Output(name)
	}
	if op := g.Operation(name); op != nil {
		return op, nil
	}
	return nil, tf.Errorf(tf.NotFound, "the graph must have what is fetched: there is no operation %q", name)
}

// ends returns the operations of which no other one uses anything, as far as they can
// be fetched.
func ends(g *tf.Graph) (out []tf.Fetchable) {
	used := map[*tf.Operation]bool{}
	for _, op := range g.Operations() {
		for _, x := range op.Inputs() {
			used[x.Operation()] = true
		}
		for _, c := range op.ControlInputs() {
			used[c] = true
		}
	}
	for _, op := range g.Operations() {
		if !used[op] && op.CheckFetchable() == nil {
			out = append(out, op)
		}
	}
	return out
}
