package random

import (
	"bufio"
	"math"
	"strconv"
	"strings"

	stream "github.com/gorge-tf/gorge/internal/random"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
)

// LearnedUnigramCandidateSampler draws n classes below classes, as often as
// they have been true ones before, and different ones if unique is set.
// trueClasses is an int64 matrix [batch numTrue]; the results are int64 [n],
// float32 [batch numTrue] and float32 [n]. Another rank, and an n or numTrue
// below 1, are refused with INVALID_ARGUMENT when the graph is built; another
// number of columns, a true class outside [0, classes), and unique with n
// greater than classes fail with it in the step.
func LearnedUnigramCandidateSampler(trueClasses tf.Output, numTrue, n int, unique bool, classes int, opts ...tf.Option) Candidates {
	return sampler3("LearnedUnigramCandidateSampler", trueClasses, append(samplerAttrs(numTrue, n, unique), tf.Attr("range_max", classes)), opts)
}

// ThreadUnsafeUnigramCandidateSampler is LearnedUnigramCandidateSampler under
// the name of a variant of TensorFlow's that steps must not run at the same
// time. Inputs, results and errors are those of
// LearnedUnigramCandidateSampler.
func ThreadUnsafeUnigramCandidateSampler(trueClasses tf.Output, numTrue, n int, unique bool, classes int, opts ...tf.Option) Candidates {
	return sampler3("ThreadUnsafeUnigramCandidateSampler", trueClasses, append(samplerAttrs(numTrue, n, unique), tf.Attr("range_max", classes)), opts)
}

// FixedUnigramOpts say how often classes are drawn: by Unigrams, a weight for
// each, or by those that the lines of VocabFile end in, behind a comma. The
// weights are taken to the power of Distortion; 0 stands for 1. The first
// ReservedIDs classes are never drawn. Of Shards parts, if that is not 0, Shard
// is the one that classes are drawn from.
type FixedUnigramOpts struct {
	Unigrams      []float32
	VocabFile     string
	Distortion    float32
	ReservedIDs   int
	Shards, Shard int
}

// Apply sets the attributes.
func (o FixedUnigramOpts) Apply(s *tf.Spec) {
	s.Set("unigrams", o.Unigrams)
	s.Set("vocab_file", o.VocabFile)
	s.Set("num_reserved_ids", o.ReservedIDs)
	s.Set("num_shards", max(o.Shards, 1))
	s.Set("shard", o.Shard)
	if o.Distortion != 0 {
		s.Set("distortion", o.Distortion)
	}
}

// FixedUnigramCandidateSampler draws n classes below classes by the weights
// that o tells, and different ones if unique is set. trueClasses is an int64
// matrix [batch numTrue]; the results are int64 [n], float32 [batch numTrue]
// and float32 [n]. Another rank, and an n or numTrue below 1, are refused
// with INVALID_ARGUMENT when the graph is built; another number of columns, a
// true class outside [0, classes), and unique with n greater than classes
// fail with it in the step. So do options with both or none of Unigrams and
// VocabFile, a line without a weight, and another number of weights than
// classes; a VocabFile that does not exist fails with NOT_FOUND.
// Its options are [FixedUnigramOpts].
func FixedUnigramCandidateSampler(trueClasses tf.Output, numTrue, n int, unique bool, classes int, o FixedUnigramOpts, opts ...tf.Option) Candidates {
	return sampler3("FixedUnigramCandidateSampler", trueClasses, append(samplerAttrs(numTrue, n, unique), tf.Attr("range_max", classes), o), opts)
}

func unigrams(n int) stream.CandidateDistribution { return stream.NewUnigramCandidates(n) }

// A weighing collects the weights of a shard.
type weighing struct {
	distortion    float64
	shards, shard int
	words         int // of all shards
	weights       []float32
	total         float32
}

func fixedUnigrams(n *core.Node) (stream.CandidateDistribution, error) {
	given, _ := n.Attr("unigrams").([]float32)
	file, reserved := n.Str("vocab_file"), n.Int("num_reserved_ids")
	switch {
	case file == "" && len(given) == 0:
		return nil, tf.Errorf(tf.InvalidArgument, "Must provide either vocab_file or unigrams.")
	case file != "" && len(given) > 0:
		return nil, tf.Errorf(tf.InvalidArgument, "Must only provide one of vocab_file and unigrams.")
	case reserved > math.MaxInt32:
		return nil, tf.Errorf(tf.InvalidArgument, "num_reserved_ids must fit into 32 bits, got %d", reserved)
	}
	w := &weighing{distortion: float64(n.Float("distortion")), shards: max(n.Int("num_shards"), 1), shard: n.Int("shard")}
	for i := range reserved {
		if i%w.shards == w.shard {
			w.weights = append(w.weights, 0)
		}
	}
	w.words = len(w.weights)
	for _, v := range given {
		w.add(v)
	}
	if err := w.read(file); err != nil {
		return nil, err
	}
	if n.Int("range_max") != len(w.weights) {
		return nil, tf.Errorf(tf.InvalidArgument, "range is %d must be equal to weights size  %d", n.Int("range_max"), len(w.weights))
	}
	return stream.NewFixedCandidates(w.weights, w.total), nil
}

// add takes the weight of the next word.
func (w *weighing) add(v float32) {
	if w.words%w.shards == w.shard {
		p := float32(math.Pow(float64(v), w.distortion))
		w.total += p
		w.weights = append(w.weights, p)
	}
	w.words++
}

// read takes the weights of a file, if there is one.
func (w *weighing) read(name string) error {
	if name == "" {
		return nil
	}
	f, _, err := core.OpenRegular(core.LocalPath(name))
	if err != nil {
		return err
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		v, err := strconv.ParseFloat(strings.TrimSpace(lines.Text()[strings.LastIndexByte(lines.Text(), ',')+1:]), 32)
		if err != nil && w.words%w.shards == w.shard {
			return tf.Errorf(tf.InvalidArgument, "Wrong vocabulary format at line: %s", lines.Text())
		}
		w.add(float32(v))
	}
	if err := lines.Err(); err != nil {
		return core.FileError(name, err)
	}
	return nil
}
