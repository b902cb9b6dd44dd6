// Package training holds the operations that only training needs: the updates that
// optimizers make of variables (Apply…, ResourceApply…, and SparseApply… for some rows),
// each in all its flavours, and fingerprints of examples. Optimizers of package
// [github.com/gorge-tf/gorge/tf/train] add them; importing the package registers them.
package training
