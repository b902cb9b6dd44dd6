// Package normalization holds the loops that scale elements by statistics of their
// neighbours: batch normalization, by the moments of a channel, and softmax with its
// cross entropies, by the sum of a row; each with its gradient.
package normalization
