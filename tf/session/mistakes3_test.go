package session_test

import (
	"context"
	"regexp"
	"testing"
	"time"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/eager"
	"github.com/gorge-tf/gorge/tf/layers"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/ops/queue"
	"github.com/gorge-tf/gorge/tf/ops/summary"
	"github.com/gorge-tf/gorge/tf/rnn"
	"github.com/gorge-tf/gorge/tf/session"
	"github.com/gorge-tf/gorge/tf/train"
	"github.com/gorge-tf/gorge/tf/vars"
)

// located are mistakes of calls that return errors themselves, or add nothing: the line is
// that of the call, and what is said follows it.
var located = []struct {
	name, want string
	make       func(m *maker) error
}{
	{"an output that is not there", `Const "Const": Const "Const" has 1 outputs, there is no output 3`, func(m *maker) error { return m.run(nil, m.f.Operation().Output(3)) }},
	{"a device that is none", `Device: .*/jb:x`, func(m *maker) error { m.g.Device("/jb:x", func() {}); return m.g.Err() }},
	{"a function of nothing", `NewFunction: function .* needs a Go function that adds its body, got nil`, func(m *maker) error { return tf.NewFunction(m.g, "f", nil, nil).Err() }},
	{"a tape of another graph", `Gradients: gradients on a tape need outputs of its graph`, func(m *maker) error {
		_, err := eager.Record(eager.New(), func() {}).Gradients(m.f, m.f)
		return err
	}},
	{"gradients of nothing", `Gradients: the zero Output has no value`, func(m *maker) error { _, err := tf.Gradients(tf.Output{}, m.f); return err }},
	{"no gradients to apply", `ApplyGradients: No gradients provided`, func(*maker) error { _, err := train.Adam{}.ApplyGradients(nil); return err }},
	{"a summary without a name", `Summary "Summary": a summary must have a name, got ""`, func(m *maker) error { return summary.Tensor("", m.f).Err() }},
	{"a scalar's summary without a name", `Summary "Summary_1": a summary must have a name`, func(m *maker) error { summary.Scalar("", m.f); return summary.Scalar("", m.f).Err() }},
	{"a summary of nothing", `s "s": the zero Output has no value`, func(m *maker) error { return m.run(nil, summary.Scalar("s", tf.Output{})) }},
	{"a layer on nothing", `dense "dense": the input of a layer must be a tensor, got the zero Output`, func(m *maker) error { return m.run(nil, layers.Dense(tf.Output{}, 3)) }},
	{"an embedding of nothing", `embedding "embedding": the input of a layer`, func(m *maker) error { return m.run(nil, layers.Embedding(tf.Output{}, 3, 2)) }},
	{"pooling of nothing", `.*the input of a layer`, func(m *maker) error { return m.run(nil, layers.MaxPool2D(tf.Output{}, 2, 2, "SAME")) }},
	{"attention to nothing", `.*the input of a layer`, func(m *maker) error {
		return m.run(nil, layers.MultiHeadAttention(tf.Output{}, tf.Output{}, 2, 2, layers.AttentionInputs{}))
	}},
	{"writing to no array", `TensorArrayWriteV3 .*the zero TensorArray has no elements`, func(m *maker) error { return ops.TensorArray{}.Write(m.i.At("0"), m.f).Err() }},
	{"writing another type to an array", `TensorArrayWriteV3 .*TensorArray dtype is float32 but Op is trying to write dtype int32`, func(m *maker) error {
		return ops.NewTensorArray(m.i.At("2"), tf.Float32, ops.TensorArrayOpts{}).Write(m.i.At("0"), m.i).Err()
	}},
	{"scattering another type", `ResourceScatterAdd .*Trying to read variable with wrong dtype. Expected float got int32`, func(m *maker) error {
		return ops.ResourceScatterAdd(m.handle(), m.i.At("0"), m.i).Err()
	}},
	{"an array of less than nothing", `TensorArrayV3 .*TensorArray size must be >= 0 and at most \d+, got -3`, func(m *maker) error {
		return m.run(nil, ops.NewTensorArray(ops.Scalar(m.g, int32(-3)), tf.Float32, ops.TensorArrayOpts{}).Flow())
	}},
	{"a loop whose type changes", `.*Input tensor 'Const_1:0' enters the loop with type int32, but has type float32 after one iteration: .*loop variable 0`, func(m *maker) error {
		never := func(v []tf.Output) tf.Output { return v[0].Size().Less(0) }
		return tf.While([]tf.Output{m.i}, never, func(v []tf.Output) []tf.Output { return []tf.Output{v[0].Cast(tf.Float32)} }, tf.WhileOpts{MaxIterations: 3})[0].Err()
	}},
	{"a variable without a name", `.*a variable must have a name`, func(m *maker) error { return vars.Get(m.g, "", tf.Shape{2}).Value().Err() }},
	{"a cell of less than nothing", `.*a cell needs a positive number of units, got -2`, func(m *maker) error {
		y, _ := rnn.DynamicRNN(rnn.NewGRU(-2), m.f.Reshape(1, 2, 3))
		return y.Err()
	}},
	{"lengths of another number", `Assert .*Expected shape for Tensor n:0, sequence_length, is.*but saw shape`, func(m *maker) error {
		y, _ := rnn.DynamicRNN(rnn.NewGRU(2), m.f.Reshape(1, 2, 3), rnn.Opts{Lengths: m.n})
		return m.initialized(y, 1, 2, 1)
	}},
	{"a deadline at a queue", `DEADLINE_EXCEEDED: Timed out waiting for notification; QueueDequeueV2 "QueueDequeueV2" of LINE was waiting`, func(m *maker) error {
		return m.late(queue.QueueDequeueV2(queue.FIFOQueueV2(m.g, []tf.DType{tf.Float32}), []tf.DType{tf.Float32})[0])
	}},
	{"a deadline in a loop", `DEADLINE_EXCEEDED: Timed out waiting for notification; \w+ "while/\w+" of LINE was running`, func(m *maker) error {
		always := func(v []tf.Output) tf.Output { return v[0].GreaterEqual(0) }
		return m.late(tf.While([]tf.Output{m.n}, always, func(v []tf.Output) []tf.Output { return v })[0])
	}},
}

