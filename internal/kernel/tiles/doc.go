// Package tiles holds what loops over tiles of matrices share: the sizes of this
// processor's caches, how rows are cut into tiles of nearly equal height, memory that
// begins at a cache line, and copies of parts of a matrix into the order in which
// micro-kernels read them.
package tiles
