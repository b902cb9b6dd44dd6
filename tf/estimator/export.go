package estimator

import (
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/feature"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/savedmodel"
	"github.com/gorge-tf/gorge/tf/session"
	"github.com/gorge-tf/gorge/tf/train"
)

// A Receiver is what a served model gets: placeholders, and the features that
// are made of them.
type Receiver struct {
	Features feature.Features
	Inputs   map[string]tf.Output
	// Alternatives are other inputs by names, from which the same features follow:
	// signatures NAME:KEY take them.
	Alternatives map[string]map[string]tf.Output
}

// A ReceiverFn adds a Receiver to the graph that is exported.
type ReceiverFn func(g *tf.Graph) (*Receiver, error)

// ParsingReceiver serves serialized tf.Example records, an input "examples".
func ParsingReceiver(spec *feature.ParseSpec) ReceiverFn {
	return func(g *tf.Graph) (*Receiver, error) {
		if spec == nil {
			return nil, tf.Errorf(tf.InvalidArgument, "a parsing receiver needs a ParseSpec, got nil")
		}
		x := ops.Placeholder(g, tf.String, tf.Shape{-1}, tf.Name("input_example_tensor"))
		return &Receiver{Features: spec.Parse(x), Inputs: map[string]tf.Output{"examples": x}}, nil
	}
}

// RawReceiver serves tensors as they are, by the features' keys. Shapes are those
// of batches: their first size is -1.
func RawReceiver(features map[string]tf.ArgSpec) ReceiverFn {
	return func(g *tf.Graph) (*Receiver, error) {
		r := &Receiver{Features: feature.Features{}, Inputs: map[string]tf.Output{}}
		for _, key := range slices.Sorted(maps.Keys(features)) {
			x := ops.Placeholder(g, features[key].DType, features[key].Shape, tf.Name(key))
			r.Features[key], r.Inputs[key] = x, x
		}
		if len(features) == 0 {
			return nil, tf.Errorf(tf.InvalidArgument, "feature_spec cannot be empty: a raw receiver must have a feature")
		}
		return r, nil
	}
}

// ExportOptions adjust [Estimator.ExportSavedModel].
type ExportOptions struct {
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

// ExportSavedModel writes the model for prediction to a new directory under base,
// named after the time in seconds, and returns its path. Model servers load it.
// Without a checkpoint the error is NotFound.
func (e *Estimator) ExportSavedModel(ctx context.Context, base string, receive ReceiverFn, o ExportOptions) (string, error) {
	path, err := e.checkpoint(o.Checkpoint)
	if err != nil {
		return "", err
	}
	if path == "" {
		return "", e.fault(tf.NotFound, "Couldn't find trained model at %s.", e.config.ModelDir)
	}
	if receive == nil {
		return "", e.wrong("exporting needs a receiver function, got nil")
	}
	for to := range o.AssetsExtra {
		if !filepath.IsLocal(to) {
			return "", e.wrong("the path of an extra asset must be within assets.extra, got %q", to)
		}
	}
	b, r, err := e.receive(receive)
	if err != nil {
		return "", err
	}
	signatures, err := b.signatures(r)
	if err != nil {
		return "", e.wrong("%s", tf.AsError(err).Message())
	}
	if err := e.fits(b.g, path); err != nil {
		return "", err
	}
	return e.write(ctx, b, signatures, base, path, o)
}

// receive makes the graph to export.
func (e *Estimator) receive(f ReceiverFn) (b *build, r *Receiver, err error) {
	b = e.newBuild()
	err = e.placed(b, Predict, func() error {
		if r, err = f(b.g); err != nil {
			return e.wrong("%s", tf.AsError(err).Message())
		}
		if r == nil || len(r.Inputs) == 0 {
			return e.wrong("a receiver function must return a Receiver with inputs")
		}
		return e.model(b, Predict, r.Features, nil)
	})
	return b, r, err
}

func (e *Estimator) write(ctx context.Context, b *build, signatures map[string]savedmodel.SignatureSpec, base, path string, o ExportOptions) (string, error) {
	sc := b.scaffold()
	if err := sc.Finalize(b.g); err != nil {
		return "", err
	}
	s, err := session.New(b.g, e.config.Session...)
	if err != nil {
		return "", err
	}
	defer s.Close()
	if err := sc.Saver.Restore(ctx, s, path); err != nil {
		return "", err
	}
	assets, err := vocabularies(ctx, s, b.g)
	if err != nil {
		return "", err
	}
	mg := savedmodel.MetaGraph{Session: s, Signatures: signatures, Assets: append(assets, o.Assets...), Init: sc.LocalInitOp, ClearDevices: !o.KeepDevices}
	dir, err := free(base)
	if err != nil {
		return "", e.fault(tf.CodeOf(err), "%s", tf.AsError(err).Message())
	}
	if err := (&savedmodel.Builder{AsText: o.AsText}).Add(mg).Save(ctx, dir); err != nil {
		return "", err
	}
	return dir, extra(dir, o.AssetsExtra)
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

// free returns a directory under base that does not exist, named after the time.
func free(base string) (string, error) {
	for n := time.Now().Unix(); ; n++ {
		dir := filepath.Join(base, strconv.FormatInt(n, 10))
		_, err := os.Lstat(dir)
		if errors.Is(err, fs.ErrNotExist) {
			return dir, nil
		}
		if err != nil {
			return "", tf.Errorf(tf.InvalidArgument, "the directory for exports cannot be read: %v", err)
		}
	}
}

// extra copies files to assets.extra.
func extra(dir string, files map[string]string) error {
	for _, to := range slices.Sorted(maps.Keys(files)) {
		content, err := os.ReadFile(files[to])
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

// signatures returns the entry points of what is exported.
func (b *build) signatures(r *Receiver) (map[string]savedmodel.SignatureSpec, error) {
	outputs := b.spec.ExportOutputs
	if len(outputs) == 0 {
		outputs = map[string]ExportOutput{savedmodel.DefaultSignature: PredictOutput{b.spec.Predictions}}
	}
	all := map[string]ExportOutput{}
	maps.Copy(all, outputs)
	if _, ok := all[savedmodel.DefaultSignature]; !ok {
		if len(all) > 1 {
			return nil, tf.Errorf(tf.InvalidArgument, "Multiple export_outputs were provided, but none of them is specified as the default. Do this by naming one of them with %q: got %q", savedmodel.DefaultSignature, slices.Sorted(maps.Keys(all)))
		}
		for _, only := range outputs {
			all[savedmodel.DefaultSignature] = only
		}
	}
	signatures := signaturesOf(all, r.Inputs, "")
	for name, inputs := range r.Alternatives {
		maps.Copy(signatures, signaturesOf(outputs, inputs, name+":"))
	}
	if len(signatures) == 0 {
		return nil, tf.Errorf(tf.InvalidArgument, "a SavedModel must have a signature, none of %q fits the receiver", slices.Sorted(maps.Keys(all)))
	}
	return signatures, nil
}

// signaturesOf returns those that inputs fit, with a prefix before their names.
func signaturesOf(all map[string]ExportOutput, inputs map[string]tf.Output, prefix string) map[string]savedmodel.SignatureSpec {
	signatures := map[string]savedmodel.SignatureSpec{}
	for _, key := range slices.Sorted(maps.Keys(all)) {
		s, err := all[key].signature(inputs)
		if err != nil {
			slog.Warn("Export excludes a signature because it cannot be served via TensorFlow Serving APIs", "signature", prefix+key, "reason", tf.AsError(err).Message())
			continue
		}
		signatures[prefix+key] = s
	}
	return signatures
}
