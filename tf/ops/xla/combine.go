package xla

import (
	"slices"

	"github.com/gorge-tf/gorge/internal/stablehlo"
)

// The ways in which a region combines what there is with what comes.
const (
	replace = "replace" // takes what comes
	keep    = "keep"    // leaves what there is
)

// combination returns the name of the operation by which result i of a region of 2n
// arguments combines arguments i and n+i, or replace, or keep; "" if it is another.
func combination(b *stablehlo.Block, i, n int) string {
	if b == nil || len(b.Args) != 2*n || len(b.Ops) == 0 || len(b.Terminator().Operands) != n {
		return ""
	}
	was, is, v := b.Args[i], b.Args[n+i], b.Terminator().Operands[i]
	switch {
	case v == is:
		return replace
	case v == was:
		return keep
	case v.Def == nil || len(v.Def.Operands) != 2:
		return ""
	}
	x, y := v.Def.Operands[0], v.Def.Operands[1]
	commutes := slices.Contains([]string{"add", "multiply", "minimum", "maximum", "and", "or"}, v.Def.Name)
	if x == was && y == is && (commutes || v.Def.Name == "subtract") || x == is && y == was && commutes {
		return v.Def.Name
	}
	return ""
}

// region returns the i-th region of an operation, nil if there is none.
func region(op *stablehlo.Op, i int) *stablehlo.Block {
	if i >= len(op.Regions) {
		return nil
	}
	return op.Regions[i]
}
