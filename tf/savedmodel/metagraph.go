package savedmodel

import (
	"maps"
	"slices"

	"google.golang.org/protobuf/proto"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/pb"
)

// proto returns mg with a saver for its variables, which it also returns.
func (mg *MetaGraph) proto(files *assetFiles) (*pb.MetaGraphDef, []stored, error) {
	g, vars := mg.graph(), mg.vars
	if vars == nil {
		var err error
		if vars, err = variablesOf(g); err != nil {
			return nil, nil, err
		}
	}
	p, err := g.MetaGraphProto(tf.MetaGraphOptions{Tags: mg.Tags, ClearDevices: mg.ClearDevices})
	if err != nil {
		return nil, nil, err
	}
	maps.Copy(p.CollectionDef, mg.colls)
	p.ObjectGraphDef = mg.objects
	if err := addSaver(p, vars); err != nil {
		return nil, nil, err
	}
	if err := mg.addSignatures(p); err != nil {
		return nil, nil, err
	}
	if err := mg.addAssets(p, files); err != nil {
		return nil, nil, err
	}
	if !mg.KeepDefaults {
		stripDefaults(p)
	}
	return p, vars, nil
}

func (mg *MetaGraph) addSignatures(p *pb.MetaGraphDef) error {
	p.SignatureDef = map[string]*pb.SignatureDef{}
	for _, name := range slices.Sorted(maps.Keys(mg.Signatures)) {
		def, err := mg.Signatures[name].proto(mg.graph())
		if err != nil {
			return tf.Errorf(tf.CodeOf(err), "signature %q: %s", name, tf.AsError(err).Message())
		}
		p.SignatureDef[name] = def
	}
	maps.Copy(p.SignatureDef, mg.defs)
	if err := mg.addOp(p, initKey, mainOpCollection, mg.Init); err != nil {
		return err
	}
	return mg.addOp(p, trainKey, trainCollection, mg.Train)
}

// addOp names an operation in a signature, where TensorFlow 2 looks for it, and in
// a collection, where TensorFlow 1 does.
func (mg *MetaGraph) addOp(p *pb.MetaGraphDef, key, collection string, op *tf.Operation) error {
	delete(p.CollectionDef, collection) // of the model that the graph came from
	delete(p.CollectionDef, legacyInitOp)
	if op == nil {
		return nil
	}
	if err := op.Err(); err != nil {
		return err
	}
	if op.Graph() != mg.graph() {
		return tf.Errorf(tf.InvalidArgument, "the operation %s must belong to the graph that is saved, %s does not", key, op.Name)
	}
	info := &pb.TensorInfo{Encoding: &pb.TensorInfo_Name{Name: op.Name}, TensorShape: &pb.TensorShapeProto{UnknownRank: true}}
	p.SignatureDef[key] = &pb.SignatureDef{Outputs: map[string]*pb.TensorInfo{key: info}}
	p.CollectionDef[collection] = &pb.CollectionDef{Kind: &pb.CollectionDef_NodeList_{NodeList: &pb.CollectionDef_NodeList{Value: []string{op.Name}}}}
	return nil
}

func (mg *MetaGraph) addAssets(p *pb.MetaGraphDef, files *assetFiles) error {
	delete(p.CollectionDef, assetsCollection)
	list := &pb.CollectionDef_AnyList{}
	for _, a := range mg.Assets {
		def, err := mg.asset(a, files)
		if err != nil {
			return tf.Errorf(tf.CodeOf(err), "asset %q: %s", a.File, tf.AsError(err).Message())
		}
		packed, err := pb.PackAny(def)
		if err != nil {
			return err
		}
		p.AssetFileDef, list.Value = append(p.AssetFileDef, def), append(list.Value, packed)
	}
	if len(mg.Assets) > 0 {
		p.CollectionDef[assetsCollection] = &pb.CollectionDef{Kind: &pb.CollectionDef_AnyList_{AnyList: list}}
	}
	return nil
}

func (mg *MetaGraph) asset(a Asset, files *assetFiles) (*pb.AssetFileDef, error) {
	if err := belongs(mg.graph(), a.Tensor); err != nil {
		return nil, err
	}
	if a.Tensor.DType() != tf.String {
		return nil, tf.Errorf(tf.InvalidArgument, "its tensor must be a string, %s is %v", a.Tensor.Name(), a.Tensor.DType())
	}
	name, err := files.add(a.File)
	if err != nil {
		return nil, err
	}
	return &pb.AssetFileDef{TensorInfo: &pb.TensorInfo{Encoding: &pb.TensorInfo_Name{Name: a.Tensor.Name()}}, Filename: name}, nil
}

// belongs reports as an error that x is no output of g.
func belongs(g *tf.Graph, x tf.Output) error {
	if err := x.Err(); err != nil {
		return err
	}
	if x.IsZero() || x.Graph() != g {
		return tf.Errorf(tf.InvalidArgument, "tensors must belong to the graph that is saved, %s does not", x.Name())
	}
	return nil
}

// stripDefaults removes attributes that have their default values, so that
// versions of TensorFlow that do not know newer ones read the graph, too.
func stripDefaults(p *pb.MetaGraphDef) {
	for _, n := range p.GetGraphDef().GetNode() {
		stripNode(n)
	}
	for _, f := range p.GetGraphDef().GetLibrary().GetFunction() {
		for _, n := range f.GetNodeDef() {
			stripNode(n)
		}
	}
	p.MetaInfoDef.StrippedDefaultAttrs = true
}

func stripNode(n *pb.NodeDef) {
	def := core.Lookup(n.GetOp())
	if def == nil {
		return
	}
	for i := range def.AttrDefs {
		d := &def.AttrDefs[i]
		if v := n.Attr[d.Name]; v != nil && d.Default != nil && v.GetPlaceholder() == "" && isDefault(v, d) {
			delete(n.Attr, d.Name)
		}
	}
}

// isDefault reports whether v is the default of an attribute.
func isDefault(v *pb.AttrValue, d *core.AttrDef) bool {
	got, err := core.AttrFromProto(v, d)
	if err != nil {
		return false
	}
	a, err := core.AttrsProto(core.Attrs{"a": got})
	if err != nil {
		return false
	}
	b, err := core.AttrsProto(core.Attrs{"a": d.Default})
	return err == nil && proto.Equal(a["a"], b["a"])
}
