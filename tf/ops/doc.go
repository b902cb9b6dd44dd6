// Package ops holds the operations: each is declared whole in one place, with
// its signature, what it means for shapes, its kernels, its gradient and the
// function that adds it to a graph. Importing the package registers them.
//
// A function is named after its op. Inputs come first, then options:
// attributes that have a default as a struct of the op's own (MatMulOpts),
// and those of every operation (tf.Name, tf.OnDevice, tf.After).
package ops
