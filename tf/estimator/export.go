package estimator

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/savedmodel"
	"github.com/gorge-tf/gorge/tf/session"
	"github.com/gorge-tf/gorge/tf/train"
)

// ExportOptions adjust [Estimator.ExportSavedModel].
type ExportOptions struct {
	// Mode is what [Estimator.ExportSavedModel] exports the model for; "": [Predict].
	Mode       Mode
	Checkpoint string // the one to export, the latest if it is ""
	// Assets are further files that the graph reads, beside the vocabularies of
	// tables.
	Assets []savedmodel.Asset
	// AssetsExtra are files that are copied to the directory assets.extra, by
	// their paths there.
	AssetsExtra map[string]string
	AsText      bool
	// KeepDevices leaves the names of devices in the graph.
	KeepDevices bool
}

// exported are the modes that a model can be exported for, in the order of their
// MetaGraphs: variables are those of the first one. That of training has all that
// are in checkpoints.
var exported = []struct {
	mode Mode
	tag  string
}{{Train, savedmodel.Train}, {Eval, savedmodel.Eval}, {Predict, savedmodel.Serve}}

// ExportSavedModel writes the model for prediction to a new directory under base,
// named after the time in seconds, and returns its path. Model servers load it.
// Without a checkpoint the model is that of the warm start; without that either the
// error is NotFound. With a mode among the options it is
// [Estimator.ExportAllSavedModels] of that mode.
func (e *Estimator) ExportSavedModel(ctx context.Context, base string, receive ReceiverFn, o ExportOptions) (string, error) {
	return e.ExportAllSavedModels(ctx, base, map[Mode]ReceiverFn{cmp.Or(o.Mode, Predict): receive}, o)
}

// ExportAllSavedModels writes a SavedModel with a MetaGraph for each mode that has a
// receiver function: TensorFlow's experimental_export_all_saved_models. The
// MetaGraphs share their variables, and have the tags savedmodel.Train, Eval and
// Serve. Those of training and evaluation need a receiver with labels, see
// [RawSupervisedReceiver], and have one signature, "train" or "eval", whose outputs
// are loss, predictions/KEY, and metrics/NAME/value and metrics/NAME/update_op. A
// program that has loaded the MetaGraph of training runs its TrainOp.
// ExportOptions.Mode has no effect.
func (e *Estimator) ExportAllSavedModels(ctx context.Context, base string, receivers map[Mode]ReceiverFn, o ExportOptions) (string, error) {
	if err := e.ready(ctx, "an export"); err != nil {
		return "", err
	}
	if err := e.checkExport(receivers, o); err != nil {
		return "", err
	}
	path, err := e.exportedCheckpoint(o.Checkpoint)
	if err != nil {
		return "", err
	}
	x := &export{e: e, o: o, path: path, builder: &savedmodel.Builder{AsText: o.AsText}}
	defer x.close()
	for _, m := range exported {
		if receive := receivers[m.mode]; receive != nil {
			if err := x.add(ctx, m.mode, m.tag, receive); err != nil {
				return "", err
			}
		}
	}
	return x.save(ctx, base)
}

// save writes the SavedModel, with the extra files, to a new directory under base. The
// directory gets its name once all is there: model servers load what has a number.
func (x *export) save(ctx context.Context, base string) (string, error) {
	base = core.LocalPath(base)
	if _, err := x.free(base); err != nil {
		return "", err
	}
	if err := os.MkdirAll(base, 0o777); err != nil {
		return "", core.FileError(base, err)
	}
	tmp, err := os.MkdirTemp(base, ".export.tmp*")
	if err != nil {
		return "", core.FileError(base, err)
	}
	defer os.RemoveAll(tmp) // empty, unless there was an error
	made := filepath.Join(tmp, "model")
	if err := x.builder.Save(ctx, made); err != nil {
		return "", err
	}
	if err := extra(made, x.o.AssetsExtra); err != nil {
		return "", err
	}
	return x.publish(made, base)
}

// publish gives a complete SavedModel its name under base. Exports at the same time may
// find the same name free: the one that is late takes the next.
func (x *export) publish(made, base string) (string, error) {
	const most = 100 // exports at the same time
	for tries := 1; ; tries++ {
		dir, err := x.free(base)
		if err != nil {
			return "", err
		}
		if err = os.Rename(made, dir); err == nil {
			return dir, nil
		}
		if !errors.Is(err, fs.ErrExist) || tries == most {
			return "", core.FileError(dir, err)
		}
	}
}

// free returns a name under base that is not taken.
func (x *export) free(base string) (string, error) {
	dir, err := free(base)
	if err != nil {
		return "", x.e.fault(tf.CodeOf(err), "%s", tf.AsError(err).Message())
	}
	return dir, nil
}

// checkExport refuses what can be refused before a graph is made.
func (e *Estimator) checkExport(receivers map[Mode]ReceiverFn, o ExportOptions) error {
	for _, mode := range slices.Sorted(maps.Keys(receivers)) {
		if mode != Train && mode != Eval && mode != Predict {
			return e.wrong("No valid modes for exporting found. Got %q: the modes are %q, %q and %q", mode, Train, Eval, Predict)
		}
		if receivers[mode] == nil {
			return e.wrong("exporting needs a receiver function, got nil")
		}
	}
	if len(receivers) == 0 {
		return e.wrong("No valid modes for exporting found. Got none: a receiver function is needed")
	}
	for to := range o.AssetsExtra {
		if !filepath.IsLocal(to) {
			return e.wrong("the path of an extra asset must be within assets.extra, got %q", to)
		}
	}
	return nil
}

