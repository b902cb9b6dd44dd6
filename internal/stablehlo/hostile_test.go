package stablehlo

import (
	"bytes"
	"errors"
	"slices"
	"strings"
	"testing"
)

// TestVersions: all versions of the bytecode encode the same function.
func TestVersions(t *testing.T) {
	const want = "module @\nfunc public @main(%0: tensor<f32>) -> (tensor<f32>) {arg_attrs = [], res_attrs = []}\n" +
		"  %1 = abs %0 : tensor<f32>\n  return %1\n"
	for v := uint64(0); v <= newestVersion; v++ {
		b := newBuild(v).code(1, 1, op(opAbs, hasResults|hasOperands, nums(1, 1, 1, 0)), op(opReturn, hasOperands, nums(1, 1)))
		m, err := Read(b.artifact())
		if err != nil || m.String() != want || m.Producer != "handmade" {
			t.Errorf("version %d: %v, %v", v, m, err)
		}
	}
	if _, err := Read(newBuild(newestVersion + 1).artifact()); !errors.Is(err, ErrUnsupported) {
		t.Errorf("version %d: %v", newestVersion+1, err)
	}
}

// TestAlignment: a section that is aligned begins at a multiple of bytes from the start
// of the artifact, behind as little padding as need be.
func TestAlignment(t *testing.T) {
	right := 0
	for n := 1; n <= 16; n++ {
		b := newBuild(6)
		b.padding = n
		data := b.artifact()
		_, err := Read(data)
		if err == nil {
			right++
		}
		begin := bytes.LastIndex(data, []byte{0xCB}) + 1
		if fits := begin%16 == 0 && n < 16; fits != (err == nil) {
			t.Errorf("a section that begins at byte %d: %v", begin, err)
		}
	}
	if right != 1 {
		t.Errorf("%d paddings are right", right)
	}
}

// TestFunctionsDiffer: two functions of one name are an error.
func TestFunctionsDiffer(t *testing.T) {
	b := newBuild(6)
	b.copies = 1
	if _, err := Read(b.artifact()); err == nil || !strings.Contains(err.Error(), `must differ, got "main" twice`) {
		t.Error(err)
	}
}

// TestUseLists: the order of uses of results is stepped over.
func TestUseLists(t *testing.T) {
	abs := op(opAbs, hasResults|hasOperands|hasUseLists, nums(1, 1, 1, 0, 2<<1, 1, 0))
	b := newBuild(3).code(1, 1, abs, op(opReturn, hasOperands, nums(1, 1)))
	if _, err := Read(b.artifact()); err != nil {
		t.Error(err)
	}
}

// TestScopes: the operations of regions use values around them.
func TestScopes(t *testing.T) {
	inner := region(1, op(opAbs, hasResults|hasOperands, nums(1, 1, 1, 0)), op(opReturn, hasOperands, nums(1, 2)))
	cond := op(opIf, hasResults|hasOperands|hasRegions, append(append(nums(1, 1, 1, 0, 2<<1), inner...), inner...))
	b := newBuild(6).code(1, 1, cond, op(opReturn, hasOperands, nums(1, 1)))
	m, err := Read(b.artifact())
	if err != nil {
		t.Fatal(err)
	}
	branch := m.Func("main").Body.Ops[0].Regions[1]
	if branch.Ops[0].Operands[0] != m.Funcs[0].Body.Args[0] || branch.Ops[1].Operands[0] != branch.Ops[0].Results[0] {
		t.Errorf("got\n%v", m)
	}
}

// attack returns a build whose function has a type made of b's types.
func attack(prepare func(b *build) (attr uint64)) *build {
	b := newBuild(6)
	a := prepare(b)
	gather := op(opGather, hasAttrs|hasResults|hasOperands, nums(b.set("offset_dims", a), 1, 1, 2, 0, 0))
	return b.code(1, 1, gather, op(opReturn, hasOperands, nums(1, 1)))
}

// nested returns tuples of tuples, each of width times the one before.
func nested(b *build, depth, width int) uint64 {
	t := uint64(1)
	for range depth {
		parts := []uint64{23, uint64(width)}
		for range width {
			parts = append(parts, t)
		}
		t = b.typ(1, parts...)
	}
	return b.attr(1, 17, t)
}

