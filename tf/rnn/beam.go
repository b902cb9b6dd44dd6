package rnn

import (
	"math"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/author"
	"github.com/gorge-tf/gorge/tf/ops"
	kernels "github.com/gorge-tf/gorge/tf/ops/rnn"
)

// A BeamDecoder searches for the most probable sequences: in each step it keeps
// the Width most probable ones of each input. The states of its cell must be
// those of TileBatch.
type BeamDecoder struct {
	Cell       Cell
	Embed      Embed                       // turns ids [...] into inputs [... in]
	Starts     tf.Output                   // int32 [batch]: the ids that sequences begin with
	End        int                         // the id that ends a sequence
	Initial    State                       // [batch·Width ...]
	Output     func(x tf.Output) tf.Output // scores of classes from the cell's outputs; nil: the outputs
	Classes    int                         // how many there are
	Width      int                         // of the beam
	LengthNorm float64                     // the exponent a of the length penalty ((5+length)/6)^a (Wu et al., arXiv:1609.08144)
	// Coverage is the weight of the coverage penalty, the sum of log(min(1, attention
	// that an element of the memory has got)), of sequences that have ended. The cell
	// must have attention then, or be a stack in which one has. 0: none.
	Coverage float64
}

// Beams are the sequences that a BeamDecoder has found, the most probable ones
// first.
type Beams struct {
	IDs     tf.Output // int32 [batch time width]; End from the end of a sequence on
	Scores  tf.Output // [batch width]: logarithms of probabilities, divided by the length penalty
	Lengths tf.Output // int32 [batch width], with the End
}

// TileBatch repeats each row of the tensors of a state, or of a memory, n times:
// [batch ...] becomes [batch·n ...]. Ranks must be known, and 1 at least.
func TileBatch(s State, n int) State {
	out := make(State, len(s))
	for i, x := range s {
		switch {
		case x.Err() != nil:
			out[i] = x
		case len(x.Shape()) == 0:
			out[i] = tf.Failed(x.Graph(), "tile_batch", tf.Errorf(tf.InvalidArgument, "t must have statically known rank, of 1 at least, got %v", x)).Output(0)
		default:
			out[i] = tiled(x, n)
		}
	}
	return out
}

func tiled(x tf.Output, n int) tf.Output {
	multiples := make([]int, len(x.Shape())+1)
	for i := range multiples {
		multiples[i] = 1
	}
	multiples[1] = n
	return merged(ops.Tile(ops.ExpandDims(x, 1), multiples))
}

// merged returns x [batch width ...] as [batch·width ...].
func merged(x tf.Output) tf.Output {
	if x.Err() != nil {
		return x
	}
	s, sizes := x.Shape(), ops.Shape(x)
	y := ops.Reshape(x, ops.Concat(0, []tf.Output{author.AsInts(x, []int{-1}), ops.Slice(sizes, []int{2}, []int{-1})}))
	first := -1
	if s[0] >= 0 && s[1] >= 0 {
		first = s[0] * s[1]
	}
	y.SetShape(append(tf.Shape{first}, s[2:]...))
	return y
}

// apart returns x [batch·width ...] as [batch width ...].
func (d *BeamDecoder) apart(x tf.Output) tf.Output {
	if x.Err() != nil {
		return x
	}
	s, sizes := x.Shape(), ops.Shape(x)
	y := ops.Reshape(x, ops.Concat(0, []tf.Output{author.AsInts(x, []int{-1, d.Width}), ops.Slice(sizes, []int{1}, []int{-1})}))
	y.SetShape(append(tf.Shape{-1, d.Width}, s[1:]...))
	return y
}

// Decode adds the loop of the search until all sequences have ended.
func (d *BeamDecoder) Decode(o ...DecodeOpts) Beams {
	opt := first(o)
	opt.Impute, opt.TimeMajor = false, true // beams change their places
	emitted, last, _ := decode(d, opt)
	if emitted[0].Err() != nil {
		return Beams{emitted[0], emitted[0], emitted[0]}
	}
	scores := ops.Concat(0, []tf.Output{ops.ExpandDims(d.nothing(), 0), emitted[2]}) // no step may have been made
	return Beams{IDs: d.trace(emitted[0], emitted[1], last[1]), Scores: scores.At("-1"), Lengths: last[1]}
}

