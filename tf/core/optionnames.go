package core

import (
	"fmt"
	"strings"
)

// optionTypes has, for each op, the Go types of the options that its function
// takes: "ops.MatMulOpts". Packages of ops fill it from generated files.
var optionTypes = map[string]string{}

// NameOptions tells the Go types of options by the ops that take them; several
// are separated by spaces. Errors name them where an option of another type is
// given. It is meant for init functions.
func NameOptions(byOp map[string]string) {
	for op, types := range byOp {
		optionTypes[op] = types
	}
}

// unknownAttr says that an op lacks an attribute, and what options it takes.
func unknownAttr(op, attr string) error {
	err := AsError(Errorf(InvalidArgument, "NodeDef mentions attr '%s' not in Op<name=%s>", attr, op))
	takes := "it takes no options of its own"
	if types := optionTypes[op]; types != "" {
		takes = "its options are " + strings.Join(strings.Fields(types), ", ")
	}
	err.Plain = op + " has no attribute \"" + attr + "\": " + takes
	return err
}

// missingAttr says that an attribute without a default has not been given.
func missingAttr(op, attr string) error {
	err := AsError(Errorf(InvalidArgument, "NodeDef missing attr '%s' from Op<name=%s>", attr, op))
	err.Plain = fmt.Sprintf("attr %q has to be given", attr)
	return err
}
