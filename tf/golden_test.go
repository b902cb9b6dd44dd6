package tf_test

import (
	_ "embed"
	"encoding/json"
	"testing"
)

//go:embed testdata/golden.json
var goldenJSON []byte

// golden is what TensorFlow says; testdata/golden.py writes it.
var golden struct {
	Names   [][3]string
	Devices map[string]*string
	Scopes  [][2]json.RawMessage
	Seeds   [][2]json.RawMessage
}

func init() {
	if err := json.Unmarshal(goldenJSON, &golden); err != nil {
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
