package train

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/pb"
)

// SaverOptions say what a [Saver] saves and how. The zero value saves all
// global variables and what the collection SaveableObjects has.
type SaverOptions struct {
	// Vars are saved under their own names; parts of one variable (see
	// vars.GetPartitioned) as slices of the whole.
	Vars []*tf.Variable
	// Named are saved under the names of the map, instead of Vars. A part of a
	// larger variable has to be whole in the map: see NamedParts.
	Named map[string]*tf.Variable
	// NamedParts are variables cut into parts, by the name of the whole.
	NamedParts map[string][]*tf.Variable
	// Saveables are saved beside variables.
	Saveables []*Saveable
	// Reshape restores values of another shape but as many elements.
	Reshape bool
	// Sharded writes one file per device, from that device. It has to be the
	// case when variables are on several tasks that share no disk but the
	// checkpoint's.
	Sharded bool
	// MaxToKeep is how many checkpoints are kept, at most math.MaxInt32; 0: 5, negative: all.
	MaxToKeep int
	// KeepEveryHours keeps, beside those, one for every so many hours of
	// training; 0: 10,000.
	KeepEveryHours float64
	// Name is the scope of the operations, "save" if empty.
	Name string
	// RestoreSequentially reads one variable after the other, which takes less
	// memory.
	RestoreSequentially bool
	// AllowEmpty makes a saver without variables one that does nothing.
	AllowEmpty bool
	// V1 writes the older format.
	V1 bool
	// PadStepNumber writes steps with eight digits, so that names sort.
	PadStepNumber bool
	// SaveRelativePaths writes paths to the state file that stay right when the
	// directory moves.
	SaveRelativePaths bool
}

// A Saver saves variables to checkpoints and restores them: TensorFlow's files,
// by operations of TensorFlow's names, so that Python restores what Go saved
// and drives the saver of a MetaGraph. It may be used by several goroutines; one
// at a time saves.
type Saver struct {
	g       *tf.Graph
	o       SaverOptions
	items   []item            // for eager graphs
	waiting map[string]string // keys of the values that wait for variables of an eager graph, by their names
	def     *pb.SaverDef
	started time.Time

	// turn holds one element while a save is under way: saves never overlap. What a
	// save alone uses is guarded by it.
	turn    chan struct{}
	async   asyncNodes
	objects objectNodes
	swept   map[string]bool

	mu       sync.Mutex // guards the list of checkpoints; taken after turn
	last     []saved
	doomed   []saved
	nextKeep time.Time
}

// newSaver returns a saver without operations.
func newSaver(g *tf.Graph, o SaverOptions, items []item, def *pb.SaverDef) *Saver {
	s := &Saver{g: g, o: o, items: items, def: def, started: time.Now(), turn: make(chan struct{}, 1), swept: map[string]bool{}}
	s.nextKeep = s.keepAfter(s.started)
	return s
}

// saved is a checkpoint that the state file lists.
type saved struct {
	path string
	at   time.Time
}

// Savers is the collection of a graph's savers, SaveableObjects that of what is
// saved beside variables.
const (
	Savers          = "savers"
	SaveableObjects = "saveable_objects"
)

// NewSaver adds the operations of a saver to g and returns it. In an eager graph
// they are computed whenever the saver saves or restores, and a saver of all variables saves
// those that there are then. A graph without variables is an error (InvalidArgument) unless AllowEmpty is set.
func NewSaver(g *tf.Graph, o SaverOptions) (*Saver, error) {
	if g == nil {
		return nil, noGraph("a saver")
	}
	if err := o.checkScope(g); err != nil {
		return nil, err
	}
	items, err := itemsOf(g, &o)
	if err != nil {
		return nil, err
	}
	def, err := o.proto()
	if err != nil {
		return nil, err
	}
	s := newSaver(g, o, items, def)
	if len(items) == 0 {
		if !o.AllowEmpty {
			return nil, tf.Errorf(tf.InvalidArgument, "No variables to save")
		}
		return s, nil
	}
	if g.IsEager() {
		return s, nil
	}
	b := builder{g: g, o: &o}
	return s, b.build(items, s.def)
}

