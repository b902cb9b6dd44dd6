package text_test

import (
	"encoding/base64"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/eager"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/ops/text"
)

// manyTexts are so many that several threads share them.
func manyTexts() []string {
	r := rand.New(rand.NewPCG(1, 2))
	out := make([]string, 3000)
	for i := range out {
		s := strings.Repeat("aB \x00é\xff日\U0001F600\xe2\x82 zZ", 1+r.IntN(2))
		if i%500 == 0 {
			s = strings.Repeat(s, 100)
		}
		from := r.IntN(len(s))
		out[i] = s[from : from+r.IntN(len(s)-from+1)]
	}
	return out
}

func must[T tf.Elem](t *testing.T, y tf.Output) []T {
	t.Helper()
	v, err := y.Value()
	if err != nil {
		t.Fatal(err)
	}
	return slices.Clone(tf.Data[T](v))
}

// TestUnicodeOfManyTexts: many texts are read and written as each by itself.
func TestUnicodeOfManyTexts(t *testing.T) {
	g, in := eager.New(), manyTexts()
	splits, chars, starts := text.UnicodeDecodeWithOffsets(ops.Const(g, in), "UTF-8")
	at, c, s := must[int64](t, splits), must[int32](t, chars), must[int64](t, starts)
	written := must[string](t, text.UnicodeEncode(chars, splits, "UTF-16-BE"))
	turned := must[string](t, text.UnicodeTranscode(ops.Const(g, in), "UTF-8", "UTF-16-BE"))
	for i := range in {
		_, chars, starts := text.UnicodeDecodeWithOffsets(ops.Const(g, in[i:i+1]), "UTF-8")
		if !slices.Equal(must[int32](t, chars), c[at[i]:at[i+1]]) || !slices.Equal(must[int64](t, starts), s[at[i]:at[i+1]]) {
			t.Fatalf("text %d, %q: got %v at %v", i, in[i], c[at[i]:at[i+1]], s[at[i]:at[i+1]])
		}
		want := must[string](t, text.UnicodeTranscode(ops.Const(g, in[i:i+1]), "UTF-8", "UTF-16-BE"))[0]
		if turned[i] != want || written[i] != want {
			t.Fatalf("text %d, %q: got %q and %q, want %q", i, in[i], turned[i], written[i], want)
		}
	}
	for _, y := range []tf.Output{text.UnicodeTranscode(ops.Const(g, in), "UTF-8", "UTF-8", text.UnicodeOpts{Errors: "strict"}), text.UnicodeEncode(ops.Const(g, []int32{'a', 0xD800}), ops.Const(g, []int64{0, 2}), "UTF-8", text.UnicodeOpts{Errors: "strict"})} {
		if _, err := y.Value(); tf.CodeOf(err) != tf.InvalidArgument {
			t.Errorf("got %v", err)
		}
	}
}

// TestNGramsOfManyRows are those that strings.Join makes.
func TestNGramsOfManyRows(t *testing.T) {
	g, in, r := eager.New(), manyTexts(), rand.New(rand.NewPCG(1, 2))
	splits := []int64{0}
	for splits[len(splits)-1] < int64(len(in)) {
		splits = append(splits, min(splits[len(splits)-1]+r.Int64N(6), int64(len(in))))
	}
	const pad, width = 1, 3
	ngrams, ends := text.StringNGrams(ops.Const(g, in), ops.Const(g, splits), text.NGrams{Separator: "--", Widths: []int{width}, LeftPad: "<", RightPad: "", PadWidth: pad})
	got, at := must[string](t, ngrams), must[int64](t, ends)
	for i := range len(splits) - 1 {
		row := append(append([]string{"<"}, in[splits[i]:splits[i+1]]...), "")
		var want []string
		for k := 0; k+width <= len(row); k++ {
			want = append(want, strings.Join(row[k:k+width], "--"))
		}
		if !slices.Equal(got[at[i]:at[i+1]], want) {
			t.Fatalf("row %d: got %q, want %q", i, got[at[i]:at[i+1]], want)
		}
	}
}

// TestBase64OfManyTexts is that of the package for it, and back.
func TestBase64OfManyTexts(t *testing.T) {
	g, in := eager.New(), manyTexts()
	for pad, e := range map[bool]*base64.Encoding{false: base64.RawURLEncoding, true: base64.URLEncoding} {
		y := text.EncodeBase64(ops.Const(g, in), text.Base64Opts{Pad: pad})
		written, back := must[string](t, y), must[string](t, text.DecodeBase64(y))
		for i, s := range in {
			if want := e.EncodeToString([]byte(s)); written[i] != want || back[i] != s {
				t.Fatalf("%q: got %q, then %q, want %q", s, written[i], back[i], want)
			}
		}
	}
}
