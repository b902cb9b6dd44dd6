package xla

import (
	"testing"

	"github.com/gorge-tf/gorge/internal/stablehlo"
)

// TestStructure counts the ops that models spend their time on, and those that would
// only move data.
func TestStructure(t *testing.T) {
	modules := familyModules(t)
	for name, want := range map[string]map[string]int{
		"resnet":     {"Conv2D": 4, "MaxPool": 1, "Transpose": 0, "PadV2": 0},
		"mobile":     {"Conv2D": 1, "DepthwiseConv2dNative": 1, "AvgPool": 1, "Transpose": 0, "PadV2": 0},
		"embedding":  {"GatherV2": 1, "GatherNd": 0, "Transpose": 0},
		"sums":       {"Cumsum": 1, "StridedSlice": 0},
		"transposed": {"Conv2DBackpropInput": 1, "PadV2": 0},
		"line":       {"Conv2D": 1, "Transpose": 0},
		"caches":     {"TensorStridedSliceUpdate": 1},
		"poolgrad":   {"MaxPoolGrad": 1},
	} {
		t.Run(name, func(t *testing.T) {
			m, err := stablehlo.Read(modules["model_"+name+".pb"])
			if err != nil {
				t.Fatal(err)
			}
			g, err := lowered(m)
			if err != nil {
				t.Fatal(err)
			}
			have := map[string]int{}
			for _, op := range g.Operations() {
				have[op.OpName()]++
			}
			for op, n := range want {
				if have[op] != n {
					t.Errorf("%s: want %d, got %d of %v", op, n, have[op], have)
				}
			}
		})
	}
}
