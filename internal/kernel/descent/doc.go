// Package descent holds the loops that move variables along their gradients: axpy,
// momentum and Adam, in place, and from one place to another past the caches.
package descent
