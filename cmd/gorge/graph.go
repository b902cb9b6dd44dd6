package main

import (
	"context"
	"flag"
	"fmt"
	"io"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/savedmodel"
	"github.com/gorge-tf/gorge/tf/session"
)

const graphUsage = `usage: gorge graph explain PATH [flags]; -h lists the flags

Says which operations of a step run as one node, which do not and why. PATH is the
directory of a SavedModel, a MetaGraphDef (NAME.meta) or a GraphDef (NAME.pb,
NAME.pbtxt). The step is that of a signature, or of --outputs, or else all that
nothing else of the graph uses. Nothing is run.
`

// graphCommand does what concerns graphs in files.
func graphCommand(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	if len(args) == 0 {
		fmt.Fprint(stderr, graphUsage)
		return tf.Errorf(tf.InvalidArgument, "graph takes a command")
	}
	switch args[0] {
	case "explain":
		return explainGraph(ctx, args[1:], stdout)
	case "help", "-h", "--help":
		fmt.Fprint(stdout, graphUsage)
		return nil
	}
	return tf.Errorf(tf.InvalidArgument, "the command of graph must be explain, got %q", args[0])
}

// explainGraph plans a step of a graph and writes what has become of its operations.
func explainGraph(ctx context.Context, args []string, stdout io.Writer) error {
	s := flag.NewFlagSet("gorge graph explain", flag.ContinueOnError)
	s.Usage = func() { fmt.Fprint(s.Output(), graphUsage, "\n"); s.PrintDefaults() }
	var o stepFlags
	s.StringVar(&o.tags, "tag_set", savedmodel.Serve, "`tags` of the MetaGraph of a SavedModel, separated by commas")
	s.StringVar(&o.signature, "signature_def", savedmodel.DefaultSignature, "`name` of the signature of a SavedModel or MetaGraphDef")
	s.StringVar(&o.inputs, "inputs", "", "names of `tensors` that are fed, separated by commas; instead of the signature's")
	s.StringVar(&o.outputs, "outputs", "", "names of `tensors` and operations that are fetched; instead of the signature's")
	paths, err := arguments(s, args, stdout)
	if err != nil {
		return err
	}
	if len(paths) != 1 {
		return tf.Errorf(tf.InvalidArgument, "%s takes one path, got %q", s.Name(), paths)
	}
	g, feeds, fetches, err := o.read(paths[0])
	if err != nil {
		return err
	}
	text, err := explainStep(ctx, g, feeds, fetches)
	if err != nil {
		return err
	}
	_, err = io.WriteString(stdout, text)
	return err
}

func explainStep(ctx context.Context, g *tf.Graph, feeds []tf.Output, fetches []tf.Fetchable) (string, error) {
	s, err := session.New(g, session.With(session.Config{SoftPlacement: true}))
	if err != nil {
		return "", err
	}
	defer s.Close()
	c, err := s.MakeCallable(feeds, fetches...)
	if err != nil {
		return "", err
	}
	return c.Explain(ctx)
}
