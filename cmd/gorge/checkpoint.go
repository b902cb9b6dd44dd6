package main

import (
	"flag"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/gorge-tf/gorge/internal/bundle"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/train"
)

const checkpointUsage = `usage:
  gorge checkpoint ls CHECKPOINT                     list what it has: names, types, shapes, bytes, parts,
                                                     the names that variables of TensorFlow 2 had
  gorge checkpoint show CHECKPOINT NAME...           print values
  gorge checkpoint diff CHECKPOINT OTHER             say in what they differ
  gorge checkpoint rename CHECKPOINT NEW OLD=NEW...  copy it under new names: whole names, or scopes (a/=b/)

A CHECKPOINT is what its files' names begin with (model.ckpt-100), or a directory,
whose latest one is meant.
`

// checkpoint looks at checkpoints.
func checkpoint(args []string, stdout, stderr io.Writer) error {
	s := flag.NewFlagSet("gorge checkpoint", flag.ContinueOnError)
	s.SetOutput(stderr)
	s.Usage = func() { fmt.Fprint(s.Output(), checkpointUsage) }
	if err := parseFlags(s, args, stderr); err != nil {
		return err
	}
	if args = s.Args(); len(args) > 0 { // -h may come behind the command, too
		if err := parseFlags(s, args[1:], stderr); err != nil {
			return err
		}
		args = append(args[:1:1], s.Args()...)
	}
	switch {
	case len(args) == 2 && args[0] == "ls":
		return listCheckpoint(args[1], stdout)
	case len(args) > 2 && args[0] == "show":
		return showCheckpoint(args[1], args[2:], stdout)
	case len(args) == 3 && args[0] == "diff":
		return diffCheckpoints(args[1], args[2], stdout)
	case len(args) > 3 && args[0] == "rename":
		return renameCheckpoint(args[1], args[2], args[3:], stdout)
	}
	fmt.Fprint(stderr, checkpointUsage)
	return tf.Errorf(tf.InvalidArgument, "checkpoint takes ls, show, diff or rename with their arguments, got %q", args)
}

func listCheckpoint(path string, out io.Writer) error {
	vs, err := train.ListVariables(path)
	if err != nil {
		return err
	}
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	var total int
	for _, v := range vs {
		parts := ""
		if n := len(v.Slices); n > 0 {
			parts = fmt.Sprintf("in %d parts", n)
		}
		bytes := v.Shape.NumElements() * v.DType.Size()
		total += bytes
		fmt.Fprintf(w, "%s\t%v\t%v\t%d\t%s\n", v.Name, v.DType, v.Shape, bytes, strings.TrimSpace(parts+" "+v.FullName))
	}
	if err := w.Flush(); err != nil {
		return err
	}
	_, err = fmt.Fprintf(out, "%d tensors, %d bytes\n", len(vs), total)
	return err
}

func showCheckpoint(path string, names []string, out io.Writer) error {
	r, err := train.OpenCheckpoint(path)
	if err != nil {
		return err
	}
	defer r.Close()
	for _, name := range names {
		t, err := r.Tensor(name)
		if err != nil {
			return err
		}
		if _, err := fmt.Fprintf(out, "%s: %v\n", name, t); err != nil {
			return err
		}
	}
	return nil
}

// errDiffer makes a diff that found something end with a status of its own.
var errDiffer = tf.Errorf(tf.FailedPrecondition, "the checkpoints differ")

func diffCheckpoints(a, b string, out io.Writer) error {
	ra, err := train.OpenCheckpoint(a)
	if err != nil {
		return err
	}
	defer ra.Close()
	rb, err := train.OpenCheckpoint(b)
	if err != nil {
		return err
	}
	defer rb.Close()
	var lines []string
	for _, v := range ra.Variables() {
		line, err := difference(v, ra, rb)
		if err != nil {
			return err
		}
		if line != "" {
			lines = append(lines, line)
		}
	}
	for _, v := range rb.Variables() {
		if !ra.Has(v.Name) {
			lines = append(lines, "+ "+v.Name)
		}
	}
	for _, line := range lines {
		fmt.Fprintln(out, line)
	}
	if len(lines) > 0 {
		return errDiffer
	}
	return nil
}

// difference says how the second checkpoint differs in a tensor of the first;
// "": not at all.
func difference(v train.VariableInfo, a, b *train.CheckpointReader) (string, error) {
	if !b.Has(v.Name) {
		return "- " + v.Name, nil
	}
	x, err := a.Tensor(v.Name)
	if err != nil {
		return "", err
	}
	y, err := b.Tensor(v.Name)
	if err != nil {
		return "", err
	}
	if x.DType() != y.DType() || !x.Shape().Equal(y.Shape()) {
		return fmt.Sprintf("! %s: %v%v and %v%v", v.Name, x.DType(), x.Shape(), y.DType(), y.Shape()), nil
	}
	n := 0
	for i := range x.Len() {
		if u, v := x.At(i), y.At(i); u != v && (u == u || v == v) { // NaNs are equal here
			n++
		}
	}
	if n == 0 {
		return "", nil
	}
	return fmt.Sprintf("! %s: %d of %d elements differ", v.Name, n, x.Len()), nil
}

func renameCheckpoint(from, to string, pairs []string, out io.Writer) error {
	r, err := train.OpenCheckpoint(from)
	if err != nil {
		return err
	}
	defer r.Close()
	w, err := bundle.Create(to)
	if err != nil {
		return err
	}
	defer w.Abort()
	changed := 0
	for _, v := range r.Variables() {
		name, err := renamed(v.Name, pairs)
		if err != nil {
			return err
		}
		if name != v.Name {
			changed++
		}
		t, err := r.Tensor(v.Name)
		if err != nil {
			return err
		}
		if err := w.Add(name, (*core.Tensor)(t)); err != nil {
			return err
		}
	}
	if err := w.Finish(); err != nil {
		return err
	}
	_, err = fmt.Fprintf(out, "%d of %d tensors renamed\n", changed, len(r.Variables()))
	return err
}

// renamed returns the name by the first pair that fits.
func renamed(name string, pairs []string) (string, error) {
	for _, p := range pairs {
		from, to, ok := strings.Cut(p, "=")
		if !ok || from == "" {
			return "", tf.Errorf(tf.InvalidArgument, "a new name must be given as OLD=NEW, got %q", p)
		}
		if name == from {
			return to, nil
		}
		if rest, ok := strings.CutPrefix(name, from); ok && strings.HasSuffix(from, "/") {
			return to + rest, nil
		}
	}
	return name, nil
}
