package main

import (
	"bytes"
	"context"
	"flag"
	"io"
	"os"
	"strings"

	"google.golang.org/protobuf/encoding/prototext"
	"google.golang.org/protobuf/proto"

	"github.com/gorge-tf/gorge/internal/bundle"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/pb"
	"github.com/gorge-tf/gorge/tf/savedmodel"
)

// convertSavedModel writes a SavedModel, or a frozen graph, as a new SavedModel.
func convertSavedModel(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	s := flag.NewFlagSet("gorge savedmodel convert", flag.ContinueOnError)
	takes(s, "FROM TO [flags]")
	tags := s.String("tag_set", savedmodel.Serve, "`tags` of the MetaGraph, separated by commas")
	inputs := s.String("inputs", "", "of a frozen graph: `x=x:0,k=k:0`, keys of the signature and names of tensors")
	outputs := s.String("outputs", "", "of a frozen graph, as --inputs")
	dirs, err := twoPaths(s, args, stdout)
	if err != nil {
		return err
	}
	m, err := loadAny(ctx, dirs[0], tagSet(*tags), *inputs, *outputs)
	if err != nil {
		return err
	}
	defer m.Close()
	return m.Resave(ctx, dirs[1])
}

// freezeSavedModel writes the graph of signatures with constants in place of
// variables.
func freezeSavedModel(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	s := flag.NewFlagSet("gorge savedmodel freeze", flag.ContinueOnError)
	takes(s, "DIR GRAPH.pb [flags]")
	tags := s.String("tag_set", savedmodel.Serve, "`tags` of the MetaGraph, separated by commas")
	name := s.String("signature_def", savedmodel.DefaultSignature, "`name` of the signature")
	paths, err := twoPaths(s, args, stdout)
	if err != nil {
		return err
	}
	m, err := savedmodel.Load(ctx, paths[0], savedmodel.Options{Tags: tagSet(*tags)})
	if err != nil {
		return err
	}
	defer m.Close()
	def, err := m.Freeze(ctx, *name)
	if err != nil {
		return err
	}
	data, err := proto.MarshalOptions{Deterministic: true}.Marshal(def)
	if err != nil {
		return err
	}
	return writeWhole(paths[1], func(w io.Writer) error {
		_, err := w.Write(data)
		return err
	})
}

// twoPaths parses flags and two arguments: from where, to where.
func twoPaths(s *flag.FlagSet, args []string, stdout io.Writer) ([]string, error) {
	paths, err := arguments(s, args, stdout)
	if err == nil && len(paths) != 2 {
		err = tf.Errorf(tf.InvalidArgument, "%s takes what to read and what to write, got %q", s.Name(), paths)
	}
	return paths, err
}

// loadAny loads a SavedModel from its directory, or a frozen graph from its file.
func loadAny(ctx context.Context, path string, tags []string, inputs, outputs string) (*savedmodel.Model, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, core.FileError(path, err)
	}
	if info.IsDir() {
		if inputs != "" || outputs != "" {
			return nil, tf.Errorf(tf.InvalidArgument, "--inputs and --outputs are for a frozen graph; %s is a directory, and a SavedModel keeps its signatures", path)
		}
		return savedmodel.Load(ctx, path, savedmodel.Options{Tags: tags})
	}
	in, err := tensorNames("inputs", inputs)
	if err != nil {
		return nil, err
	}
	out, err := tensorNames("outputs", outputs)
	if err != nil {
		return nil, err
	}
	if len(out) == 0 {
		return nil, tf.Errorf(tf.InvalidArgument, "a frozen graph takes --outputs=KEY=TENSOR")
	}
	def, err := readGraph(path)
	if err != nil {
		return nil, err
	}
	return savedmodel.LoadFrozen(ctx, def, in, out, savedmodel.Options{})
}

// readGraph reads a GraphDef, binary or, if its name ends in pbtxt, text.
func readGraph(path string) (*pb.GraphDef, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, core.FileError(path, err)
	}
	if err := bundle.NotPointer(bytes.NewReader(data), int64(len(data)), path); err != nil {
		return nil, err
	}
	def := &pb.GraphDef{}
	if strings.HasSuffix(path, ".pbtxt") {
		err = prototext.Unmarshal(data, def)
	} else {
		err = proto.Unmarshal(data, def)
	}
	if err != nil {
		return nil, tf.Errorf(tf.DataLoss, "%s must be a GraphDef: %v", path, err)
	}
	return def, nil
}

// tensorNames reads a flag of the form key=tensor,key=tensor.
func tensorNames(name, value string) (map[string]string, error) {
	out := map[string]string{}
	for _, item := range strings.FieldsFunc(value, func(r rune) bool { return r == ',' }) {
		key, tensor, ok := strings.Cut(item, "=")
		if out[key] != "" {
			return nil, tf.Errorf(tf.InvalidArgument, "flag %s must have each key once, got %q twice", name, key)
		}
		if !ok || key == "" || tensor == "" {
			return nil, tf.Errorf(tf.InvalidArgument, "flag %s must have the form KEY=TENSOR,KEY=TENSOR, got %q", name, value)
		}
		out[key] = tensor
	}
	return out, nil
}
