package stablehlo

import (
	"strings"
	"testing"
)

// TestUpgrade: operations of early versions read as those of late ones that mean the same.
func TestUpgrade(t *testing.T) {
	for _, test := range []struct {
		op      uint64
		mask    byte
		rest    []uint64
		want    []string
		without string
	}{
		{opGather, hasResults | hasOperands, []uint64{1, 1, 2, 0, 0},
			[]string{"gather %0, %0", "operand_batching_dims = dense<[]> : tensor<0xi64>", "start_indices_batching_dims"}, "none"},
		{opTanh, hasResults | hasOperands, []uint64{1, 1, 1, 0},
			[]string{"tanh %0 {result_accuracy = {atol = 0 : f64, mode = DEFAULT, rtol = 0 : f64, ulps = 0 : i64}}"}, "_v1"},
		{opDynamicConv, hasResults | hasOperands, []uint64{1, 1, 3, 0, 0, 0}, []string{"dynamic_conv %0, %0, %0 {", "lhs_dilation = "}, " padding = "},
		{opCall, hasOperands, []uint64{1, 0}, []string{"callee = @main"}, "\""},
	} {
		b := newBuild(6)
		name := b.attr(1, 14, b.text("main"))
		var pairs []any
		for _, field := range signatures[names[test.op]].attrs {
			pairs = append(pairs, field, name)
		}
		rest := append([]uint64{b.set(pairs...)}, test.rest...)
		results := uint64(test.mask&hasResults) / hasResults
		b.code(1, results, op(test.op, test.mask|hasAttrs, nums(rest...)), op(opReturn, hasOperands, nums(1, 0)))
		m, err := Read(b.artifact())
		if err != nil {
			t.Error(err)
			continue
		}
		got := m.Funcs[0].Body.Ops[0].String()
		for _, want := range test.want {
			if !strings.Contains(got, want) {
				t.Errorf("%s: got %s, want %s", names[test.op], got, want)
			}
		}
		if strings.Contains(got, test.without) {
			t.Errorf("%s: got %s, want no %s", names[test.op], got, test.without)
		}
	}
}
