package savedmodel

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"google.golang.org/protobuf/encoding/prototext"
	"google.golang.org/protobuf/proto"

	"github.com/gorge-tf/gorge/internal/bundle"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/pb"
	"github.com/gorge-tf/gorge/tf/session"
)

// A MetaGraph is a graph to save, with its entry points.
type MetaGraph struct {
	// Tags by which the MetaGraph is found; nil: {"serve"}.
	Tags []string
	// Session has the graph and the values of its variables. The first MetaGraph
	// of a SavedModel must have one: all others share its variables.
	Session *session.Session
	// Graph is the graph of a MetaGraph without Session.
	Graph *tf.Graph
	// Signatures by name, see [DefaultSignature].
	Signatures map[string]SignatureSpec
	// Assets are files that the graph reads.
	Assets []Asset
	// Init is run by the loader of the model, after the variables have been
	// restored: it initializes tables, for example.
	Init *tf.Operation
	// Train does a step of training. Loading a model does not run it.
	Train *tf.Operation
	// KeepDefaults writes attributes of nodes also where they have their default
	// values. Without them older versions of TensorFlow read the model, too.
	KeepDefaults bool
	// ClearDevices leaves out where nodes run.
	ClearDevices bool

	// Of a model that was loaded: its signatures, collections and variables.
	defs  map[string]*pb.SignatureDef
	colls map[string]*pb.CollectionDef
	vars  []stored // nil: those of the graph's collection
	// objects is the graph of objects, nil if there is none.
	objects *pb.SavedObjectGraph
}

// graph returns the graph of mg.
func (mg *MetaGraph) graph() *tf.Graph {
	if mg.Session != nil {
		return mg.Session.Graph()
	}
	return mg.Graph
}

// An Asset is a file that a graph reads, such as a vocabulary. When the model is
// loaded, Tensor, a string, is fed the path of the file in the model's directory in
// the steps of loading; a constant has that path as its value from then on.
type Asset struct {
	Tensor tf.Output
	File   string
}

// A Builder writes a SavedModel of one or several MetaGraphs that share variables
// and assets. The zero value is ready to use.
type Builder struct {
	// AsText writes saved_model.pbtxt instead of saved_model.pb.
	AsText bool

	graphs []MetaGraph
}

// Add adds a MetaGraph, and returns b.
func (b *Builder) Add(mg MetaGraph) *Builder {
	if mg.Tags == nil {
		mg.Tags = []string{Serve}
	}
	b.graphs = append(b.graphs, mg)
	return b
}

// SimpleSave saves the graph of a session, for serving, with one signature, of name
// [DefaultSignature] and method [PredictMethod]: tf.saved_model.simple_save. Like that it
// leaves out where nodes run: who loads the model has no tasks of the session's cluster.
func SimpleSave(ctx context.Context, s *session.Session, dir string, inputs, outputs map[string]tf.Output) error {
	mg := MetaGraph{Session: s, Signatures: map[string]SignatureSpec{DefaultSignature: Predict(inputs, outputs)}, ClearDevices: true}
	return new(Builder).Add(mg).Save(ctx, dir)
}

// Save writes the SavedModel to a directory, which must not exist or be empty. The
// directory gets its name once it is complete.
func (b *Builder) Save(ctx context.Context, dir string) error {
	if err := core.NeedContext(ctx, "Save"); err != nil {
		return err
	}
	dir = core.LocalPath(dir)
	if err := b.check(dir); err != nil {
		return err
	}
	parent := filepath.Dir(filepath.Clean(dir))
	if err := os.MkdirAll(parent, 0o777); err != nil {
		return core.FileError(parent, err)
	}
	tmp, err := os.MkdirTemp(parent, "."+filepath.Base(dir)+".tmp*")
	if err != nil {
		return core.FileError(parent, err)
	}
	defer os.RemoveAll(tmp) // fails once it has been renamed
	if err := b.write(ctx, tmp); err != nil {
		return err
	}
	return rename(tmp, dir)
}

// rename gives a complete directory its name and the rights that new directories
// have. Another program may have taken the name since it was checked.
func rename(tmp, dir string) error {
	if err := os.Chmod(tmp, 0o755); err != nil {
		return core.FileError(dir, err)
	}
	err := os.Remove(dir)
	if err == nil || os.IsNotExist(err) {
		err = os.Rename(tmp, dir)
	}
	switch {
	case err == nil:
		return nil
	case errors.Is(err, fs.ErrExist): // what it has is no empty directory
		return taken(dir)
	default:
		return core.FileError(dir, err)
	}
}

func taken(dir string) error {
	return tf.Errorf(tf.AlreadyExists, "the directory of a SavedModel must be new or empty, %s is not", dir)
}

// check refuses what can be refused before anything is written.
func (b *Builder) check(dir string) error {
	if len(b.graphs) == 0 {
		return tf.Errorf(tf.FailedPrecondition, "a SavedModel must have a MetaGraph: add one before it is saved")
	}
	if b.graphs[0].Session == nil {
		return tf.Errorf(tf.InvalidArgument, "the first MetaGraph of a SavedModel must have a session, which has the values of variables")
	}
	for i := range b.graphs {
		if b.graphs[i].graph() == nil {
			return tf.Errorf(tf.InvalidArgument, "MetaGraph %d must have a session or a graph", i)
		}
	}
	if entries, err := os.ReadDir(dir); err == nil && len(entries) > 0 {
		return taken(dir)
	}
	return nil
}

// write writes all files to a directory.
func (b *Builder) write(ctx context.Context, dir string) error {
	m := &pb.SavedModel{SavedModelSchemaVersion: schemaVersion}
	files := assetFiles{dir: filepath.Join(dir, assetsDir), sources: map[string]string{}}
	var saved []stored
	for i := range b.graphs {
		mg, vars, err := b.graphs[i].proto(&files)
		if err != nil {
			return err
		}
		if i == 0 {
			saved = vars
		}
		m.MetaGraphs = append(m.MetaGraphs, mg)
	}
	if err := writeVariables(ctx, b.graphs[0].Session, saved, filepath.Join(dir, filepath.FromSlash(variablesPrefix))); err != nil {
		return err
	}
	data, err := b.writeModel(dir, m)
	if err != nil {
		return err
	}
	return writeFingerprint(dir, data, m.GetMetaGraphs()[0])
}

// writeModel writes saved_model.pb, or saved_model.pbtxt. It returns the model in
// binary form.
func (b *Builder) writeModel(dir string, m *pb.SavedModel) ([]byte, error) {
	data, err := proto.MarshalOptions{Deterministic: true}.Marshal(m)
	if err != nil {
		return nil, err
	}
	if b.AsText {
		text, err := prototext.MarshalOptions{Multiline: true, Indent: "  ", Resolver: pb.Resolver}.Marshal(m)
		if err != nil {
			return nil, err
		}
		return data, writeFile(filepath.Join(dir, textFile), text)
	}
	return data, writeFile(filepath.Join(dir, binaryFile), data)
}

// writeFile writes a file that outlives a crash of the machine: the directory must not
// get its name before.
func writeFile(name string, data []byte) error { return bundle.WriteFile(name, data) }
