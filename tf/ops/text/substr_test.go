package text_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/eager"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/ops/text"
	"github.com/gorge-tf/gorge/tf/optest"
)

func init() {
	const op = "Substr"
	units := map[string]function{}
	for _, u := range []text.Unit{text.Bytes, text.Characters} {
		units[string(u)] = one(func(in []tf.Output) tf.Output { return text.Substr(in[0], in[1], in[2], u) })
	}
	i := core.Scalar[int32]
	words := optest.Mat(2, "hello", "wörld", "čęšćž", "naïve!")
	column := optest.Mat(1, "hello", "naïve")
	three, ones := vec[int32](1, 2, 3), vec[int32](1, 1, 1)
	for unit, f := range units {
		add := func(name string, in ...*core.Tensor) { optest.Add(sample(op, name+unit, f, in...)) }
		fails := func(name string, in ...*core.Tensor) { optest.Add(optest.Failing(op, name+unit, f, in...)) }
		add("", words, i(1), i(3))
		add("negative ", words, i(-4), i(2))
		add("long ", words, i(2), i(100))
		add("negative long ", words, i(-3), i(100))
		add("nothing ", words, i(5), i(0))
		add("negative length ", words, i(2), i(-1))
		add("each ", words, optest.Mat[int64](2, 0, -1, 3, 5), optest.Mat[int64](2, 2, 1, 3, 9))
		add("rows ", column, three, ones)
		add("columns ", words, optest.Mat[int32](1, 1, -3), optest.Mat[int32](1, 2, 2))
		add("vector ", core.Scalar("hello"), three, three)
		add("matrix ", core.Scalar("hello"), optest.Mat[int32](2, 1, -2, 3, 4), optest.Mat[int32](2, 1, 2, 3, 4))
		add("one ", vec("hello"), three, three)
		add("no words ", vec[string](), vec[int32](1), vec[int32](1))
		add("no UTF-8 ", vec("\x80\x80\xe2\xe2\x80", "\xe2\xe2\x80a\x80b"), i(1), i(2))
		add("no UTF-8 from end ", vec("\x80\x80\xe2\xe2\x80", "\xe2\xe2\x80a\x80b"), i(-2), i(1))
		fails("behind ", words, i(9), i(1))
		fails("before ", words, i(-8), i(1))
		fails("some ", vec("abc", "a"), vec[int32](2, 2), vec[int32](1, 1))
		fails("in rows ", optest.Mat(1, "hello", "ab"), three, ones)
		fails("in vector ", vec("ab"), three, ones)
		fails("in matrix ", core.Scalar("hello"), optest.Mat[int32](2, 1, 9), optest.Mat[int32](2, 1, 1))
		fails("shapes ", words, three, vec[int32](1))
		fails("broadcast ", words, three, three)
		fails("rank ", optest.Arr(tf.Shape{1, 1, 1}, "hello"), three, three)
	}
	optest.Add(optest.Failing(op, "negative both", units["UTF8_CHAR"], vec("hello"), i(-3), i(-2)))
}

// TestSubstrOfMany: the strings of a tensor are cut as each by itself, and the first one that
// is too short is told.
func TestSubstrOfMany(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	g := eager.New()
	for range 200 {
		in := make([]string, 1+r.IntN(3000))
		for i := range in {
			in[i] = strings.Repeat("a\x00é\xff", 3)[:5+r.IntN(10)]
		}
		pos, n := int64(r.IntN(18)-8), int64(r.IntN(20)-1)
		y := text.Substr(ops.Const(g, in), ops.Scalar(g, pos), ops.Scalar(g, n))
		v, err := y.Value()
		for i, s := range in {
			from := int(pos)
			if pos < 0 {
				from += len(s)
			}
			if from < 0 || from > len(s) {
				want := fmt.Sprintf("pos %d out of range for string b'%s' at index %d", pos, s, i)
				if err == nil || !strings.Contains(err.Error(), want) {
					t.Fatalf("got %v, want %s", err, want)
				}
				break
			}
			want := s[from:]
			if n >= 0 {
				want = want[:min(int(n), len(want))]
			}
			if err == nil && tf.Data[string](v)[i] != want {
				t.Fatalf("%q from %d, %d bytes: got %q", s, pos, n, tf.Data[string](v)[i])
			}
		}
	}
}

// TestCharactersAreCounted by eights as one by one.
func TestCharactersAreCounted(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	in, want := make([]string, 2000), make([]int32, 2000)
	for i := range in {
		b := make([]byte, r.IntN(40))
		for k := range b {
			if b[k] = byte(r.Uint32()); b[k]&0xC0 != 0x80 {
				want[i]++
			}
		}
		in[i] = string(b)
	}
	v, err := text.StringLength(ops.Const(eager.New(), in), text.Characters).Value()
	if err != nil {
		t.Fatal(err)
	}
	if got := tf.Data[int32](v); !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}
