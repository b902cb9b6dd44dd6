package core_test

import (
	"encoding/json"
	"os"
	"testing"

	"github.com/gorge-tf/gorge/tf/core"
)

// golden is what TensorFlow says; ../testdata/golden.py writes it.
var golden struct {
	Types []struct {
		Enum, Name, Ref            string
		Number, Size               int
		Floating, Integer, Complex bool
	}
	Tensors, Encodings []goldenTensor
	Broadcasts         [][5]json.RawMessage
}

// goldenTensor is a tensor, the bytes of a TensorProto that has it, and its
// elements: in hexadecimal digits, strings each for themselves.
type goldenTensor struct {
	Name     string
	DType    core.DType
	Shape    []int
	Proto    string
	Elements json.RawMessage
}

func init() {
	b, err := os.ReadFile("../testdata/golden.json")
	if err == nil {
		err = json.Unmarshal(b, &golden)
	}
	if err != nil {
		panic(err)
	}
}

// decode reads a part of the golden data.
func decode[T any](t *testing.T, data json.RawMessage) (v T) {
	t.Helper()
	if err := json.Unmarshal(data, &v); err != nil {
		t.Fatal(err)
	}
	return v
}

// goldenShape reads a shape: null stands for an error.
func goldenShape(t *testing.T, data json.RawMessage) (s core.Shape, ok bool) {
	t.Helper()
	switch string(data) {
	case "null":
		return nil, false
	case `"unknown"`:
		return nil, true
	}
	return append(core.Shape{}, decode[[]int](t, data)...), true
}
