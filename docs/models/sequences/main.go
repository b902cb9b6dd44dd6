package main

import (
	"context"
	"fmt"
	"log"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/layers"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/rnn"
	"github.com/gorge-tf/gorge/tf/session"
	"github.com/gorge-tf/gorge/tf/train"
)

// The network reads three words and writes them reversed. 0 ends a sentence, 1
// begins one.
const words, units = 8, 24

func main() {
	g := tf.NewGraph()
	g.SetSeed(3)
	source := ops.Const(g, []int32{2, 3, 4, 5, 6, 7, 7, 2, 5, 4, 4, 3}, 4, 3)
	target := ops.Concat(1, []tf.Output{ops.Reverse(source, []int{1}), ops.Const(g, make([]int32, 4), 4, 1)})
	begin := ops.Fill([]int{4}, ops.Scalar(g, int32(1)))
	given := ops.Concat(1, []tf.Output{ops.ExpandDims(begin, 1), target.At(":, :-1")})
	table := layers.NewEmbedding(words, 8)

	encoded, state := rnn.DynamicRNN(rnn.NewLSTM(units), table.Apply(source), rnn.Opts{Scope: "encoder"})
	cell := rnn.Attend(rnn.NewLSTM(units), rnn.Luong(units, encoded), rnn.AttendOpts{Size: units, Initial: state})
	initial := rnn.ZeroState(cell, ops.Scalar(g, int32(4)), tf.Float32)
	scores := layers.NewDense(words)

	teacher := rnn.TrainingHelper(table.Apply(given), ops.Fill([]int{4}, ops.Scalar(g, int32(4))))
	taught := (&rnn.BasicDecoder{Cell: cell, Helper: teacher, Initial: initial, Output: scores.Apply, OutputSize: words}).Decode()
	loss := rnn.SequenceLoss(taught.Output, target, ops.OnesLike(target).Cast(tf.Float32))
	step := train.Adam{LearningRate: 0.02}.Minimize(loss)

	greedy := rnn.GreedyHelper(func(ids tf.Output) tf.Output { return table.Apply(ids) }, begin, 0)
	written := (&rnn.BasicDecoder{Cell: cell, Helper: greedy, Initial: initial, Output: scores.Apply, OutputSize: words}).
		Decode(rnn.DecodeOpts{MaxSteps: ops.Scalar(g, int32(4))})

	s, err := session.New(g)
	if err != nil {
		log.Fatal(err)
	}
	defer s.Close()
	ctx := context.Background()
	if _, err := s.Run(ctx, nil, tf.InitializeAll(g)); err != nil {
		log.Fatal(err)
	}
	for range 150 {
		if _, err := s.Run(ctx, nil, step); err != nil {
			log.Fatal(err)
		}
	}
	out, err := s.Run(ctx, nil, source, written.Samples)
	if err != nil {
		log.Fatal(err)
	}
	for i := range 4 {
		fmt.Println(tf.Data[int32](out[0])[3*i:3*i+3], "→", tf.Data[int32](out[1])[4*i:4*i+3])
	}
}
