// Package io has the ops of TensorFlow that read and write files, those of
// io_ops.py: readers, whole files and patterns of names.
package io

import (
	"os"
	"path/filepath"
	"slices"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
)

func init() {
	core.Register(core.OpDef{
		Name: "ReadFile", In: "filename: string", Out: "contents: string",
		Shape: scalarToScalar, NoGrad: core.NotDifferentiable, Kernels: core.AnyType(readFile),
	})
	core.Register(core.OpDef{
		Name: "WriteFile", In: "filename: string; contents: string", Stateful: true,
		Shape: twoScalars, NoGrad: core.NoGradientDefined, Kernels: core.AnyType(writeFile),
	})
	core.Register(core.OpDef{
		Name: "MatchingFiles", In: "pattern: string", Out: "filenames: string",
		Shape: matchingShape, NoGrad: core.NotDifferentiable, Kernels: core.AnyType(matchingFiles),
	})
}

// ReadFile returns the contents of a file. The name and the result are scalar
// strings. A name that is no scalar is refused with INVALID_ARGUMENT, when the
// graph is built if its shape is known, else in the step. A file that is not
// there is refused with NOT_FOUND in the step, one that must not be read with
// PERMISSION_DENIED.
func ReadFile(filename tf.Output, opts ...tf.Option) tf.Output {
	return tf.Apply(nil, "ReadFile", []tf.Output{filename}, opts...).Output(0)
}

// WriteFile makes contents, a scalar, what a file holds, and the directories
// that lead to it. A name or contents that are no scalars are refused with
// INVALID_ARGUMENT, when the graph is built if the shapes are known, else in
// the step. What must not be written is refused with PERMISSION_DENIED in the
// step, what the disk has no room for with RESOURCE_EXHAUSTED. A named pipe
// is written when it has a reader; the step's end ends the wait.
func WriteFile(filename, contents tf.Output, opts ...tf.Option) *tf.Operation {
	return tf.Apply(nil, "WriteFile", []tf.Output{filename, contents}, opts...)
}

// MatchingFiles returns the names of the files that match a pattern, or any of
// a vector of patterns, sorted. The last part of a pattern may have wildcards.
// The result is a vector, without elements if there are none. A pattern of two
// dimensions or more is refused with INVALID_ARGUMENT, when the graph is built
// if its shape is known, else in the step. A pattern that is not well-formed
// is refused with INVALID_ARGUMENT in the step.
func MatchingFiles(pattern tf.Output, opts ...tf.Option) tf.Output {
	return tf.Apply(nil, "MatchingFiles", []tf.Output{pattern}, opts...).Output(0)
}

func scalarToScalar(c *core.Infer) error {
	c.Set(0, tf.Shape{})
	_, err := c.Rank(0, 0)
	return err
}

func twoScalars(c *core.Infer) error {
	if _, err := c.Rank(0, 0); err != nil {
		return err
	}
	_, err := c.Rank(1, 0)
	return err
}

func matchingShape(c *core.Infer) error {
	if s := c.In(0); len(s) > 1 {
		return tf.Errorf(tf.InvalidArgument, "Shape must be at most rank 1 but is rank %d", len(s))
	}
	c.Set(0, tf.Shape{-1})
	return nil
}

// scalarString returns the string that input i holds.
func scalarString(c *core.OpContext, i int, what string) (string, error) {
	if c.Input(i).Rank() != 0 {
		return "", tf.Errorf(tf.InvalidArgument, "%s tensor must be scalar, but had shape: %s", what, c.Input(i).Shape().String())
	}
	return core.Data[string](c.Input(i))[0], nil
}

// onDisk makes the kernel of an op that reads what others may change. As one that
// can wait it is not computed in advance, before what it has to come after.
func onDisk(f func(*core.OpContext) error) core.Kernel {
	return core.AsyncCompute(func(c *core.OpContext, done func(error)) { done(f(c)) })
}

// onFile makes the kernel of an op whose input 0 names a file. That of a pipe waits for
// its other side, which may be another op of the step, on a goroutine of its own.
func onFile(f func(c *core.OpContext, name string) error) core.Kernel {
	return core.AsyncCompute(func(c *core.OpContext, done func(error)) {
		name, err := scalarString(c, 0, "Input filename")
		switch {
		case err != nil:
			done(err)
		case core.IsPipe(core.LocalPath(name)):
			c.Apart(func() error { return f(c, name) }, done)
		default:
			done(f(c, name))
		}
	})
}

func readFile(*core.Node) (core.Kernel, error) {
	return onFile(func(c *core.OpContext, name string) error {
		text, err := core.ReadFile(c.StepContext(), name)
		if err != nil {
			return err
		}
		c.Set(0, core.Scalar(text))
		return nil
	}), nil
}

func writeFile(*core.Node) (core.Kernel, error) {
	return onFile(func(c *core.OpContext, name string) error {
		contents, err := scalarString(c, 1, "Contents")
		if err != nil {
			return err
		}
		name = core.LocalPath(name)
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			return core.FileError(name, err)
		}
		return core.WriteFile(c.StepContext(), name, contents)
	}), nil
}

func matchingFiles(*core.Node) (core.Kernel, error) {
	return onDisk(func(c *core.OpContext) error {
		if c.Input(0).Rank() > 1 {
			return tf.Errorf(tf.InvalidArgument, "Input patterns tensor must be scalar or vector, but had shape: %s", c.Input(0).Shape().String())
		}
		var names []string
		for _, pattern := range core.Data[string](c.Input(0)) {
			found, err := filepath.Glob(core.LocalPath(pattern))
			if err != nil {
				return tf.Errorf(tf.InvalidArgument, "a pattern of file names must be well-formed: %q: %v", pattern, err)
			}
			names = append(names, found...)
		}
		slices.Sort(names)
		out, err := core.FromSlice(names, len(names))
		if err != nil {
			return err
		}
		c.Set(0, out)
		return nil
	}), nil
}
