package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"strings"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/savedmodel"
)

const savedModelUsage = `usage: gorge savedmodel COMMAND DIR [flags]; -h behind a command lists its flags

commands:
  show      list the MetaGraphs of a SavedModel, their signatures, inputs and outputs
  run       run a signature: arrays from one npz file, results to another
  convert   write a SavedModel, or a frozen graph, as a new SavedModel: convert FROM TO
  freeze    write the graph of a signature, constants in place of variables: freeze DIR GRAPH.pb
  bench     measure how long a model takes to load and to run
`

// savedModel does what concerns models that have been saved.
func savedModel(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	if len(args) == 0 {
		fmt.Fprint(stderr, savedModelUsage)
		return tf.Errorf(tf.InvalidArgument, "savedmodel takes a command")
	}
	switch args[0] {
	case "show":
		return showSavedModel(args[1:], stdout, stderr)
	case "run":
		return runSavedModel(ctx, args[1:], stdout, stderr)
	case "convert":
		return convertSavedModel(ctx, args[1:], stdout, stderr)
	case "freeze":
		return freezeSavedModel(ctx, args[1:], stdout, stderr)
	case "bench":
		return benchSavedModel(ctx, args[1:], stdout, stderr)
	case "help", "-h", "--help":
		fmt.Fprint(stdout, savedModelUsage)
		return nil
	}
	return tf.Errorf(tf.InvalidArgument, "the command of savedmodel must be show, run, convert, freeze or bench, got %q", args[0])
}

// What the flags say that switch optimizations of models off.
const (
	noFoldUsage   = "keep batch normalizations with constant parameters apart from the convolutions before them"
	noFreezeUsage = "read the variables in each run, instead of having their values as constants until they change"
)

// loadFlags adds the flags that say how a model is loaded to s. What is returned is
// complete once s has parsed them.
func loadFlags(s *flag.FlagSet) func() savedmodel.Options {
	var o savedmodel.Options
	tags := s.String("tag_set", savedmodel.Serve, "`tags` of the MetaGraph, separated by commas")
	s.BoolVar(&o.NoFold, "no_folding", false, noFoldUsage)
	s.BoolVar(&o.NoFreeze, "no_freezing", false, noFreezeUsage)
	return func() savedmodel.Options {
		o.Tags = tagSet(*tags)
		return o
	}
}

// oneDir parses flags and the one argument, a directory.
func oneDir(s *flag.FlagSet, args []string, stdout io.Writer) (string, error) {
	dirs, err := arguments(s, args, stdout)
	if err != nil {
		return "", err
	}
	if len(dirs) != 1 {
		return "", tf.Errorf(tf.InvalidArgument, "%s takes one directory, got %q", s.Name(), dirs)
	}
	return dirs[0], nil
}

// arguments parses flags that may stand before and behind the arguments, which it
// returns. The parser's own messages are dropped: the error has them.
func arguments(s *flag.FlagSet, args []string, stdout io.Writer) (out []string, err error) {
	s.SetOutput(io.Discard)
	for {
		if err := s.Parse(args); err != nil {
			if err == flag.ErrHelp {
				s.SetOutput(stdout)
				s.Usage()
			}
			return nil, flagError(s, err)
		}
		if s.NArg() == 0 {
			return out, nil
		}
		out, args = append(out, s.Arg(0)), s.Args()[1:]
	}
}

// tagSet splits the value of flag tag_set; the empty one has no tags.
func tagSet(s string) []string {
	if s == "" {
		return []string{}
	}
	return strings.Split(s, ",")
}

// showSavedModel lists what a SavedModel has.
func showSavedModel(args []string, stdout, stderr io.Writer) error {
	s := flag.NewFlagSet("gorge savedmodel show", flag.ContinueOnError)
	takes(s, "DIR")
	dir, err := oneDir(s, args, stdout)
	if err != nil {
		return err
	}
	m, err := savedmodel.Read(dir)
	if err != nil {
		return err
	}
	for i, mg := range m.GetMetaGraphs() {
		if i > 0 {
			fmt.Fprintln(stdout)
		}
		if err := showMetaGraph(stdout, mg); err != nil {
			return err
		}
	}
	return nil
}
