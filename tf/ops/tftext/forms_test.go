package tftext

import (
	"math/rand/v2"
	"strings"
	"testing"

	"golang.org/x/text/unicode/norm"
)

// TestPiecesAgreeWithNorm: where package norm can be asked, both ways have one
// result.
func TestPiecesAgreeWithNorm(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for range 5000 {
		s := randomText(r)
		for name, form := range forms {
			want := normalized(s, form)
			if got := normalizedPieces(s, form); got != want {
				t.Fatalf("%s of %+q is %+q in pieces and %+q else", name, s, got, want)
			}
			if !form.IsNormalString(want) {
				t.Fatalf("%s of %+q is %+q, which is not in this form", name, s, want)
			}
		}
	}
}

// randomText returns characters of which many have decompositions, and few marks
// in a row.
func randomText(r *rand.Rand) string {
	var b strings.Builder
	for range r.IntN(12) {
		switch r.IntN(4) {
		case 0:
			b.WriteRune('a' + r.Int32N(26))
		case 1:
			b.WriteRune(0x300 + r.Int32N(0x70))
		case 2:
			b.WriteRune(0xAC00 + r.Int32N(11172))
		default:
			b.WriteRune(0xC0 + r.Int32N(0x2000))
		}
	}
	return b.String()
}

// FuzzFold: folding twice is folding once, and normalization leaves nothing to do.
func FuzzFold(f *testing.F) {
	for _, s := range []string{"", "İ\xff", "ǆ\u0345\u0301", strings.Repeat("\u0323\u0301", 30)} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		once := folded(s)
		if twice := folded(once); twice != once {
			t.Errorf("%+q folds to %+q, and this to %+q", s, once, twice)
		}
		if n := normalized(once, norm.NFC); n != once {
			t.Errorf("%+q folds to %+q, of which NFC is %+q", s, once, n)
		}
	})
}
