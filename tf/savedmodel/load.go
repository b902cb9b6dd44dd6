package savedmodel

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime/debug"
	"sync"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
	_ "github.com/gorge-tf/gorge/tf/ops/all" // a model may use any operation
	"github.com/gorge-tf/gorge/tf/pb"
	"github.com/gorge-tf/gorge/tf/session"
)

// Options says what to load and how. The zero value loads the MetaGraph of tag
// "serve" into a session in this process.
type Options struct {
	// Tags of the MetaGraph; nil: {"serve"}. The MetaGraph must have exactly
	// these.
	Tags []string
	// Session adjusts the session that runs the model.
	Session []session.Option
	// KeepDevices leaves nodes on the devices that the model names. By default
	// their names are dropped: they are those of the machine that saved the model.
	KeepDevices bool
	// NoFold keeps batch normalizations with constant parameters apart from the
	// convolutions before them. By default they are computed in advance, as parts of
	// the weights: results differ in the last digits, and the output of such a
	// convolution, which no signature names, is not that of the model.
	// [Model.Resave] writes the graph as it runs: with NoFold as it was saved.
	NoFold bool
	// NoFreeze makes each run of a signature read the variables. By default a signature
	// that changes none has their values as constants, which share the memory of the
	// variables, and what depends on them only is computed in advance, batch
	// normalizations too unless NoFold says otherwise. A run that begins after a
	// variable was written sees what was written, see session.Config.FreezeVariables.
	NoFreeze bool
	// Runs is how many runs of signatures are under way at once, of those that leave
	// the model as it is; the others wait, in order, until their context ends. More
	// runs than processors need more memory and end no sooner. 0: as many as there are
	// processors, but at least two; negative: any number.
	Runs int
}

// A Model is a MetaGraph of a SavedModel, restored and ready to run. All methods
// may be called from any goroutine.
type Model struct {
	dir   string
	meta  metaGraph
	graph *tf.Graph
	s     *session.Session
	sigs  map[string]*Signature
	turns turns
	// temporary is the directory that Close removes, "" if there is none.
	temporary string

	// mu guards functions and objects, and is held while calls are added.
	mu        sync.Mutex
	functions map[string]*Signature    // by the names that they were asked for
	objects   map[int32]tf.Output      // what functions capture
	capturing int                      // how many of objects are being made, each for the one before
	additions map[string]*tf.Operation // to the graph, see added
}

// added returns what add adds to the graph for an operation or a node of that name. It is
// added when it is first asked for: what is called again and again must not make the graph
// larger each time. The caller holds m.mu.
func (m *Model) added(what, name string, add func() *tf.Operation) *tf.Operation {
	key := additionKey(what, name)
	op := m.additions[key]
	if op == nil {
		op = add()
		m.additions[key] = op
	}
	return op
}

func additionKey(what, name string) string { return what + " " + name }

// Load reads the SavedModel in a directory, restores its variables and runs its
// initialization. Errors are NotFound when there is no SavedModel in dir or none
// of its MetaGraphs has the tags, DataLoss when a file is damaged, and
// Unimplemented when the model needs what Gorge does not have; that error lists
// all of it. Close ends the use of the model.
func Load(ctx context.Context, dir string, o Options) (*Model, error) {
	if err := core.NeedContext(ctx, "Load"); err != nil {
		return nil, err
	}
	dir = core.LocalPath(dir)
	saved, err := read(dir, readSharing)
	if err != nil {
		return nil, err
	}
	tags := o.Tags
	if tags == nil {
		tags = []string{Serve}
	}
	mg, err := Find(saved, tags...)
	if err != nil {
		return nil, err
	}
	l := &loader{dir: dir, mg: mg, o: o}
	if err := l.load(ctx); err != nil {
		return nil, inModel(dir, err)
	}
	return l.m, nil
}

// LoadMetaGraph is Load for a MetaGraph that the program has read itself and gives
// away; dir has its variables and assets.
func LoadMetaGraph(ctx context.Context, dir string, mg *pb.MetaGraphDef, o Options) (*Model, error) {
	if err := core.NeedContext(ctx, "LoadMetaGraph"); err != nil {
		return nil, err
	}
	l := &loader{dir: core.LocalPath(dir), mg: mg, o: o}
	if err := l.load(ctx); err != nil {
		return nil, inModel(dir, err)
	}
	return l.m, nil
}

