// Package optest tests operations, those of this module and those of programs. A
// package of ops has one test that calls Run, and a [Sample] for each op: inputs and a
// function that applies the op. Run then compares, for each sample and each type that
// the op has kernels for:
//
//   - the graph's results with those of an eager graph, bit by bit, and with results of
//     graphs in which nothing is known of the shapes when they are built;
//   - results, errors, gradients and the op's signature with TensorFlow's, which are in
//     golden files, or, for an op that TensorFlow does not have, results with
//     [Sample.Want] and errors with [Sample.Refused];
//   - gradients with difference quotients;
//   - the inputs before and after: a kernel may write only to what it owns;
//   - random wrong inputs, which must give errors, not panics.
//
// An op without a sample fails the test.
package optest
