package core_test

import (
	"fmt"

	"github.com/gorge-tf/gorge/tf/core"
)

// An error of a node that is from a function names both to TensorFlow's clients.
func ExampleOrigin() {
	err := core.Error{Code: core.InvalidArgument, Msg: "Integer division by zero", Node: "call/FloorMod"}
	err.Origin = core.Origin{Function: "f", Node: "FloorMod"}
	fmt.Println(err.Origin)
	fmt.Printf("%q\n", err.WireMessage())
	// Output:
	// {{function_node f}}{{node FloorMod}}
	// "Integer division by zero\n\t [[{{function_node f}}{{node FloorMod}}]]"
}