// proto returns what a SaverDef says beside the names of operations.
func (o *SaverOptions) proto() (*pb.SaverDef, error) {
	if o.MaxToKeep > math.MaxInt32 {
		return nil, tf.Errorf(tf.InvalidArgument, "MaxToKeep must be at most %d, and negative to keep all checkpoints, got %d", math.MaxInt32, o.MaxToKeep)
	}
	p := &pb.SaverDef{MaxToKeep: int32(max(o.MaxToKeep, 0)), Sharded: o.Sharded, KeepCheckpointEveryNHours: float32(o.KeepEveryHours), Version: pb.SaverDef_V2}
	if o.MaxToKeep == 0 {
		p.MaxToKeep = 5
	}
	if o.KeepEveryHours == 0 {
		p.KeepCheckpointEveryNHours = 10000
	}
	if o.V1 {
		p.Version = pb.SaverDef_V1
	}
	return p, nil
}

// SaverFrom returns the saver that def describes, whose operations are in g.
func SaverFrom(g *tf.Graph, def *pb.SaverDef) (*Saver, error) {
	if g == nil {
		return nil, noGraph("a saver")
	}
	if def.GetSaveTensorName() == "" {
		return nil, tf.Errorf(tf.InvalidArgument, "saver_def must specify the save_tensor_name: %v", def)
	}
	if def.GetRestoreOpName() == "" {
		return nil, tf.Errorf(tf.InvalidArgument, "saver_def must specify the restore_op_name: %v", def)
	}
	s := newSaver(g, SaverOptions{Sharded: def.GetSharded(), V1: def.GetVersion() == pb.SaverDef_V1}, nil, proto.CloneOf(def))
	_, err := s.nodes()
	return s, err
}

// Proto returns the saver in the form in which MetaGraphs hold it.
func (s *Saver) Proto() *pb.SaverDef { return proto.CloneOf(s.def) }

// saverNodes are what a saver runs.
type saverNodes struct {
	filename, save tf.Output
	restore        *tf.Operation
}

func (s *Saver) nodes() (n saverNodes, err error) {
	if n.filename, err = s.g.Output(s.def.GetFilenameTensorName()); err != nil {
		return n, err
	}
	if n.save, err = s.g.Output(s.def.GetSaveTensorName()); err != nil {
		return n, err
	}
	if n.restore = s.g.Operation(s.def.GetRestoreOpName()); n.restore == nil {
		err = tf.Errorf(tf.NotFound, "The name '%s' refers to an Operation not in the graph.", s.def.GetRestoreOpName())
	}
	return n, err
}

// empty reports whether the saver has nothing to save.
func (s *Saver) empty() bool { return len(s.items) == 0 && s.def.GetSaveTensorName() == "" }

// SaveOptions adjust one save.
type SaveOptions struct {
	// LatestFilename is the name of the state file, "checkpoint" if empty.
	LatestFilename string
	// MetaGraphSuffix ends the name of the MetaGraph's file, "meta" if empty.
	MetaGraphSuffix string
	NoMetaGraph     bool // write no MetaGraph
	NoState         bool // write no state file; the checkpoint is never deleted
}

// SaveStep is [Saver.Save] under the name path-step.
func (s *Saver) SaveStep(ctx context.Context, r tf.StepRunner, path string, step int64, o ...SaveOptions) (string, error) {
	if err := cmp.Or(s.ready(ctx, "a save"), checkStep(step)); err != nil {
		return "", err
	}
	return s.save(ctx, r, path, s.stepFile(path, step), o)
}

// Save saves the variables of a session under the name path, notes that in
// the state file, deletes a checkpoint that is too old and writes the MetaGraph.
// It returns the name that Restore takes. For an eager graph r is nil.
func (s *Saver) Save(ctx context.Context, r tf.StepRunner, path string, o ...SaveOptions) (string, error) {
	if err := s.ready(ctx, "a save"); err != nil {
		return "", err
	}
	if err := s.checkPath(path, o); err != nil {
		return "", err
	}
	return s.save(ctx, r, path, path, o)
}

// scope is the name of the scope of the operations.
func (s *Saver) scope() string {
	if s.o.Name == "" {
		return "save"
	}
	return s.o.Name
}