// inModel says in which model err has occurred.
func inModel(dir string, err error) error {
	e := *tf.AsError(err)
	e.Msg = "SavedModel " + dir + ": " + e.Message() // that of its cause, if it has none
	if e.Plain != "" {
		e.Plain = "SavedModel " + dir + ": " + e.Plain
	}
	return &e
}

// loader loads one MetaGraph, step by step.
type loader struct {
	dir      string
	mg       *pb.MetaGraphDef
	o        Options
	m        *Model
	needs    *needs
	restores *objectRestore // nil: the restore operation sets all variables
	feeds    session.Feeds  // the paths of assets
	large    bool           // there is a large checkpoint
}

// load does the steps in the order of TensorFlow's loader. What can be refused is
// refused before anything runs.
func (l *loader) load(ctx context.Context) (err error) {
	if !l.o.NoFold {
		foldNorms(ctx, l.mg)
	}
	upgrade(l.mg.GetGraphDef())
	noteGradients(l.mg)
	if l.needs, err = analyze(l.mg); err != nil {
		return err
	}
	if err := l.needs.refuse(); err != nil {
		return err
	}
	l.restores = planRestore(l.mg, l.needs)
	if err := l.build(); err != nil {
		return err
	}
	defer func() {
		if err != nil {
			l.m.s.Close()
		}
	}()
	for _, step := range []func(context.Context) error{l.restore, l.initialize} {
		if err := step(ctx); err != nil {
			return err
		}
	}
	if l.large {
		l.m.meta.pack()
		l.giveBack()
	}
	return nil
}

// settle lets the session lower and place the graph, for which it reads the functions, before much data is read:
// what that leaves behind would be beside the variables. x is an output of the graph.
func (l *loader) settle(ctx context.Context, x tf.Output) error {
	if !l.large {
		return nil
	}
	_, err := l.m.s.Run(ctx, nil, x)
	l.giveBack()
	return err
}

// giveBack encodes the functions and gives memory back that is not in use.
func (l *loader) giveBack() {
	library, _ := l.m.graph.Library()
	library.Pack()
	debug.FreeOSMemory()
}

// build makes the graph and its session, and takes the graph away from the
// MetaGraph: constants would be in memory twice.
func (l *loader) build() error {
	l.needs.prepare(l.o.KeepDevices)
	if err := l.nameAssets(); err != nil {
		return err
	}
	g, err := l.importGraph()
	if err != nil {
		return err
	}
	l.mg.GraphDef = nil
	l.m = &Model{dir: l.dir, meta: metaGraph{def: l.mg}, graph: g, functions: map[string]*Signature{}, objects: map[int32]tf.Output{}, additions: map[string]*tf.Operation{}, turns: newTurns(l.o.Runs)}
	l.m.bindSignatures(l.needs)
	l.m.bindObjects(l.needs)
	l.needs = nil // it has the nodes, with all constants
	if err := l.feedAssets(); err != nil {
		return err
	}
	s, err := session.New(g, append([]session.Option{session.With(l.o.config())}, l.o.Session...)...)
	l.m.s = s
	return err
}

// config is what the session of a model has unless Session says otherwise.
func (o *Options) config() session.Config {
	return session.Config{SoftPlacement: true, FreezeVariables: !o.NoFreeze, FoldNorms: !o.NoFreeze && !o.NoFold}
}

// importGraph makes the graph. Where nodes that nothing needs, those of training
// for example, are not as this release wants them, it makes it of the others.
func (l *loader) importGraph() (*tf.Graph, error) {
	g := tf.NewGraph()
	if g.ImportProto(l.mg.GetGraphDef(), tf.ImportOptions{Adopt: true}) == nil {
		return g, nil
	}
	l.needs.keep(func(name string) bool { return l.needs.used[name] })
	l.needs.prepare(l.o.KeepDevices) // colocations with what has gone
	g = tf.NewGraph()
	return g, g.ImportProto(l.mg.GetGraphDef(), tf.ImportOptions{})
}

// feedAssets finds the nodes that are fed the paths of assets.
func (l *loader) feedAssets() error {
	l.feeds = session.Feeds{}
	assets, err := assetsOf(l.mg)
	if err != nil {
		return err
	}
	for _, a := range assets {
		x, err := l.m.graph.Output(a.GetTensorInfo().GetName())
		if err != nil {
			return tf.Errorf(tf.InvalidArgument, "asset %q: %s", a.GetFilename(), tf.AsError(err).Message())
		}
		name, err := localAsset(a.GetFilename())
		if err != nil {
			return err
		}
		l.feeds[x] = tf.Scalar(filepath.Join(l.dir, assetsDir, name))
	}
	return nil
}