func (d *BeamDecoder) graph() *tf.Graph { return d.Starts.Graph() }

func (d *BeamDecoder) ownFinished() bool { return true }

func (d *BeamDecoder) emits() []emission {
	at := tf.Shape{-1, d.Width}
	return []emission{{tf.Int32, at}, {tf.Int32, at}, {tf.Float32, at}}
}

func (d *BeamDecoder) check() error {
	if err := d.Starts.Err(); err != nil {
		return err
	}
	if d.Width <= 0 || d.Classes <= 1 || d.End < 0 || d.End >= d.Classes || len(d.Starts.Shape()) != 1 || d.Embed == nil {
		return tf.Errorf(tf.InvalidArgument, "a beam search needs a positive Width, two Classes at least, an End among them, an Embed and Starts [batch], got width %d, %d classes, end %d and %v", d.Width, d.Classes, d.End, d.Starts)
	}
	if given(d.Cell) == (missing{}) {
		return errMissing
	}
	if err := checkState(d.Cell, d.Initial); err != nil {
		return err
	}
	if d.Coverage != 0 && len(weightsOf(d.Cell, d.Initial)) == 0 {
		return tf.Errorf(tf.InvalidArgument, "coverage_penalty_weight must be 0.0 if no cell is attentional.")
	}
	return nil
}

// own is how many tensors of the state are the search's, before those of the cell.
func (d *BeamDecoder) own() int {
	if d.Coverage != 0 {
		return 4
	}
	return 3
}

// attention returns the weights of the cells with attention, [batch width time].
func (d *BeamDecoder) attention(cell State) tf.Output {
	return d.apart(mean(weightsOf(d.Cell, cell))).Cast(tf.Float32)
}

// begin returns the first step's input [batch width in], and as the state that of
// the search, the logarithms of probabilities, the lengths and what has ended,
// [batch width], with Coverage the attention so far, [batch width time], and that of
// the cell. Only the first of the sequences counts, since all are equal yet.
func (d *BeamDecoder) begin() (finished, input tf.Output, s State, err error) {
	if err := d.check(); err != nil {
		return d.Starts, d.Starts, nil, err
	}
	first := d.nothing()
	starts := ops.Tile(ops.ExpandDims(d.Starts, 1), []int{1, d.Width})
	finished = ops.Less(first, ops.ZerosLike(first))
	s = State{first, ops.ZerosLike(starts), finished}
	if d.Coverage != 0 {
		s = append(s, ops.ZerosLike(d.attention(d.Initial)))
	}
	return finished, d.Embed(starts), append(s, d.Initial...), nil
}

// nothing returns the logarithms of the probabilities of empty sequences.
func (d *BeamDecoder) nothing() tf.Output {
	g := d.graph()
	return ops.OneHot(ops.ZerosLike(d.Starts), ops.Scalar(g, int32(d.Width)), ops.Scalar(g, float32(0)), ops.Scalar(g, float32(math.Inf(-1))))
}

func (d *BeamDecoder) step(_, input tf.Output, s State) ([]tf.Output, State, tf.Output, tf.Output) {
	y, cell := d.Cell.Step(merged(input), s[d.own():])
	if d.Output != nil && y.Err() == nil {
		y = d.Output(y)
	}
	if err := d.checkScores(y); err != nil {
		bad := tf.Failed(d.graph(), "beam_search", err).Output(0)
		return []tf.Output{bad}, nil, bad, bad
	}
	return d.choose(d.apart(y), s, cell)
}

func (d *BeamDecoder) checkScores(y tf.Output) error {
	if err := y.Err(); err != nil {
		return err
	}
	if s := y.Shape(); len(s) != 2 || s[1] != d.Classes || y.DType() != tf.Float32 {
		return tf.Errorf(tf.InvalidArgument, "the outputs of a beam search must be float32 [batch·width %d], got %v", d.Classes, y)
	}
	return nil
}