// initialized is ints, of a model with variables.
func (m *maker) initialized(y tf.Output, n ...int32) error {
	s, err := session.New(m.g)
	if err != nil {
		return err
	}
	defer s.Close()
	if _, err := s.Run(context.Background(), nil, tf.InitializeAll(m.g)); err != nil {
		return err
	}
	t, err := tf.FromSlice(n)
	if err != nil {
		return err
	}
	_, err = s.Run(context.Background(), session.Feeds{m.n: t}, y)
	return err
}

// late runs y with a deadline that it does not keep.
func (m *maker) late(y tf.Output) error {
	s, err := session.New(m.g)
	if err != nil {
		return err
	}
	defer s.Close()
	ctx, cancel := context.WithTimeout(context.Background(), 200*time.Millisecond)
	defer cancel()
	_, err = s.Run(ctx, session.Feeds{m.n: tf.Scalar(int32(1))}, y)
	return err
}

var hereToo = regexp.MustCompile(`mistakes[23]?_test\.go:\d+`)

// TestMistakesHaveLines: each says where in the program it is, and what came.
func TestMistakesHaveLines(t *testing.T) {
	for _, m := range located {
		err := attempt(mistake{m.name, m.make})
		if err == nil {
			t.Errorf("%s: nothing is said", m.name)
			continue
		}
		got := hereToo.ReplaceAllString(err.Error(), "LINE")
		if !regexp.MustCompile(`^(LINE: )?`+m.want).MatchString(got) || !hereToo.MatchString(err.Error()) {
			t.Errorf("%s:\ngot  %v\nwant LINE: %s", m.name, err, m.want)
		}
	}
}
