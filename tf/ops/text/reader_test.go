package text

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// randomTexts are of bytes of which many are ASCII.
func randomTexts(n int) []string {
	r := rand.New(rand.NewPCG(1, 2))
	out := make([]string, n)
	for i := range out {
		b := make([]byte, r.IntN(24))
		for k := range b {
			if b[k] = byte(r.Uint32()); r.IntN(3) > 0 {
				b[k] &= 0x7F
			}
		}
		out[i] = string(b)
	}
	return out
}

// TestASCIIQuickly: what is read without the decoder is what the decoder reads, in each
// encoding.
func TestASCIIQuickly(t *testing.T) {
	texts, quickly := randomTexts(2000), 0
	for name, enc := range encodings {
		for _, p := range []policy{{replacement: 'x'}, {ignore: true}, {controls: true, replacement: 'x'}, {controls: true, ignore: true}} {
			quick, careful := reader{p, enc, isASCII(enc)}, reader{p, enc, false}
			if quick.ascii {
				quickly++
			}
			for _, s := range texts {
				var chars [2][24]int32
				var starts [2][24]int64
				n, bad, replaced := quick.read(chars[0][:], starts[0][:], s)
				want, wantBad, wantReplaced := careful.read(chars[1][:], starts[1][:], s)
				if n != want || bad != wantBad || replaced != wantReplaced || !slices.Equal(chars[0][:n], chars[1][:n]) || !slices.Equal(starts[0][:n], starts[1][:n]) {
					t.Fatalf("%s: %q is %v at %v, want %v at %v", name, s, chars[0][:n], starts[0][:n], chars[1][:want], starts[1][:want])
				}
			}
		}
	}
	if quickly < len(encodings) {
		t.Errorf("only %d readers of %d encodings read ASCII quickly", quickly, len(encodings))
	}
}