// choose keeps the most probable sequences out of all continuations of those of
// the state by logits [batch width classes].
func (d *BeamDecoder) choose(logits tf.Output, s State, cell State) ([]tf.Output, State, tf.Output, tf.Output) {
	classes := ops.Scalar(d.graph(), int32(d.Classes))
	probability, length, ended := s[0], s[1], s[2]
	total := flat(ops.AddV2(ops.ExpandDims(probability, 2), d.continued(logits, ended)), d.Width*d.Classes)
	scores := total
	if d.LengthNorm != 0 {
		grown := ops.AddV2(ops.ExpandDims(length, 2), d.growth(ended))
		scores = ops.Div(total, flat(d.penalty(grown), d.Width*d.Classes))
	}
	var covered tf.Output
	if d.Coverage != 0 {
		going := ops.ExpandDims(ended.Not().Cast(tf.Float32), 2)
		covered = ops.AddV2(s[3], ops.Mul(d.attention(cell), going))
		each := ops.AddV2(ops.Reshape(scores, []int{-1, d.Width, d.Classes}), ops.ExpandDims(d.uncovered(covered, ended), 2))
		scores = flat(each, d.Width*d.Classes)
	}
	best, at := ops.TopK(scores, d.Width)
	parents, ids := ops.FloorDiv(at, classes), ops.FloorMod(at, classes)
	was := pick(ended, parents)
	lengths := ops.AddV2(pick(length, parents), was.Not().Cast(tf.Int32))
	finished := was.Or(ops.Equal(ids, ops.Scalar(d.graph(), int32(d.End))))
	next := State{pick(total, at), lengths, finished}
	if d.Coverage != 0 {
		next = append(next, pick(covered, parents))
	}
	for _, x := range cell {
		next = append(next, merged(pick(d.apart(x), parents)))
	}
	return []tf.Output{ids, parents, best}, next, d.Embed(ids), finished
}

// uncovered returns the coverage penalty of sequences that have ended, [batch width].
// Elements that have got no attention at all count as being behind the memory's end.
func (d *BeamDecoder) uncovered(covered, ended tf.Output) tf.Output {
	one := ops.OnesLike(covered)
	seen := ops.SelectV2(covered.Equal(ops.ZerosLike(covered)), one, covered)
	sum := ops.Sum(ops.Log(ops.Minimum(seen, one)), []int{2})
	return ops.Mul(sum, ended.Cast(tf.Float32)).Mul(d.Coverage)
}

// pick returns the elements of x [batch n ...] that by [batch width] names.
func pick(x, by tf.Output) tf.Output { return ops.Gather(x, by, 1, ops.GatherOpts{BatchDims: 1}) }

func flat(x tf.Output, n int) tf.Output { return ops.Reshape(x, []int{-1, n}) }

// continued returns the logarithms of the probabilities of each class. A sequence
// that has ended goes on with End alone.
func (d *BeamDecoder) continued(logits, ended tf.Output) tf.Output {
	row := make([]float32, d.Classes)
	for i := range row {
		row[i] = -math.MaxFloat32
	}
	row[d.End] = 0
	only := ops.Const(d.graph(), row, 1, 1, d.Classes)
	return ops.SelectV2(ops.ExpandDims(ended, 2), only, ops.LogSoftmax(logits))
}

// growth returns by how much each class makes a sequence longer for its score: by
// 1, unless it is End or the sequence has ended.
func (d *BeamDecoder) growth(ended tf.Output) tf.Output {
	row := make([]int32, d.Classes)
	for i := range row {
		row[i] = 1
	}
	row[d.End] = 0
	return ops.Mul(ops.Const(d.graph(), row, 1, 1, d.Classes), ops.ExpandDims(ended.Not().Cast(tf.Int32), 2))
}

// penalty returns ((5+length)/6)^LengthNorm as a quotient of powers, whose rounding
// is TensorFlow's: it decides between sequences of almost equal scores.
func (d *BeamDecoder) penalty(lengths tf.Output) tf.Output {
	exponent := ops.Scalar(d.graph(), float32(d.LengthNorm))
	return ops.Div(ops.Pow(lengths.Cast(tf.Float32).Add(5), exponent), ops.Pow(ops.Scalar(d.graph(), float32(6)), exponent))
}

// trace follows the parents of sequences back and returns their ids [batch time
// width], End from where they end. It begins with the last step that the longest
// sequence of an input has, as TensorFlow does: in the step after it the penalty
// counts the End, too, which may change the order of what has ended.
func (d *BeamDecoder) trace(ids, parents, lengths tf.Output) tf.Output {
	tree := kernels.GatherTree(ids, parents, lengths.Max(1), ops.Scalar(d.graph(), int32(d.End)))
	return ops.Transpose(tree, []int{1, 0, 2})
}
