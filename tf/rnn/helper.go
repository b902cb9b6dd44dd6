package rnn

import (
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/ops/random"
)

// A Helper gives a decoder its inputs.
type Helper interface {
	// First returns which sequences have ended before they begin, bool [batch], and
	// the input of the first step, [batch in].
	First() (finished, input tf.Output)
	// Sample returns what is chosen by the outputs of a step, int32 [batch].
	Sample(time, output tf.Output) tf.Output
	// Next returns which sequences have ended with a step, and the next input.
	Next(time, output, sample tf.Output) (finished, input tf.Output)
}

// An Embed turns int32 ids into inputs: [batch] into [batch in].
type Embed func(ids tf.Output) tf.Output

// choose returns the class with the greatest output.
func choose(output tf.Output) tf.Output {
	return ops.ArgMax(output, -1, ops.ArgOpts{OutputType: tf.Int32})
}

type training struct{ inputs, lengths tf.Output } // inputs with time first

// TrainingHelper gives the inputs x [batch time in] of sequences of the given
// lengths, int32 [batch]: the truth, whatever the decoder says. A length beyond the
// time is an error of the step.
func TrainingHelper(x, lengths tf.Output) Helper {
	switch {
	case x.Err() != nil:
	case len(x.Shape()) != 3:
		x = tf.Failed(x.Graph(), "training_helper", tf.Errorf(tf.InvalidArgument, "the inputs of a helper must be [batch time in], got %v", x)).Output(0)
	case lengths.Err() != nil:
		x = lengths
	case len(lengths.Shape()) != 1:
		x = tf.Failed(x.Graph(), "training_helper", tf.Errorf(tf.InvalidArgument, "Expected sequence_length to be a vector, but received shape: %v", lengths)).Output(0)
	case !lengths.Shape().Compatible(x.Shape()[:1]):
		x = tf.Failed(x.Graph(), "training_helper", tf.Errorf(tf.InvalidArgument, "there must be a length for each of %d sequences, got %v", x.Shape()[0], lengths)).Output(0)
	default:
		lengths = withinTime(x, lengths)
		x = ops.Transpose(x, []int{1, 0, 2})
	}
	return &training{x, lengths}
}

// withinTime returns lengths, which fail the step if x [batch time in] is shorter.
func withinTime(x, lengths tf.Output) (checked tf.Output) {
	g, time := x.Graph(), ops.Shape(x).At("1")
	fits := lengths.LessEqual(time.Cast(lengths.DType())).All()
	check := ops.Assert(fits, []tf.Output{ops.Scalar(g, "sequence_length must be at most the time: "), lengths, time})
	g.ControlDependencies([]*tf.Operation{check}, func() { checked = ops.Identity(lengths) })
	return checked
}

func (h *training) First() (finished, input tf.Output) {
	if h.inputs.Err() != nil {
		return h.inputs, h.inputs
	}
	if h.inputs.Shape()[0] > 0 {
		return h.lengths.LessEqual(0), h.at(ops.Scalar(h.inputs.Graph(), int32(0)))
	}
	return h.lengths.LessEqual(0), ops.Sum(h.inputs.At(":1"), []int{0}) // zeros if there is no time
}

// at returns the inputs of a step, behind the end those of the last one.
func (h *training) at(time tf.Output) tf.Output {
	last := ops.Shape(h.inputs).At("0").Sub(1)
	y := ops.Gather(h.inputs, ops.Minimum(time, last), 0)
	return y
}

func (h *training) Sample(_, output tf.Output) tf.Output { return choose(output) }

func (h *training) Next(time, _, _ tf.Output) (finished, input tf.Output) {
	next := time.Add(1)
	return next.GreaterEqual(h.lengths), h.at(next)
}

type greedy struct {
	embed  Embed
	starts tf.Output
	end    int
	sample func(output tf.Output) tf.Output
}

// GreedyHelper gives what the decoder has chosen, the class of the greatest output,
// from starts, int32 [batch], until it chooses end.
func GreedyHelper(embed Embed, starts tf.Output, end int) Helper {
	return &greedy{embed, starts, end, choose}
}

