// Package random has the operations of tf.random that package ops has not:
// those without state, gamma, Poisson and multinomial numbers, and candidate
// samplers. They give TensorFlow's numbers.
package random