// exportedCheckpoint returns path, or else the latest checkpoint, or else that of
// the warm start.
func (e *Estimator) exportedCheckpoint(path string) (string, error) {
	path, err := e.checkpoint(path)
	if err != nil {
		return "", err
	}
	if path == "" && e.warm != nil {
		path = e.warm.From
		if info, err := os.Stat(core.LocalPath(path)); err == nil && info.IsDir() {
			if path, err = train.LatestCheckpoint(path); err != nil {
				return "", err
			}
		}
	}
	if path == "" {
		return "", e.fault(tf.NotFound, "Couldn't find trained model at %s.", e.config.ModelDir)
	}
	return path, nil
}

// An export is a SavedModel that is being made. Its sessions live until it has been
// written.
type export struct {
	e        *Estimator
	o        ExportOptions
	path     string // of the checkpoint
	builder  *savedmodel.Builder
	sessions []*session.Session
}

func (x *export) close() {
	for _, s := range x.sessions {
		s.Close()
	}
}

// add adds the MetaGraph of a mode.
func (x *export) add(ctx context.Context, mode Mode, tag string, receive ReceiverFn) error {
	b, r, err := x.e.receive(mode, receive)
	if err != nil {
		return err
	}
	signatures, err := b.signatures(mode, r)
	if err != nil {
		return x.e.wrong("%s", tf.AsError(err).Message())
	}
	if err := x.e.fits(b.g, x.path); err != nil {
		return err
	}
	sc := b.scaffold()
	if err := sc.Finalize(b.g); err != nil {
		return err
	}
	s, err := session.New(b.g, x.e.config.Session...)
	if err != nil {
		return err
	}
	x.sessions = append(x.sessions, s)
	if err := sc.Saver.Restore(ctx, s, x.path); err != nil {
		return err
	}
	assets, err := vocabularies(ctx, s, b.g)
	if err != nil {
		return err
	}
	mg := savedmodel.MetaGraph{
		Tags: []string{tag}, Session: s, Signatures: signatures, Assets: append(assets, x.o.Assets...),
		Init: sc.LocalInitOp, Train: b.spec.TrainOp, ClearDevices: !x.o.KeepDevices,
	}
	if mode != Train {
		mg.Train = nil
	}
	x.builder.Add(mg)
	return nil
}

// receive makes the graph to export.
func (e *Estimator) receive(mode Mode, f ReceiverFn) (b *build, r *Receiver, err error) {
	b = e.newBuild()
	err = e.placed(b, Predict, func() error {
		if r, err = f(b.g); err != nil {
			return e.wrong("%s", tf.AsError(err).Message())
		}
		if r == nil || len(r.Inputs) == 0 {
			return e.wrong("a receiver function must return a Receiver with inputs")
		}
		labels := r.Labels
		if mode == Predict {
			labels = nil
		}
		return e.model(b, mode, r.Features, labels)
	})
	return b, r, err
}

// vocabularies returns the files that tables of the graph are filled from: the
// input "filename" of what initializes them.
func vocabularies(ctx context.Context, s *session.Session, g *tf.Graph) (all []savedmodel.Asset, err error) {
	for _, x := range g.Collection(train.TableInitializersCollection) {
		op, ok := x.(*tf.Operation)
		if !ok || !strings.Contains(op.Def.In, "filename: string") {
			continue
		}
		file, err := session.Fetch[string](ctx, s, nil, op.Input(1))
		if err != nil {
			return nil, err
		}
		all = append(all, savedmodel.Asset{Tensor: op.Input(1), File: file[0]})
	}
	return all, nil
}

// free returns a directory under base that does not exist, named after the time. Its
// number is greater than all that are there: exports can come faster than one a second,
// and who keeps the latest ones goes by their numbers.
func free(base string) (string, error) {
	all, err := os.ReadDir(base)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", tf.Errorf(tf.InvalidArgument, "the directory for exports cannot be read: %v", err)
	}
	n := time.Now().Unix()
	for _, e := range all {
		if k, err := strconv.ParseInt(e.Name(), 10, 64); err == nil && k >= n && k < math.MaxInt64 {
			n = k + 1
		}
	}
	return filepath.Join(base, strconv.FormatInt(n, 10)), nil
}

// extra copies files to assets.extra.
func extra(dir string, files map[string]string) error {
	for _, to := range slices.Sorted(maps.Keys(files)) {
		content, err := os.ReadFile(core.LocalPath(files[to]))
		if err != nil {
			return tf.Errorf(tf.NotFound, "an extra asset cannot be read: %v", err)
		}
		name := filepath.Join(dir, "assets.extra", to)
		if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
			return tf.Errorf(tf.PermissionDenied, "assets.extra cannot be made: %v", err)
		}
		if err := os.WriteFile(name, content, 0o666); err != nil {
			return tf.Errorf(tf.Unavailable, "an extra asset cannot be written: %v", err)
		}
	}
	return nil
}
