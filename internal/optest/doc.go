// Package optest is the judge of operations: it walks the ops that a package
// registers and runs samples of them in every way there is.
package optest
