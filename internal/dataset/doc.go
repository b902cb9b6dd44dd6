// Package dataset has the datasets of tf.data and the iterators over them, for
// the ops of package tf/ops/data and the Go API of package tf/data alike. It
// knows neither graphs nor sessions: what calls functions is a [Func].
package dataset
