// Package io has the ops of TensorFlow that read and write files, those of
// io_ops.py: readers, whole files and patterns of names.
package io

import (
	"os"
	"path/filepath"
	"slices"

	"github.com/gorge-tf/gorge/tf"
)

func init() {
	tf.Register(tf.OpDef{
		Name: "ReadFile", In: "filename: string", Out: "contents: string",
		Shape: scalarToScalar, NoGrad: tf.NotDifferentiable, Kernels: tf.AnyType(readFile),
	})
	tf.Register(tf.OpDef{
		Name: "WriteFile", In: "filename: string; contents: string", Stateful: true,
		Shape: twoScalars, NoGrad: tf.NoGradientDefined, Kernels: tf.AnyType(writeFile),
	})
	tf.Register(tf.OpDef{
		Name: "MatchingFiles", In: "pattern: string", Out: "filenames: string",
		Shape: matchingShape, NoGrad: tf.NotDifferentiable, Kernels: tf.AnyType(matchingFiles),
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

func scalarToScalar(c *tf.Infer) error {
	c.Set(0, tf.Shape{})
	_, err := c.Rank(0, 0)
	return err
}

func twoScalars(c *tf.Infer) error {
	if _, err := c.Rank(0, 0); err != nil {
		return err
	}
	_, err := c.Rank(1, 0)
	return err
}

func matchingShape(c *tf.Infer) error {
	if s := c.In(0); len(s) > 1 {
		return tf.Errorf(tf.InvalidArgument, "Shape must be at most rank 1 but is rank %d", len(s))
	}
	c.Set(0, tf.Shape{-1})
	return nil
}

// scalarString returns the string that input i holds.
func scalarString(c *tf.OpContext, i int, what string) (string, error) {
	if c.Input(i).Rank() != 0 {
		return "", tf.Errorf(tf.InvalidArgument, "%s tensor must be scalar, but had shape: %s", what, c.Input(i).Shape().Text())
	}
	return tf.Data[string](c.Input(i))[0], nil
}

// onDisk makes the kernel of an op that reads what others may change. As one that
// can wait it is not computed in advance, before what it has to come after.
func onDisk(f func(*tf.OpContext) error) tf.Kernel {
	return tf.AsyncCompute(func(c *tf.OpContext, done func(error)) { done(f(c)) })
}

func readFile(*tf.Node) (tf.Kernel, error) {
	return onDisk(func(c *tf.OpContext) error {
		name, err := scalarString(c, 0, "Input filename")
		if err != nil {
			return err
		}
		data, err := os.ReadFile(tf.LocalPath(name))
		if err != nil {
			return tf.FileError(name, err)
		}
		c.Set(0, tf.Scalar(string(data)))
		return nil
	}), nil
}

func writeFile(*tf.Node) (tf.Kernel, error) {
	return tf.Compute(func(c *tf.OpContext) error {
		name, err := scalarString(c, 0, "Input filename")
		if err != nil {
			return err
		}
		contents, err := scalarString(c, 1, "Contents")
		if err != nil {
			return err
		}
		name = tf.LocalPath(name)
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			return tf.FileError(name, err)
		}
		if err := os.WriteFile(name, []byte(contents), 0o644); err != nil {
			return tf.FileError(name, err)
		}
		return nil
	}), nil
}

func matchingFiles(*tf.Node) (tf.Kernel, error) {
	return onDisk(func(c *tf.OpContext) error {
		if c.Input(0).Rank() > 1 {
			return tf.Errorf(tf.InvalidArgument, "Input patterns tensor must be scalar or vector, but had shape: %s", c.Input(0).Shape().Text())
		}
		var names []string
		for _, pattern := range tf.Data[string](c.Input(0)) {
			found, err := filepath.Glob(tf.LocalPath(pattern))
			if err != nil {
				return tf.Errorf(tf.InvalidArgument, "a pattern of file names must be well-formed: %q: %v", pattern, err)
			}
			names = append(names, found...)
		}
		slices.Sort(names)
		out, err := tf.FromSlice(names, len(names))
		if err != nil {
			return err
		}
		c.Set(0, out)
		return nil
	}), nil
}