// nameAssets puts the paths of assets into the constants that stand for them: a
// signature may read the file, and what is fed reaches the steps of loading only.
func (l *loader) nameAssets() error {
	assets, err := assetsOf(l.mg)
	if err != nil {
		return err
	}
	for _, a := range assets {
		n := l.needs.nodes[nodeOf(a.GetTensorInfo().GetName())]
		if n == nil || core.RoleOf(n.GetOp()) != core.Constant {
			continue
		}
		name, err := localAsset(a.GetFilename())
		if err != nil {
			return err
		}
		n.Attr["value"] = &pb.AttrValue{Value: &pb.AttrValue_Tensor{Tensor: core.TensorProto(core.Scalar(filepath.Join(l.dir, assetsDir, name)))}}
	}
	return nil
}

// localAsset refuses names that lead out of the directory of assets.
func localAsset(name string) (string, error) {
	local, err := filepath.Localize(name)
	if err != nil {
		return "", tf.Errorf(tf.InvalidArgument, "the file of an asset must lie in the model's directory %s, got %q", assetsDir, name)
	}
	return local, nil
}

// assetsOf returns the assets of a MetaGraph: those of its own field, or of the
// collection in which older models have them.
func assetsOf(mg *pb.MetaGraphDef) ([]*pb.AssetFileDef, error) {
	if a := mg.GetAssetFileDef(); len(a) > 0 {
		return a, nil
	}
	var out []*pb.AssetFileDef
	for _, packed := range mg.GetCollectionDef()[assetsCollection].GetAnyList().GetValue() {
		a := &pb.AssetFileDef{}
		if err := pb.UnpackAny(packed, a); err != nil {
			return nil, tf.Errorf(tf.DataLoss, "collection %s must hold AssetFileDefs: %v", assetsCollection, err)
		}
		out = append(out, a)
	}
	return out, nil
}

// restore sets the variables from the checkpoint, if the model has one.
func (l *loader) restore(ctx context.Context) error {
	if l.mg.GetSaverDef() == nil && l.restores == nil {
		return nil
	}
	prefix := l.m.prefix()
	if _, err := os.Stat(prefix + ".index"); errors.Is(err, fs.ErrNotExist) {
		return l.withoutVariables(prefix)
	} else if err != nil {
		return core.FileError(prefix+".index", err)
	}
	l.large = largeCheckpoint(prefix)
	if l.restores != nil {
		return l.restores.run(ctx, l, prefix)
	}
	if l.large {
		debug.FreeOSMemory()
	}
	return l.runRestore(ctx, prefix)
}

// runRestore runs the restore operation of the MetaGraph's saver.
func (l *loader) runRestore(ctx context.Context, prefix string) error {
	d := l.mg.GetSaverDef()
	if d.GetRestoreOpName() == "" {
		return nil
	}
	op := l.m.graph.Operation(d.GetRestoreOpName())
	if op == nil {
		return tf.Errorf(tf.InvalidArgument, "the graph must have the saver's restore operation %q", d.GetRestoreOpName())
	}
	name, err := l.m.graph.Output(d.GetFilenameTensorName())
	if err != nil {
		return tf.Errorf(tf.InvalidArgument, "the graph must have the saver's filename tensor %q", d.GetFilenameTensorName())
	}
	feeds := session.Feeds{name: tf.Scalar(prefix)}
	for x, v := range l.feeds {
		feeds[x] = v
	}
	_, err = l.m.s.Run(ctx, feeds, op)
	return err
}

// prefix returns that of the model's checkpoint.
func (m *Model) prefix() string { return filepath.Join(m.dir, filepath.FromSlash(variablesPrefix)) }

// Session returns the session that holds the model's variables and tables, for
// what signatures do not do. Close closes it.
func (m *Model) Session() *session.Session { return m.s }

// Graph returns the model's graph.
func (m *Model) Graph() *tf.Graph { return m.graph }

// MetaGraph returns what the model says of itself, without its graph: the program
// must not change it.
func (m *Model) MetaGraph() *pb.MetaGraphDef { return m.meta.whole() }

// Dir returns the directory of the model.
func (m *Model) Dir() string { return m.dir }

// Close ends the use of the model and gives its memory back.
func (m *Model) Close() error {
	err := m.s.Close()
	if m.temporary != "" {
		if rerr := os.RemoveAll(m.temporary); err == nil && rerr != nil {
			err = core.FileError(m.temporary, rerr)
		}
	}
	return err
}
