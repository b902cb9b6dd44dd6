// Package pool holds pooling: the greatest element or the mean of each window of an
// image, channel by channel, and the gradients.
package pool