// SampleHelper is GreedyHelper with classes chosen at random, by the softmax of the
// outputs divided by a temperature, of which 0 stands for 1. Equal seeds, 0: none,
// choose alike.
func SampleHelper(embed Embed, starts tf.Output, end int, temperature float64, seed int64) Helper {
	return &greedy{embed, starts, end, func(output tf.Output) tf.Output {
		if temperature != 0 {
			output = output.Div(temperature)
		}
		return draw(output, seed)
	}}
}

// draw chooses classes by the softmax of logits.
func draw(logits tf.Output, seed int64) tf.Output {
	var opts []tf.Option
	if seed != 0 {
		opts = append(opts, ops.Seed(seed))
	}
	ids := random.Multinomial(logits, ops.Scalar(logits.Graph(), int32(1)), append(opts, random.MultinomialOpts{OutputDType: tf.Int32})...)
	return ops.Squeeze(ids, []int{1})
}

func (h *greedy) First() (finished, input tf.Output) {
	if h.starts.Err() == nil && len(h.starts.Shape()) != 1 {
		bad := tf.Failed(h.starts.Graph(), "greedy_helper", tf.Errorf(tf.InvalidArgument, "start_tokens must be a vector, got %v", h.starts)).Output(0)
		return bad, bad
	}
	if h.starts.Err() != nil {
		return h.starts, h.starts
	}
	return ops.Fill(ops.Shape(h.starts), ops.Scalar(h.starts.Graph(), false)), h.embed.of(h.starts)
}

func (h *greedy) Sample(_, output tf.Output) tf.Output { return h.sample(output) }

func (h *greedy) Next(_, _, sample tf.Output) (finished, input tf.Output) {
	return ops.Equal(sample, ops.Scalar(sample.Graph(), int32(h.end))), h.embed.of(sample)
}

type scheduled struct {
	training
	embed Embed // nil: outputs are inputs
	share tf.Output
	seed  int64
}

// ScheduledHelper is TrainingHelper, but gives a sequence with the probability share,
// a scalar, what the decoder has chosen at random instead of the truth (Bengio et
// al., NIPS 2015).
func ScheduledHelper(x, lengths, share tf.Output, embed Embed, seed int64) Helper {
	if embed == nil && x.Err() == nil {
		x = embed.of(x)
	}
	return &scheduled{*TrainingHelper(x, lengths).(*training), embed, share, seed}
}

// ScheduledOutputHelper is ScheduledHelper for decoders whose outputs are inputs: it
// gives them with the probability share.
func ScheduledOutputHelper(x, lengths, share tf.Output, seed int64) Helper {
	return &scheduled{*TrainingHelper(x, lengths).(*training), nil, share, seed}
}

// Sample returns classes, or -1 where the truth is to be given. Where outputs are
// inputs it returns 1 for them, 0 for the truth.
func (h *scheduled) Sample(_, output tf.Output) tf.Output {
	var opts []tf.Option
	if seed := h.shareSeed(); seed != 0 {
		opts = append(opts, ops.Seed(seed))
	}
	u := ops.RandomUniform(nil, ops.Slice(ops.Shape(output), []int{0}, []int{1}), tf.Float32, opts...)
	own := ops.Less(u, h.share)
	if h.embed == nil {
		return own.Cast(tf.Int32)
	}
	ids := draw(output, h.seed)
	return ops.SelectV2(own, ids, ops.OnesLike(ids).Mul(-1))
}

// shareSeed is not that of the classes: what is chosen must not follow from whether it is.
func (h *scheduled) shareSeed() int64 {
	if h.embed == nil {
		return h.seed
	}
	return salted(h.seed, "share")
}

func (h *scheduled) Next(time, output, sample tf.Output) (finished, input tf.Output) {
	finished, truth := h.training.Next(time, output, sample)
	own, chosen := output, sample.Greater(0)
	if h.embed != nil {
		own, chosen = h.embed(sample.Maximum(0)), sample.GreaterEqual(0)
	}
	return finished, ops.Select(chosen, own, truth)
}
