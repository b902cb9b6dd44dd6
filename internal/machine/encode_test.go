package machine

import (
	"encoding/hex"
	"testing"
)

// TestEncodings compares instructions with what GNU as makes of the text, with prefixes of
// three bytes ({vex3}), EVEX ({evex}) and distances ({disp8}, {disp32}), as we write them.
func TestEncodings(t *testing.T) {
	for _, c := range []struct {
		isa         ISA
		text, bytes string
		write       func(a *assembler)
	}{
		{AVX512, "vaddps %zmm30, %zmm9, %zmm17", "6281344858ce", func(a *assembler) { a.vector(arithmetic[add], 17, 9, register(30), mask{}) }},
		{AVX512, "vaddps %zmm12, %zmm24, %zmm3", "62d13c4058dc", func(a *assembler) { a.vector(arithmetic[add], 3, 24, register(12), mask{}) }},
		{AVX2, "vaddps %ymm9, %ymm5, %ymm13", "c4415458e9", func(a *assembler) { a.vector(arithmetic[add], 13, 5, register(9), mask{}) }},
		{AVX2, "vaddps %ymm6, %ymm11, %ymm2", "c4e12458d6", func(a *assembler) { a.vector(arithmetic[add], 2, 11, register(6), mask{}) }},
		{AVX512, "vsubps %zmm30, %zmm9, %zmm17", "628134485cce", func(a *assembler) { a.vector(arithmetic[sub], 17, 9, register(30), mask{}) }},
		{AVX512, "vsubps %zmm12, %zmm24, %zmm3", "62d13c405cdc", func(a *assembler) { a.vector(arithmetic[sub], 3, 24, register(12), mask{}) }},
		{AVX2, "vsubps %ymm9, %ymm5, %ymm13", "c441545ce9", func(a *assembler) { a.vector(arithmetic[sub], 13, 5, register(9), mask{}) }},
		{AVX2, "vsubps %ymm6, %ymm11, %ymm2", "c4e1245cd6", func(a *assembler) { a.vector(arithmetic[sub], 2, 11, register(6), mask{}) }},
		{AVX512, "vmulps %zmm30, %zmm9, %zmm17", "6281344859ce", func(a *assembler) { a.vector(arithmetic[mul], 17, 9, register(30), mask{}) }},
		{AVX512, "vmulps %zmm12, %zmm24, %zmm3", "62d13c4059dc", func(a *assembler) { a.vector(arithmetic[mul], 3, 24, register(12), mask{}) }},
		{AVX2, "vmulps %ymm9, %ymm5, %ymm13", "c4415459e9", func(a *assembler) { a.vector(arithmetic[mul], 13, 5, register(9), mask{}) }},
		{AVX2, "vmulps %ymm6, %ymm11, %ymm2", "c4e12459d6", func(a *assembler) { a.vector(arithmetic[mul], 2, 11, register(6), mask{}) }},
		{AVX512, "vdivps %zmm30, %zmm9, %zmm17", "628134485ece", func(a *assembler) { a.vector(arithmetic[div], 17, 9, register(30), mask{}) }},
		{AVX512, "vdivps %zmm12, %zmm24, %zmm3", "62d13c405edc", func(a *assembler) { a.vector(arithmetic[div], 3, 24, register(12), mask{}) }},
		{AVX2, "vdivps %ymm9, %ymm5, %ymm13", "c441545ee9", func(a *assembler) { a.vector(arithmetic[div], 13, 5, register(9), mask{}) }},
		{AVX2, "vdivps %ymm6, %ymm11, %ymm2", "c4e1245ed6", func(a *assembler) { a.vector(arithmetic[div], 2, 11, register(6), mask{}) }},
		{AVX512, "vmaxps %zmm30, %zmm9, %zmm17", "628134485fce", func(a *assembler) { a.vector(arithmetic[rawMax], 17, 9, register(30), mask{}) }},
		{AVX512, "vmaxps %zmm12, %zmm24, %zmm3", "62d13c405fdc", func(a *assembler) { a.vector(arithmetic[rawMax], 3, 24, register(12), mask{}) }},
		{AVX2, "vmaxps %ymm9, %ymm5, %ymm13", "c441545fe9", func(a *assembler) { a.vector(arithmetic[rawMax], 13, 5, register(9), mask{}) }},
		{AVX2, "vmaxps %ymm6, %ymm11, %ymm2", "c4e1245fd6", func(a *assembler) { a.vector(arithmetic[rawMax], 2, 11, register(6), mask{}) }},
		{AVX512, "vminps %zmm30, %zmm9, %zmm17", "628134485dce", func(a *assembler) { a.vector(arithmetic[rawMin], 17, 9, register(30), mask{}) }},
		{AVX512, "vminps %zmm12, %zmm24, %zmm3", "62d13c405ddc", func(a *assembler) { a.vector(arithmetic[rawMin], 3, 24, register(12), mask{}) }},
		{AVX2, "vminps %ymm9, %ymm5, %ymm13", "c441545de9", func(a *assembler) { a.vector(arithmetic[rawMin], 13, 5, register(9), mask{}) }},
		{AVX2, "vminps %ymm6, %ymm11, %ymm2", "c4e1245dd6", func(a *assembler) { a.vector(arithmetic[rawMin], 2, 11, register(6), mask{}) }},
		{AVX512, "vpandd %zmm30, %zmm9, %zmm17", "62813548dbce", func(a *assembler) { a.vector(arithmetic[and], 17, 9, register(30), mask{}) }},
		{AVX512, "vpandd %zmm12, %zmm24, %zmm3", "62d13d40dbdc", func(a *assembler) { a.vector(arithmetic[and], 3, 24, register(12), mask{}) }},
		{AVX2, "vpand %ymm9, %ymm5, %ymm13", "c44155dbe9", func(a *assembler) { a.vector(arithmetic[and], 13, 5, register(9), mask{}) }},
		{AVX2, "vpand %ymm6, %ymm11, %ymm2", "c4e125dbd6", func(a *assembler) { a.vector(arithmetic[and], 2, 11, register(6), mask{}) }},
		{AVX512, "vpord %zmm30, %zmm9, %zmm17", "62813548ebce", func(a *assembler) { a.vector(arithmetic[or], 17, 9, register(30), mask{}) }},
		{AVX512, "vpord %zmm12, %zmm24, %zmm3", "62d13d40ebdc", func(a *assembler) { a.vector(arithmetic[or], 3, 24, register(12), mask{}) }},
		{AVX2, "vpor %ymm9, %ymm5, %ymm13", "c44155ebe9", func(a *assembler) { a.vector(arithmetic[or], 13, 5, register(9), mask{}) }},
		{AVX2, "vpor %ymm6, %ymm11, %ymm2", "c4e125ebd6", func(a *assembler) { a.vector(arithmetic[or], 2, 11, register(6), mask{}) }},
		{AVX512, "vpxord %zmm30, %zmm9, %zmm17", "62813548efce", func(a *assembler) { a.vector(arithmetic[xor], 17, 9, register(30), mask{}) }},
		{AVX512, "vpxord %zmm12, %zmm24, %zmm3", "62d13d40efdc", func(a *assembler) { a.vector(arithmetic[xor], 3, 24, register(12), mask{}) }},
		{AVX2, "vpxor %ymm9, %ymm5, %ymm13", "c44155efe9", func(a *assembler) { a.vector(arithmetic[xor], 13, 5, register(9), mask{}) }},
		{AVX2, "vpxor %ymm6, %ymm11, %ymm2", "c4e125efd6", func(a *assembler) { a.vector(arithmetic[xor], 2, 11, register(6), mask{}) }},
		{AVX512, "vpaddd %zmm30, %zmm9, %zmm17", "62813548fece", func(a *assembler) { a.vector(arithmetic[intAdd], 17, 9, register(30), mask{}) }},
		{AVX512, "vpaddd %zmm12, %zmm24, %zmm3", "62d13d40fedc", func(a *assembler) { a.vector(arithmetic[intAdd], 3, 24, register(12), mask{}) }},
		{AVX2, "vpaddd %ymm9, %ymm5, %ymm13", "c44155fee9", func(a *assembler) { a.vector(arithmetic[intAdd], 13, 5, register(9), mask{}) }},
		{AVX2, "vpaddd %ymm6, %ymm11, %ymm2", "c4e125fed6", func(a *assembler) { a.vector(arithmetic[intAdd], 2, 11, register(6), mask{}) }},
		{AVX512, "vpsubd %zmm30, %zmm9, %zmm17", "62813548face", func(a *assembler) { a.vector(arithmetic[intSub], 17, 9, register(30), mask{}) }},
		{AVX512, "vpsubd %zmm12, %zmm24, %zmm3", "62d13d40fadc", func(a *assembler) { a.vector(arithmetic[intSub], 3, 24, register(12), mask{}) }},
		{AVX2, "vpsubd %ymm9, %ymm5, %ymm13", "c44155fae9", func(a *assembler) { a.vector(arithmetic[intSub], 13, 5, register(9), mask{}) }},
		{AVX2, "vpsubd %ymm6, %ymm11, %ymm2", "c4e125fad6", func(a *assembler) { a.vector(arithmetic[intSub], 2, 11, register(6), mask{}) }},
		{AVX512, "vpmulld %zmm30, %zmm9, %zmm17", "6282354840ce", func(a *assembler) { a.vector(arithmetic[intMul], 17, 9, register(30), mask{}) }},
		{AVX512, "vpmulld %zmm12, %zmm24, %zmm3", "62d23d4040dc", func(a *assembler) { a.vector(arithmetic[intMul], 3, 24, register(12), mask{}) }},
		{AVX2, "vpmulld %ymm9, %ymm5, %ymm13", "c4425540e9", func(a *assembler) { a.vector(arithmetic[intMul], 13, 5, register(9), mask{}) }},
		{AVX2, "vpmulld %ymm6, %ymm11, %ymm2", "c4e22540d6", func(a *assembler) { a.vector(arithmetic[intMul], 2, 11, register(6), mask{}) }},
		{AVX512, "vpmaxsd %zmm30, %zmm9, %zmm17", "628235483dce", func(a *assembler) { a.vector(arithmetic[intMax], 17, 9, register(30), mask{}) }},
		{AVX512, "vpmaxsd %zmm12, %zmm24, %zmm3", "62d23d403ddc", func(a *assembler) { a.vector(arithmetic[intMax], 3, 24, register(12), mask{}) }},
		{AVX2, "vpmaxsd %ymm9, %ymm5, %ymm13", "c442553de9", func(a *assembler) { a.vector(arithmetic[intMax], 13, 5, register(9), mask{}) }},
		{AVX2, "vpmaxsd %ymm6, %ymm11, %ymm2", "c4e2253dd6", func(a *assembler) { a.vector(arithmetic[intMax], 2, 11, register(6), mask{}) }},
		{AVX512, "vpminsd %zmm30, %zmm9, %zmm17", "6282354839ce", func(a *assembler) { a.vector(arithmetic[intMin], 17, 9, register(30), mask{}) }},
		{AVX512, "vpminsd %zmm12, %zmm24, %zmm3", "62d23d4039dc", func(a *assembler) { a.vector(arithmetic[intMin], 3, 24, register(12), mask{}) }},
		{AVX2, "vpminsd %ymm9, %ymm5, %ymm13", "c4425539e9", func(a *assembler) { a.vector(arithmetic[intMin], 13, 5, register(9), mask{}) }},
		{AVX2, "vpminsd %ymm6, %ymm11, %ymm2", "c4e22539d6", func(a *assembler) { a.vector(arithmetic[intMin], 2, 11, register(6), mask{}) }},
		{AVX512, "vmovups (%rdx,%rax,4), %zmm21", "62e17c48106c8200", func(a *assembler) { a.vector(moveLoad, 21, 0, indexed(2, Word), mask{}) }},
		{AVX512, "vmovups %zmm29, (%rdx,%rax,4)", "62617c48116c8200", func(a *assembler) { a.vector(moveStore, 29, 0, indexed(2, Word), mask{}) }},
		{AVX2, "vmovups (%rdx,%rax,4), %ymm11", "c4617c105c8200", func(a *assembler) { a.vector(moveLoad, 11, 0, indexed(2, Word), mask{}) }},
		{AVX2, "vmovups %ymm5, (%rdx,%rax,4)", "c4e17c116c8200", func(a *assembler) { a.vector(moveStore, 5, 0, indexed(2, Word), mask{}) }},
		{AVX512, "vmovups (%r8,%rax,4), %zmm21", "62c17c48106c8000", func(a *assembler) { a.vector(moveLoad, 21, 0, indexed(8, Word), mask{}) }},
		{AVX512, "vmovups %zmm29, (%r8,%rax,4)", "62417c48116c8000", func(a *assembler) { a.vector(moveStore, 29, 0, indexed(8, Word), mask{}) }},
		{AVX2, "vmovups (%r8,%rax,4), %ymm11", "c4417c105c8000", func(a *assembler) { a.vector(moveLoad, 11, 0, indexed(8, Word), mask{}) }},
		{AVX2, "vmovups %ymm5, (%r8,%rax,4)", "c4c17c116c8000", func(a *assembler) { a.vector(moveStore, 5, 0, indexed(8, Word), mask{}) }},
		{AVX512, "vmovups (%r12,%rax,4), %zmm21", "62c17c48106c8400", func(a *assembler) { a.vector(moveLoad, 21, 0, indexed(12, Word), mask{}) }},
		{AVX512, "vmovups %zmm29, (%r12,%rax,4)", "62417c48116c8400", func(a *assembler) { a.vector(moveStore, 29, 0, indexed(12, Word), mask{}) }},
		{AVX2, "vmovups (%r12,%rax,4), %ymm11", "c4417c105c8400", func(a *assembler) { a.vector(moveLoad, 11, 0, indexed(12, Word), mask{}) }},
		{AVX2, "vmovups %ymm5, (%r12,%rax,4)", "c4c17c116c8400", func(a *assembler) { a.vector(moveStore, 5, 0, indexed(12, Word), mask{}) }},
		{AVX512, "vmovups (%r13,%rax,4), %zmm21", "62c17c48106c8500", func(a *assembler) { a.vector(moveLoad, 21, 0, indexed(13, Word), mask{}) }},
		{AVX512, "vmovups %zmm29, (%r13,%rax,4)", "62417c48116c8500", func(a *assembler) { a.vector(moveStore, 29, 0, indexed(13, Word), mask{}) }},
		{AVX2, "vmovups (%r13,%rax,4), %ymm11", "c4417c105c8500", func(a *assembler) { a.vector(moveLoad, 11, 0, indexed(13, Word), mask{}) }},
		{AVX2, "vmovups %ymm5, (%r13,%rax,4)", "c4c17c116c8500", func(a *assembler) { a.vector(moveStore, 5, 0, indexed(13, Word), mask{}) }},
		{AVX512, "vmovups (%rsi,%rax,4), %zmm21", "62e17c48106c8600", func(a *assembler) { a.vector(moveLoad, 21, 0, indexed(6, Word), mask{}) }},
		{AVX512, "vmovups %zmm29, (%rsi,%rax,4)", "62617c48116c8600", func(a *assembler) { a.vector(moveStore, 29, 0, indexed(6, Word), mask{}) }},
		{AVX2, "vmovups (%rsi,%rax,4), %ymm11", "c4617c105c8600", func(a *assembler) { a.vector(moveLoad, 11, 0, indexed(6, Word), mask{}) }},
		{AVX2, "vmovups %ymm5, (%rsi,%rax,4)", "c4e17c116c8600", func(a *assembler) { a.vector(moveStore, 5, 0, indexed(6, Word), mask{}) }},
		{AVX512, "vmovups (%r9,%rax,4), %zmm18{%k1}{z}", "62c17cc910548100", func(a *assembler) { a.vector(moveLoad, 18, 0, indexed(9, Word), mask{tailMask, true}) }},
		{AVX512, "vmovups %zmm18, (%r13,%rax,4){%k1}", "62c17c4911548500", func(a *assembler) { a.vector(moveStore, 18, 0, indexed(13, Word), mask{tailMask, false}) }},
		{AVX512, "vmovaps %zmm30, %zmm7{%k2}{z}", "62917cca28fe", func(a *assembler) { a.vector(moveAligned, 7, 0, register(30), mask{condition, true}) }},
		{AVX512, "vmovaps %zmm3, %zmm25", "62617c4828cb", func(a *assembler) { a.vector(moveAligned, 25, 0, register(3), mask{}) }},
		{AVX512, "vsqrtps %zmm20, %zmm9", "62317c4851cc", func(a *assembler) { a.vector(squareRoot, 9, 0, register(20), mask{}) }},
		{AVX512, "vrndscaleps $9, %zmm30, %zmm17", "62837d4808ce09", func(a *assembler) { a.vector(roundFloats, 17, 0, register(30), mask{}); a.emit(byte(down)) }},
		{AVX512, "vrndscaleps $10, %zmm12, %zmm3", "62d37d4808dc0a", func(a *assembler) { a.vector(roundFloats, 3, 0, register(12), mask{}); a.emit(byte(up)) }},
		{AVX512, "vrndscaleps $8, %zmm9, %zmm24", "62437d4808c108", func(a *assembler) { a.vector(roundFloats, 24, 0, register(9), mask{}); a.emit(byte(toEven)) }},
		{AVX2, "vroundps $9, %ymm9, %ymm13", "c4437d08e909", func(a *assembler) { a.vector(roundFloats, 13, 0, register(9), mask{}); a.emit(byte(down)) }},
		{AVX2, "vroundps $10, %ymm6, %ymm2", "c4e37d08d60a", func(a *assembler) { a.vector(roundFloats, 2, 0, register(6), mask{}); a.emit(byte(up)) }},
		{AVX2, "vroundps $8, %ymm13, %ymm5", "c4c37d08ed08", func(a *assembler) { a.vector(roundFloats, 5, 0, register(13), mask{}); a.emit(byte(toEven)) }},
		{AVX2, "vsqrtps %ymm8, %ymm1", "c4c17c51c8", func(a *assembler) { a.vector(squareRoot, 1, 0, register(8), mask{}) }},
		{AVX512, "vpabsd %zmm20, %zmm9", "62327d481ecc", func(a *assembler) { a.vector(absolute, 9, 0, register(20), mask{}) }},
		{AVX2, "vpabsd %ymm8, %ymm1", "c4c27d1ec8", func(a *assembler) { a.vector(absolute, 1, 0, register(8), mask{}) }},
		{AVX512, "vfnmadd231ps %zmm20, %zmm9, %zmm31", "62223548bcfc", func(a *assembler) { a.vector(negMulAdd, 31, 9, register(20), mask{}) }},
		{AVX2, "vfnmadd231ps %ymm10, %ymm9, %ymm3", "c4c235bcda", func(a *assembler) { a.vector(negMulAdd, 3, 9, register(10), mask{}) }},
		{AVX512, "vblendmps %zmm28, %zmm19, %zmm5{%k2}", "6292654265ec", func(a *assembler) { a.vector(blend, 5, 19, register(28), mask{k: condition}) }},
		{AVX512, "vptestmd %zmm17, %zmm26, %k2", "62b22d4027d1", func(a *assembler) { a.vector(testWords, condition, 26, register(17), mask{}) }},
		{AVX512, "vpmovzxbd (%r10,%rax,1), %zmm23{%k1}{z}", "62c27dc9317c0200", func(a *assembler) { a.vector(widenBytes, 23, 0, indexed(10, Byte), mask{tailMask, true}) }},
		{AVX512, "vpmovdb %zmm23, (%rsi,%rax,1){%k1}", "62e27e49317c0600", func(a *assembler) { a.vector(narrowWords, 23, 0, indexed(rsi, Byte), mask{k: tailMask}) }},
		{AVX512, "vpmovdb %zmm3, (%r11,%rax,1)", "62d27e48315c0300", func(a *assembler) { a.vector(narrowWords, 3, 0, indexed(11, Byte), mask{}) }},
		{AVX512, "vbroadcastss (%rax), %zmm27", "62627d48185800", func(a *assembler) { a.vector(broadcast, 27, 0, at(rax), mask{}) }},
		{AVX2, "vbroadcastss (%rax), %ymm12", "c4627d186000", func(a *assembler) { a.vector(broadcast, 12, 0, at(rax), mask{}) }},
		{AVX2, "vmovups (%rdx), %ymm15", "c4617c107a00", func(a *assembler) { a.vector(moveLoad, tailLanes, 0, at(rdx), mask{}) }},
		{AVX2, "vmaskmovps (%rbx,%rax,4), %ymm15, %ymm10", "c462052c548300", func(a *assembler) { a.vector(maskedLoad, 10, tailLanes, indexed(rbx, Word), mask{}) }},
		{AVX2, "vmaskmovps %ymm9, %ymm15, (%r13,%rax,4)", "c442052e4c8500", func(a *assembler) { a.vector(maskedStore, 9, tailLanes, indexed(r13, Word), mask{}) }},
		{AVX2, "vandps %ymm7, %ymm14, %ymm12", "c4610c54e7", func(a *assembler) { a.vector(andFloats, 12, scratch, register(7), mask{}) }},
		{AVX2, "vpcmpeqd %ymm14, %ymm9, %ymm14", "c4413576f6", func(a *assembler) { a.vector(equalWords, scratch, 9, register(scratch), mask{}) }},
		{AVX512, "vcmpps $3, %zmm24, %zmm10, %k2", "62912c48c2d003", func(a *assembler) {
			a.vector(compareFloats, condition, 10, register(24), mask{})
			a.emit(byte(unordered))
		}},
		{AVX2, "vcmpps $3, %ymm4, %ymm10, %ymm14", "c4612cc2f403", func(a *assembler) { a.vector(compareFloats, scratch, 10, register(4), mask{}); a.emit(byte(unordered)) }},
		{AVX512, "vcmpps $22, %zmm24, %zmm10, %k2", "62912c48c2d016", func(a *assembler) {
			a.vector(compareFloats, condition, 10, register(24), mask{})
			a.emit(byte(notLessEqual))
		}},
		{AVX2, "vcmpps $22, %ymm4, %ymm10, %ymm14", "c4612cc2f416", func(a *assembler) {
			a.vector(compareFloats, scratch, 10, register(4), mask{})
			a.emit(byte(notLessEqual))
		}},
		{AVX512, "vcmpps $30, %zmm24, %zmm10, %k2", "62912c48c2d01e", func(a *assembler) {
			a.vector(compareFloats, condition, 10, register(24), mask{})
			a.emit(byte(greater))
		}},
		{AVX2, "vcmpps $30, %ymm4, %ymm10, %ymm14", "c4612cc2f41e", func(a *assembler) { a.vector(compareFloats, scratch, 10, register(4), mask{}); a.emit(byte(greater)) }},
		{AVX2, "vblendvps %ymm14, %ymm9, %ymm3, %ymm11", "c443654ad9e0", func(a *assembler) { a.vector(blendVEX, 11, 3, register(9), mask{}); a.emit(scratch << 4) }},
		{AVX512, "mov 0x18(%rsi), %rax", "488b8618000000", func(a *assembler) { a.loadPointer(0, rsi, 3) }},
		{AVX512, "mov 0x18(%rsi), %rdx", "488b9618000000", func(a *assembler) { a.loadPointer(2, rsi, 3) }},
		{AVX512, "mov 0x18(%rsi), %rbx", "488b9e18000000", func(a *assembler) { a.loadPointer(3, rsi, 3) }},
		{AVX512, "mov 0x18(%rsi), %rdi", "488bbe18000000", func(a *assembler) { a.loadPointer(7, rsi, 3) }},
		{AVX512, "mov 0x18(%rsi), %r8", "4c8b8618000000", func(a *assembler) { a.loadPointer(8, rsi, 3) }},
		{AVX512, "mov 0x18(%rsi), %r13", "4c8bae18000000", func(a *assembler) { a.loadPointer(13, rsi, 3) }},
		{AVX512, "mov 0x18(%rsi), %rsi", "488bb618000000", func(a *assembler) { a.loadPointer(6, rsi, 3) }},
	} {
		a := assembler{isa: c.isa}
		c.write(&a)
		if got := hex.EncodeToString(a.bytes); got != c.bytes {
			t.Errorf("%s: %s is encoded as %s, want %s", []string{"", "AVX2", "AVX-512"}[c.isa], c.text, got, c.bytes)
		}
	}
}
