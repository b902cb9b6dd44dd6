// Package random has the operations of tf.random that package ops has not:
// those without state and those of generators, gamma, Poisson and multinomial numbers,
// candidate samplers, and the losses that sample classes. They give TensorFlow's numbers.
package random
