// Package sample knows strings that ops can read which expect more of a string than that
// it is one: serialized messages and the contents of files. A server feeds them to
// signatures before the first request comes.
package sample

import "github.com/gorge-tf/gorge/tf/core"

// Inputs are the values of a node's inputs as far as they are constants.
type Inputs interface {
	// Input returns the value of input i, nil if it is not known.
	Input(i int) *core.Tensor
}

// A Func returns a string that node n can read as its input 0. It reports whether there
// is one.
type Func func(n *core.Node, in Inputs) (string, bool)

var funcs = map[string]Func{}

// Register sets the function for the nodes of some ops. It is meant for init functions.
func Register(f Func, ops ...string) {
	for _, op := range ops {
		funcs[op] = f
	}
}

// Of returns the function for the nodes of an op, nil if there is none.
func Of(op string) Func { return funcs[op] }
