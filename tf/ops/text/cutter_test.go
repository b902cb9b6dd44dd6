package text

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// parts lists what a cutter makes of s.
func (cut cutter) parts(s string) []string {
	out := make([]string, cut.count(s))
	cut.put(out, make([]int64, 2*len(out)), s, 0)
	return out
}

// spaceParts is what cutAtSpace makes, in another way.
func spaceParts(s string, most int) (out []string) {
	for s = strings.TrimLeft(s, space); s != "" && len(out) != most; s = strings.TrimLeft(s, space) {
		end := strings.IndexAny(s, space)
		if end < 0 {
			end = len(s)
		}
		out, s = append(out, s[:end]), s[end:]
	}
	if len(out) == most {
		out = append(out, s)
	}
	return out
}

// byteParts is what atBytes makes, in another way.
func byteParts(s, by string, keep bool) (out []string) {
	begin := 0
	for i := 0; s != "" && i <= len(s); i++ {
		if i < len(s) && strings.IndexByte(by, s[i]) < 0 {
			continue
		}
		if keep || i > begin {
			out = append(out, s[begin:i])
		}
		begin = i + 1
	}
	return out
}

// randomText is of so many of the letters at most.
func randomText(r *rand.Rand, letters string, most int) string {
	b := make([]byte, r.IntN(most+1))
	for i := range b {
		b[i] = letters[r.IntN(len(letters))]
	}
	return string(b)
}

func TestCutters(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	same := func(what, s string, got, want []string) {
		t.Helper()
		if !slices.Equal(got, want) {
			t.Fatalf("%s of %q: got %q, want %q", what, s, got, want)
		}
	}
	for range 20000 {
		s, most := randomText(r, "a,; \t\x00\xff\xc3", 12), r.IntN(7)-1
		if most != 0 {
			same("space", s, cutAtSpace(most).parts(s), spaceParts(s, most))
		}
		if by := randomText(r, ", \xc3", 2); by != "" {
			want := strings.Split(s, by)
			if most >= 0 {
				want = strings.SplitN(s, by, most+1)
			}
			same("text", s, cutAtText(by, most).parts(s), want)
			for _, keep := range []bool{false, true} {
				same("bytes", s, splitParts(t, atBytes{bytesIn(by), keep}, s), byteParts(s, by, keep))
			}
		}
		same("nothing", s, cutAtText("", 0).parts(s), []string{s})
		if got := splitParts(t, intoBytes{}, s); len(got) != len(s) || strings.Join(got, "") != s {
			t.Fatalf("bytes of %q: got %q", s, got)
		}
	}
}

// splitParts lists what a splitter makes of s.
func splitParts(t *testing.T, by splitter, s string) []string {
	t.Helper()
	n := by.count(s)
	parts, indices := make([]string, n), make([]int64, 2*n)
	by.put(parts, indices, s, 5)
	for k := range n {
		if indices[2*k] != 5 || indices[2*k+1] != int64(k) {
			t.Fatalf("parts of %q have indices %v", s, indices)
		}
	}
	return parts
}
