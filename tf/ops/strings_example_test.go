package ops_test

import (
	"fmt"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/eager"
	"github.com/gorge-tf/gorge/tf/ops"
)

// Precision counts digits behind the point (HasPrecision alone asks for none),
// Width fills up to a length.
func ExampleAsString() {
	g := eager.New()
	x := ops.Const(g, []float32{3.14159, -2})
	for _, o := range []ops.AsStringOpts{{}, {Precision: 2, Width: 6, Fill: "0"}, {HasPrecision: true}, {Shortest: true}} {
		v, err := ops.AsString(x, o).Value()
		fmt.Println(v, err)
	}
	// Output:
	// string[2]{"3.141590", "-2.000000"} <nil>
	// string[2]{"003.14", "-02.00"} <nil>
	// string[2]{"3", "-2"} <nil>
	// string[2]{"3.14159", "-2"} <nil>
}

// The first match in each string is replaced, or all of them. \1 is what the
// first group matched.
func ExampleStaticRegexReplace() {
	g := eager.New()
	x := ops.Const(g, []string{"a1b22"})
	for _, first := range []bool{false, true} {
		v, err := ops.StaticRegexReplace(x, "([0-9]+)", `<\1>`, ops.RegexReplaceOpts{First: first}).Value()
		fmt.Println(v, err)
	}
	// Output:
	// string[1]{"a<1>b<22>"} <nil>
	// string[1]{"a<1>b22"} <nil>
}

// Summarize bounds how many elements are shown at both ends of a dimension.
func ExampleStringFormat() {
	g := eager.New()
	x := ops.Const(g, []int32{1, 2, 3, 4, 5})
	v, err := ops.StringFormat(g, "x = %s", []tf.Output{x}, ops.StringFormatOpts{Summarize: 1}).Value()
	fmt.Println(v, err)
	v, err = ops.StringFormat(g, "100 % of {}", []tf.Output{x}, ops.StringFormatOpts{Placeholder: "{}", Summarize: -1}).Value()
	fmt.Println(v, err)
	// Output:
	// string[]{"x = [1 ... 5]"} <nil>
	// string[]{"100 % of [1 2 3 4 5]"} <nil>
}

// Strings at the same place are joined; a scalar is joined to all.
func ExampleStringJoin() {
	g := eager.New()
	xs := []tf.Output{ops.Const(g, []string{"a", "b"}), ops.Scalar(g, "x")}
	v, err := ops.StringJoin(g, xs, ops.StringJoinOpts{Separator: "-"}).Value()
	fmt.Println(v, err)
	// Output: string[2]{"a-x", "b-x"} <nil>
}

// Print passes x on and shows other tensors when it runs, here at most two
// elements of each.
func ExamplePrint() {
	ops.SetPrinter(func(_, text string) { fmt.Print(text) })
	defer ops.SetPrinter(nil)
	g := eager.New()
	x := ops.Const(g, []float32{1, 2, 3})
	y := ops.Print(x, []tf.Output{x, ops.Shape(x)}, ops.PrintOpts{Message: "x and its shape: ", Summarize: 2})
	v, err := y.Value()
	fmt.Println(v, err)
	// Output:
	// x and its shape: [1 2...][3]
	// float32[3]{1, 2, 3} <nil>
}

// PrintV2 prints a string, which StringFormat makes of tensors.
func ExamplePrintV2() {
	ops.SetPrinter(func(stream, text string) { fmt.Printf("%s gets %q\n", stream, text) })
	defer ops.SetPrinter(nil)
	g := eager.New()
	text := ops.StringFormat(g, "x = %s", []tf.Output{ops.Const(g, []int32{1, 2})})
	for _, o := range []ops.PrintV2Opts{{}, {OutputStream: "stdout", End: ";\n"}, {OutputStream: "log(info)", NoNewline: true}} {
		if err := ops.PrintV2(text, o).Err(); err != nil {
			fmt.Println(err)
		}
	}
	// Output:
	// stderr gets "x = [1 2]\n"
	// stdout gets "x = [1 2];\n"
	// log(info) gets "x = [1 2]"
}

// Nothing is printed until a program says where to.
func ExamplePrinter() {
	var lines []string
	var keep ops.Printer = func(_, text string) { lines = append(lines, text) }
	ops.SetPrinter(keep)
	defer ops.SetPrinter(nil)
	g := eager.New()
	err := ops.PrintV2(ops.Scalar(g, "step 1"), ops.PrintV2Opts{NoNewline: true}).Err()
	fmt.Println(lines, err)
	// Output: [step 1] <nil>
}

// The message of an assertion that fails shows tensors, the first elements of
// each.
func ExampleAssert() {
	g := eager.New()
	x := ops.Const(g, []float32{1, -2, 3, 4})
	positive := ops.All(ops.Greater(x, ops.Scalar[float32](g, 0)), ops.AllAxes)
	err := ops.Assert(positive, []tf.Output{ops.Scalar(g, "x ="), x}, ops.AssertOpts{Summarize: 2}).Err()
	fmt.Println(tf.CodeOf(err), tf.AsError(err).Msg)
	// Output: INVALID_ARGUMENT assertion failed: [x =] [1 -2...]
}
