package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/dense/npy"
	"github.com/gorge-tf/gorge/tf/eager"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/savedmodel"
)

// runSavedModel runs a signature on arrays of an npz file and writes what it
// computes to another.
func runSavedModel(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	s := flag.NewFlagSet("gorge savedmodel run", flag.ContinueOnError)
	takes(s, "DIR [flags]")
	options := loadFlags(s)
	name := s.String("signature_def", savedmodel.DefaultSignature, "`name` of the signature")
	inputs := s.String("inputs", "", "npz `file` with an array for each input, by the signature's keys")
	outputs := s.String("outputs", "", "npz `file` for the results, by the signature's keys")
	dir, err := oneDir(s, args, stdout)
	if err != nil {
		return err
	}
	if _, err := os.Stat(dir); err != nil {
		return core.FileError(dir, err)
	}
	if *outputs == "" {
		return tf.Errorf(tf.InvalidArgument, "gorge savedmodel run takes --outputs=FILE.npz")
	}
	in, err := readArchive(*inputs)
	if err != nil {
		return err
	}
	m, err := savedmodel.Load(ctx, dir, options())
	if err != nil {
		return err
	}
	defer m.Close()
	sig := m.Signature(*name)
	if err := given(s.Name(), sig, *inputs, in); err != nil {
		return err
	}
	out, err := sig.RunTensors(ctx, in)
	if err != nil {
		return err
	}
	return writeArchive(*outputs, out)
}

// readArchive reads an npz file; without a name there are no arrays.
func readArchive(name string) (map[string]*tf.Tensor, error) {
	if name == "" {
		return nil, nil
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, core.FileError(name, err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, core.FileError(name, err)
	}
	all, err := npy.ReadArchive(f, info.Size())
	if err != nil {
		return nil, tf.Errorf(tf.CodeOf(err), "%s: %s", name, tf.AsError(err).Message())
	}
	return all, nil
}

// given makes arrays fit the inputs of a signature, for a command. Without a file of
// arrays there must be no inputs that need one.
func given(command string, sig *savedmodel.Signature, file string, in map[string]*tf.Tensor) error {
	var missing []string
	for _, spec := range sig.Inputs() {
		if spec.Default == nil {
			missing = append(missing, fmt.Sprintf("%s %v%v", spec.Key, spec.DType, spec.Shape))
		}
	}
	if file == "" && len(missing) > 0 {
		return tf.Errorf(tf.InvalidArgument, "%s takes --inputs=FILE.npz, with an array for each input: %s", command, strings.Join(missing, ", "))
	}
	return castAll(sig, in)
}

// castAll converts numbers to the types of the inputs, as numpy does for
// TensorFlow's saved_model_cli. What is not a number is left to the signature.
func castAll(sig *savedmodel.Signature, in map[string]*tf.Tensor) error {
	g := eager.New()
	for _, spec := range sig.Inputs() {
		t := in[spec.Key]
		if t == nil || t.DType() == spec.DType || !isNumber(t.DType()) || !isNumber(spec.DType) {
			continue
		}
		cast, err := ops.Cast(ops.ConstTensor(g, t), spec.DType).Value()
		if err != nil {
			return tf.Errorf(tf.CodeOf(err), "input %q: %s", spec.Key, tf.AsError(err).Message())
		}
		in[spec.Key] = cast
	}
	return nil
}

func isNumber(d tf.DType) bool { return d.IsFloat() || d.IsInteger() || d.IsComplex() || d == tf.Bool }

// writeArchive writes an npz file.
func writeArchive(name string, out map[string]*tf.Tensor) error {
	return writeWhole(name, func(w io.Writer) error { return npy.WriteArchive(w, out, false) })
}