// checkPath refuses the name of the state file, and what names no file: such a
// checkpoint would be written, but LatestCheckpoint would not find it.
func (s *Saver) checkPath(path string, o []SaveOptions) error {
	if path == "" || strings.HasSuffix(path, "/") {
		return tf.Errorf(tf.InvalidArgument, "the name of a checkpoint must end with that of its files, DIR/NAME, got %q", path)
	}
	if opt := saveOptions(o); filepath.Base(path) == opt.LatestFilename && !s.o.Sharded {
		return tf.Errorf(tf.InvalidArgument, "'latest_filename' collides with 'save_path': '%s' and '%s'", opt.LatestFilename, path)
	}
	return nil
}

// saveOptions fills in what is not given.
func saveOptions(o []SaveOptions) (out SaveOptions) {
	if len(o) > 0 {
		out = o[0]
	}
	if out.LatestFilename == "" {
		out.LatestFilename = "checkpoint"
	}
	if out.MetaGraphSuffix == "" {
		out.MetaGraphSuffix = "meta"
	}
	return out
}

// check refuses a state file outside of the checkpoint's directory.
func (o *SaveOptions) check() error {
	if filepath.Base(o.LatestFilename) != o.LatestFilename {
		return tf.Errorf(tf.InvalidArgument, "'latest_filename' must not contain path components: %s", o.LatestFilename)
	}
	return nil
}

func (s *Saver) save(ctx context.Context, r tf.StepRunner, path, file string, opts []SaveOptions) (string, error) {
	o := saveOptions(opts)
	if err := o.check(); err != nil {
		return "", err
	}
	if err := s.begin(ctx); err != nil {
		return "", err
	}
	defer s.end()
	return s.finish(path, file, o, func() (string, error) { return s.write(ctx, r, file) })
}

// begin waits until no other save is under way; end lets the next one begin.
func (s *Saver) begin(ctx context.Context) error {
	if err := ended(ctx); err != nil {
		return err
	}
	select {
	case s.turn <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ended(ctx)
	}
}

// ended returns the error of what ctx has ended, nil while it has not.
func ended(ctx context.Context) error {
	if err := core.NeedContext(ctx, "a saver"); err != nil || ctx.Err() == nil {
		return err
	}
	return tf.AsError(context.Cause(ctx))
}

func (s *Saver) end() { <-s.turn }

// finish writes a checkpoint, then the state file, then the MetaGraph.
func (s *Saver) finish(path, file string, o SaveOptions, write func() (string, error)) (string, error) {
	if s.empty() {
		return "", s.saveMeta(file, o)
	}
	s.sweep(path)
	name, err := write()
	if err != nil {
		return "", missingParent(path, err)
	}
	if !o.NoState {
		if err := s.note(dirOf(path), name, o); err != nil {
			return "", err
		}
	}
	return name, s.saveMeta(file, o)
}

// write runs the operations that save and returns the name that they give.
func (s *Saver) write(ctx context.Context, r tf.StepRunner, file string) (string, error) {
	if s.g.IsEager() {
		return s.writeNow(r, file)
	}
	if isNil(r) {
		return "", tf.Errorf(tf.InvalidArgument, "variables of a graph are saved from a session, got none")
	}
	if err := s.checkGraph(r); err != nil {
		return "", err
	}
	n, err := s.nodes()
	if err != nil {
		return "", err
	}
	out, err := r.RunStep(ctx, map[tf.Output]tf.Value{n.filename: tf.Scalar(file)}, n.save)
	if err != nil {
		return "", err
	}
	return tf.Data[string](out[0])[0], nil
}

// missingParent says so if it is why a checkpoint could not be written.
func missingParent(path string, err error) error {
	if code := tf.CodeOf(err); code != tf.FailedPrecondition && code != tf.NotFound || strings.Contains(err.Error(), "nitialized") {
		return err // of a variable without a value, perhaps
	}
	if info, e := os.Stat(core.LocalPath(dirOf(path))); e == nil && info.IsDir() {
		return err
	}
	return &tf.Error{Code: tf.InvalidArgument, Msg: fmt.Sprintf("Parent directory of %s doesn't exist, can't save.", path), Err: err}
}

// saveMeta writes the MetaGraph beside a checkpoint.
func (s *Saver) saveMeta(file string, o SaveOptions) error {
	if o.NoMetaGraph || s.g.IsEager() {
		return nil
	}
	return s.ExportMetaGraph(file + "." + o.MetaGraphSuffix)
}
