// Package kerneltest holds what tests of several packages of loops share: running a
// test on each instruction set of the machine, numbers to compute with, ways to cut
// work.
package kerneltest
