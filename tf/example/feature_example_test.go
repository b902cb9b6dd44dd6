package example_test

import (
	"fmt"

	"github.com/gorge-tf/gorge/tf/example"
)

// An example is a record of named features, as TFRecord files hold it.
func ExampleExample() {
	record := example.Example{
		"label":  example.Ints(7),
		"pixels": example.Floats(0.5, 1),
		"name":   example.Strings("seven"),
	}.Marshal()

	e, err := example.Unmarshal(record)
	fmt.Println(e["label"].Ints, e["pixels"].Floats, e["name"].Strings, err)
	// Output: [7] [0.5 1] [seven] <nil>
}

// A feature has values of one kind; the other fields are nil.
func ExampleFeature() {
	f := example.Ints(1, 2)
	fmt.Println(f.Ints, f.Floats == nil, f.Strings == nil)
	// Output: [1 2] true true
}

// A sequence has features of the whole, and lists with an entry for each step.
func ExampleSequence() {
	record := example.Sequence{
		Context: example.Example{"speaker": example.Strings("a")},
		Lists:   map[string][]example.Feature{"word": {example.Ints(3), example.Ints(1, 4)}},
	}.Marshal()

	s, err := example.UnmarshalSequence(record)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(s.Context["speaker"].Strings)
	for _, step := range s.Lists["word"] {
		fmt.Println(step.Ints)
	}
	// Output:
	// [a]
	// [3]
	// [1 4]
}