// handmade returns artifacts that break one rule each.
func handmade() map[string][]byte {
	ret := op(opReturn, hasOperands, nums(1, 0))
	abs := func(operand uint64) []byte { return op(opAbs, hasResults|hasOperands, nums(1, 1, 1, operand)) }
	loop := func(b *build) uint64 { return b.attr(1, 1, 1, uint64(len(b.attrs))) }
	deep := func(b *build) uint64 { return nested(b, 2*maxDepth, 1) }
	wide := func(b *build) uint64 { return nested(b, 60, 4) }
	later := region(1, abs(2), op(opReturn, hasOperands, nums(1, 2)))
	self := op(opIf, hasResults|hasOperands|hasRegions, append(append(nums(1, 1, 1, 0, 2<<1), region(0, op(opReturn, hasOperands, nums(1, 1)))...), later...))
	regions := region(0, op(opReturn, 0, nil))
	for range 2 * maxDepth {
		regions = region(0, op(opIf, hasOperands|hasRegions, append(append(nums(1, 0, 2<<1), regions...), region(0, op(opReturn, 0, nil))...)), op(opReturn, 0, nil))
	}
	dive := op(opIf, hasOperands|hasRegions, append(append(nums(1, 0, 2<<1), regions...), region(0, op(opReturn, 0, nil))...))
	empty := op(opIf, hasOperands|hasRegions, nums(1, 0, 2<<1, 0, 0))
	return map[string][]byte{
		"must not be part of itself":                 attack(loop).artifact(),
		"must nest at most 256 deep":                 attack(deep).artifact(),
		"must have at most 1048576 parts":            attack(wide).artifact(),
		"must have the attribute \"collapsed_slice_": attack(func(b *build) uint64 { return b.attr(1, 1, 0) }).artifact(),
		"defined before it is used, got number 1":    newBuild(6).code(1, 1, abs(1), ret).artifact(),
		"defined before it is used, got number 2":    newBuild(6).code(1, 2, abs(2), abs(0), ret).artifact(),
		"defined before it is used, got number 9":    newBuild(6).code(1, 1, abs(9), ret).artifact(),
		"number 1 (in the operations":                newBuild(6).code(1, 1, self, ret).artifact(),
		"sets aside, got 1 of 3":                     newBuild(6).code(1, 2, ret).artifact(),
		"sets aside, got more than 1":                newBuild(6).code(1, 0, abs(0), ret).artifact(),
		"must have 2 operands, got 1":                newBuild(6).code(1, 1, op(opAdd, hasResults|hasOperands, nums(1, 1, 1, 0)), ret).artifact(),
		"must have 1 results, got 0":                 newBuild(6).code(1, 0, op(opAbs, hasOperands, nums(1, 0)), ret).artifact(),
		"must have 2 regions, got 0":                 newBuild(6).code(1, 0, op(opIf, hasOperands, nums(1, 0)), ret).artifact(),
		"must have a block, got none":                newBuild(6).code(1, 0, empty, ret).artifact(),
		"regions must nest at most 256 deep":         newBuild(6).code(1, 0, dive, ret).artifact(),
		"must not branch":                            newBuild(6).code(1, 0, op(opAbs, hasSuccessors, nil), ret).artifact(),
		"must be return, got \"return\" as number 1": newBuild(6).code(1, 0, ret, ret).artifact(),
		"must be return, got \"abs\" as number 1":    newBuild(6).code(1, 1, abs(0)).artifact(),
		"must have its 1 arguments, got 2":           newBuild(6).code(2, 0).artifact(),
		"must hold its operands, got 549755813888":   newBuild(6).code(1, 0, op(opTuple, hasOperands, nums(1<<39))).artifact(),
		"must begin with":                            []byte("MLIR"),
		"must have a section of strings, got none":   append([]byte("ML\xEFR"), append(nums(6), 0)...),
	}
}

// TestHandmade: the error names the rule.
func TestHandmade(t *testing.T) {
	for want, data := range handmade() {
		if _, err := Read(data); err == nil || !strings.Contains(err.Error(), want) || !errors.Is(err, ErrCorrupt) {
			t.Errorf("want %q, got %v", want, err)
		}
	}
}

// TestSharedTypes: arguments whose types consist of very many parts are not compared
// without end.
func TestSharedTypes(t *testing.T) {
	b := newBuild(6)
	nested(b, 5, 4)
	heavy := uint64(len(b.types) - 1)
	nested(b, 5, 4)
	twin := uint64(len(b.types) - 1)
	const n = 300
	args := append([]uint64{8, n}, slices.Repeat([]uint64{heavy}, n)...)
	f := b.typ(1, append(args, 0)...)
	b.attrs[b.kind] = made{1, nums(17, f)}
	b.code(0, 0, op(opReturn, 0, nil))
	b.body = append(nums(n), slices.Repeat(nums(twin<<1), n)...)
	b.body = append(append(b.body, 0), op(opReturn, 0, nil)...)
	b.values = n
	if _, err := Read(b.artifact()); err == nil || !strings.Contains(err.Error(), "has a use for") {
		t.Error(err)
	}
}

// TestSharedAttributes: many operations that share a large dictionary cost no more than
// the dictionary.
func TestSharedAttributes(t *testing.T) {
	b := newBuild(6)
	pairs := []any{}
	for i := range 2000 {
		pairs = append(pairs, "a"+strings.Repeat("x", i%7)+string(rune('A'+i)), uint64(0))
	}
	unit := b.attr(0, 7)
	for i := 1; i < len(pairs); i += 2 {
		pairs[i] = unit
	}
	set := b.set(pairs...)
	ops := [][]byte{}
	for range 2000 {
		ops = append(ops, op(opAbs, hasAttrs|hasResults|hasOperands, nums(set, 1, 1, 1, 0)))
	}
	ops = append(ops, op(opReturn, hasOperands, nums(1, 0)))
	m, err := Read(b.code(1, 2000, ops...).artifact())
	if err != nil {
		t.Fatal(err)
	}
	if n := len(m.Funcs[0].Body.Ops[1999].Attrs); n != 2000 {
		t.Errorf("got %d attributes", n)
	}
	if text := m.String(); len(text) > 2000*(longest+200) {
		t.Errorf("the text of the module takes %d bytes", len(text))
	}
}

// TestFunctionsWithin is about functions within others, which need no body: what walks
// over blocks relies on the ones of regions.
func TestFunctionsWithin(t *testing.T) {
	b := newBuild(newestVersion)
	within := op(opFunc, hasAttrs|hasRegions, nums(b.dict, 1<<1, 0))
	m, err := Read(b.code(1, 0, within, op(opReturn, hasOperands, nums(1, 0))).artifact())
	if err == nil {
		t.Error("a function within another must be refused, got", m)
	}
}
