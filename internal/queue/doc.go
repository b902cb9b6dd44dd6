// Package queue holds TensorFlow's queues: stores of tuples of tensors that
// steps of any session put into and take from.
//
// An operation that cannot be served waits as an attempt: a small record with a
// callback, in the order of arrival, without a goroutine. Whenever something changes, the
// attempts at the front are tried again: first those that enqueue, then those
// that dequeue, until nothing moves. Callbacks run without the queue's lock, on
// the goroutine whose call made them due.
//
// Nothing is lost: what an attempt has taken goes back where it came from if
// the attempt fails or is cancelled.
package queue
