package random_test

import (
	"math"
	"os"
	"path/filepath"
	"testing"

	stream "github.com/gorge-tf/gorge/internal/random"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/author"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/eager"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/ops/random"
)

func init() {
	classes := mat[int64](2, 0, 5, 3, 1)
	of := func(n int, unique bool, more ...tf.Option) []tf.Option {
		return append(seeds(tf.Attr("num_true", 2), tf.Attr("num_sampled", n), tf.Attr("unique", unique)), more...)
	}
	for _, op := range []string{"LearnedUnigramCandidateSampler", "ThreadUnsafeUnigramCandidateSampler"} {
		for name, below := range map[string]int{"": 32, "odd": 37} {
			addSamples(
				sample{Op: op, Name: name, In: []*core.Tensor{classes}, F: nary(op, of(20, true, tf.Attr("range_max", below))...), Tol: libm},
				sample{Op: op, Name: "again " + name, In: []*core.Tensor{classes}, F: nary(op, of(20, false, tf.Attr("range_max", below))...), Tol: libm})
		}
		addSamples(
			failing(op, "class", nary(op, of(3, true, tf.Attr("range_max", 5))...), classes),
			failing(op, "range", nary(op, of(33, true, tf.Attr("range_max", 32))...), classes))
	}
	const fixed = "FixedUnigramCandidateSampler"
	weights := []float32{0.5, 3, 0.25, 8, 1, 2, 0.125}
	with := func(n int, unique bool, below int, o random.FixedUnigramOpts) func(*tf.Graph, []tf.Output) []tf.Output {
		return nary(fixed, of(n, unique, tf.Attr("range_max", below), o)...)
	}
	addSamples(
		sample{Op: fixed, In: []*core.Tensor{classes}, F: with(5, true, 7, random.FixedUnigramOpts{Unigrams: weights}), Tol: libm},
		sample{Op: fixed, Name: "again", In: []*core.Tensor{classes}, F: with(50, false, 7, random.FixedUnigramOpts{Unigrams: weights, Distortion: 0.75}), Tol: libm},
		sample{Op: fixed, Name: "reserved", In: []*core.Tensor{classes}, F: with(30, false, 9, random.FixedUnigramOpts{Unigrams: weights, ReservedIDs: 2}), Tol: libm},
		sample{Op: fixed, Name: "shard", In: []*core.Tensor{mat[int64](2, 0, 1)}, F: with(9, false, 3, random.FixedUnigramOpts{Unigrams: weights, Shards: 2, Shard: 1}), Tol: libm},
		failing(fixed, "no weights", with(3, true, 7, random.FixedUnigramOpts{}), classes),
		failing(fixed, "both", with(3, true, 7, random.FixedUnigramOpts{Unigrams: weights, VocabFile: "x"}), classes),
		failing(fixed, "count", with(3, true, 8, random.FixedUnigramOpts{Unigrams: weights}), classes),
		failing(fixed, "no file", with(3, true, 7, random.FixedUnigramOpts{VocabFile: "/no/such/file"}), classes),
		sample{
			Op: fixed, Name: "only reserved", In: []*core.Tensor{classes}, F: with(8, true, 9, random.FixedUnigramOpts{Unigrams: weights, ReservedIDs: 2}),
			Fails: true, NoGolden: "TensorFlow would try until it ends",
		})
}

// TestVocabularyFile: weights from a file are like those that are given.
func TestVocabularyFile(t *testing.T) {
	name := filepath.Join(t.TempDir(), "words")
	draw := func(o random.FixedUnigramOpts) (*core.Tensor, error) {
		g := eager.New()
		s := random.FixedUnigramCandidateSampler(ops.ConstValue(g, mat[int64](1, 0)), 1, 20, false, 3, o, tf.Attr("seed", 7))
		return author.Computed(s.Sampled)
	}
	write := func(text string) {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("a,1\nb,x,2.5\n3\n")
	got, err := draw(random.FixedUnigramOpts{VocabFile: name})
	if err != nil {
		t.Fatal(err)
	}
	want, err := draw(random.FixedUnigramOpts{Unigrams: []float32{1, 2.5, 3}})
	if err != nil || !core.TensorsEqual(got, want) {
		t.Errorf("%v (%v), want %v", got, err, want)
	}
	write("a,1\nb\nc,3\n")
	if _, err := draw(random.FixedUnigramOpts{VocabFile: name}); err == nil || tf.AsError(err).Message() != "Wrong vocabulary format at line: b" {
		t.Errorf("a line without a weight: %v", err)
	}
}

// TestUnigramsLearn compares the tree with plain counting.
func TestUnigramsLearn(t *testing.T) {
	const n = 37
	u, counts, total := stream.NewUnigramCandidates(n), make([]int, n), n
	for i := range counts {
		counts[i] = 1
	}
	w := stream.NewWords(stream.New(5, 6))
	for range 200 {
		learned := []int64{int64(w.Below32(n)), int64(w.Below32(n)) / 3}
		u.Learn(learned)
		for _, c := range learned {
			counts[c]++
			total++
		}
		twin := *w
		rest, class := int(twin.Below32(uint32(total))), 0
		for rest >= counts[class] {
			rest -= counts[class]
			class++
		}
		if got := u.Draw(w); got != int64(class) {
			t.Fatalf("drew %d, want %d", got, class)
		}
	}
	for c, k := range counts {
		if p := u.Probability(int64(c)); math.Abs(float64(p)-float64(k)/float64(total)) > 1e-6 {
			t.Errorf("class %d: %v, want %d of %d", c, p, k, total)
		}
	}
}
