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

// ReadFile returns the contents of a file.
func ReadFile(filename tf.Output, opts ...tf.Option) tf.Output {
	return tf.Apply(nil, "ReadFile", []tf.Output{filename}, opts...).Output(0)
}

// WriteFile makes contents, a scalar, what a file holds, and the directories
// that lead to it.
func WriteFile(filename, contents tf.Output, opts ...tf.Option) *tf.Operation {
	return tf.Apply(nil, "WriteFile", []tf.Output{filename, contents}, opts...)
}

// MatchingFiles returns the names of the files that match a pattern, or any of
// a vector of patterns, sorted. The last part of a pattern may have wildcards.
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

func readFile(*core.Node) (core.Kernel, error) {
	return onDisk(func(c *core.OpContext) error {
		name, err := scalarString(c, 0, "Input filename")
		if err != nil {
			return err
		}
		text, err := core.ReadFile(c.StepContext(), name)
		if err != nil {
			return err
		}
		c.Set(0, core.Scalar(text))
		return nil
	}), nil
}

func writeFile(*core.Node) (core.Kernel, error) {
	return core.Compute(func(c *core.OpContext) error {
		name, err := scalarString(c, 0, "Input filename")
		if err != nil {
			return err
		}
		contents, err := scalarString(c, 1, "Contents")
		if err != nil {
			return err
		}
		name = core.LocalPath(name)
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			return core.FileError(name, err)
		}
		if err := os.WriteFile(name, []byte(contents), 0o644); err != nil {
			return core.FileError(name, err)
		}
		return nil
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
