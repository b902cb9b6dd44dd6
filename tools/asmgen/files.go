package main

import (
	"bytes"
	"fmt"
	"go/format"
	"path"
	"strings"

	"github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/pass"
	"github.com/mmcloughlin/avo/printer"
)

// families lists what is generated, each into files of its own: package and name.
var families = []struct {
	name string
	emit func(a *asm)
}{
	{"kernel/elementwise/elementwise_avx512", func(a *asm) { emitElementwise(a, avx512) }},
	{"kernel/elementwise/elementwise_avx2", func(a *asm) { emitElementwise(a, avx2) }},
	{"kernel/descent/update_avx512", func(a *asm) { emitUpdates(a, avx512) }},
	{"kernel/descent/update_avx2", func(a *asm) { emitUpdates(a, avx2) }},
	{"kernel/reduction/fold_avx512", func(a *asm) { emitFolds(a, avx512) }},
	{"kernel/reduction/fold_avx2", func(a *asm) { emitFolds(a, avx2) }},
	{"kernel/gemm/gemm_f32_avx512", func(a *asm) { emitGemm(a, gemmShape{isa: avx512, elem: f32}) }},
	{"kernel/gemm/gemm_f32_avx2", func(a *asm) { emitGemm(a, gemmShape{isa: avx2, elem: f32}) }},
	{"kernel/gemm/gemm_f64_avx512", func(a *asm) { emitGemm(a, gemmShape{isa: avx512, elem: f64}) }},
	{"kernel/gemm/gemm_f64_avx2", func(a *asm) { emitGemm(a, gemmShape{isa: avx2, elem: f64}) }},
	{"kernel/gemm/eliminate_avx512", emitEliminate},
	{"kernel/gemm/dot_avx512", func(a *asm) { emitDot(a, avx512) }},
	{"kernel/gemm/dot_avx2", func(a *asm) { emitDot(a, avx2) }},
	{"kernel/conv/conv_f32_avx512", func(a *asm) { emitConv(a, gemmShape{isa: avx512, elem: f32}) }},
	{"kernel/conv/conv_f32_avx2", func(a *asm) { emitConv(a, gemmShape{isa: avx2, elem: f32}) }},
	{"kernel/conv/conv_f64_avx512", func(a *asm) { emitConv(a, gemmShape{isa: avx512, elem: f64}) }},
	{"kernel/conv/conv_f64_avx2", func(a *asm) { emitConv(a, gemmShape{isa: avx2, elem: f64}) }},
	{"kernel/conv/depthwise_avx512", func(a *asm) { emitDepthwise(a, avx512) }},
	{"kernel/conv/depthwise_avx2", func(a *asm) { emitDepthwise(a, avx2) }},
	{"kernel/conv/winograd_avx512", func(a *asm) { emitWinograd(a, avx512) }},
	{"kernel/conv/winograd_avx2", func(a *asm) { emitWinograd(a, avx2) }},
	{"kernel/columns/columns_avx512", func(a *asm) { emitColumns(a, avx512) }},
	{"kernel/columns/columns_avx2", func(a *asm) { emitColumns(a, avx2) }},
	{"kernel/pool/windows_avx512", func(a *asm) { emitWindows(a, avx512) }},
	{"kernel/pool/windows_avx2", func(a *asm) { emitWindows(a, avx2) }},
	{"kernel/tiles/pack_avx512", emitPack},
	{"kernel/cpuid", emitCPUID},
	{"kernel/prefetch", emitPrefetch},
	{"kernel/subnormal", emitSubnormal},
	{"kernel/fft/fft_avx512", func(a *asm) { emitFFT(a, avx512) }},
	{"kernel/fft/fft_avx2", func(a *asm) { emitFFT(a, avx2) }},
	{"imagefile/jpeg/transforms_avx2", emitTransforms},
	{"imagefile/jpeg/colors_avx2", emitColors},
	{"random/philox_avx512", func(a *asm) { emitPhilox(a, avx512) }},
	{"random/philox_avx2", func(a *asm) { emitPhilox(a, avx2) }},
}

// generate returns all files by name.
func generate() (map[string][]byte, error) {
	files := map[string][]byte{}
	for _, f := range families {
		a := newAsm()
		f.emit(a)
		if err := a.print(files, f.name); err != nil {
			return nil, err
		}
	}
	for _, t := range tables {
		text, err := format.Source(t.text(path.Base(path.Dir(t.name))))
		if err != nil {
			return nil, err
		}
		files[t.name] = text
	}
	return files, nil
}

// print compiles the assembly and adds it and its declarations to files.
func (a *asm) print(files map[string][]byte, name string) error {
	f, err := a.Result()
	if err != nil {
		return err
	}
	if err := pass.Compile.Execute(f); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	if strings.HasSuffix(name, "_avx512") {
		dropSelfMoves(f, uint(avx512))
	} else {
		dropSelfMoves(f, uint(avx2))
	}
	cfg := printer.Config{Name: "tools/asmgen", Pkg: path.Base(path.Dir(name))}
	code, err := printer.NewGoAsm(cfg).Print(f)
	if err != nil {
		return err
	}
	stubs, err := printer.NewStubs(cfg).Print(f)
	if err != nil {
		return err
	}
	if !a.anywhere {
		code = aligned(code)
	}
	files[name+"_amd64.s"] = code
	files[name+"_amd64.go"], err = format.Source(bytes.TrimSpace(stubs))
	return err
}

func newAsm() *asm {
	c := build.NewContext()
	c.ConstraintExpr("!noasm")
	return &asm{Context: c, data: map[string]bool{}}
}
