package train_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"testing"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/train"
)

// TestSaveAsyncOfRandomPrograms saves while random updates go on: what a checkpoint has
// are the bytes that were fetched before the save began.
func TestSaveAsyncOfRandomPrograms(t *testing.T) {
	for seed := range uint64(6) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) { saveRandomly(t, rand.New(rand.NewPCG(seed, 17))) })
	}
}

func saveRandomly(t *testing.T, r *rand.Rand) {
	g := tf.NewGraph()
	vars, updates := randomUpdates(g, r)
	saver := newSaver(t, g, train.SaverOptions{Sharded: r.IntN(2) == 0, MaxToKeep: -1})
	var values []tf.Fetchable
	for _, v := range vars {
		values = append(values, v.Read())
	}
	s := begin(t, g, true)
	run := func(f ...tf.Fetchable) []*tf.Tensor {
		out, err := s.Run(t.Context(), nil, f...)
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	step := func() {
		for range 1 + r.IntN(4) {
			run(updates[r.IntN(len(updates))])
		}
	}
	path := filepath.Join(t.TempDir(), "m")
	for range 8 {
		step()
		before := run(values...)
		p, err := saver.SaveAsync(t.Context(), s, path, train.SaveOptions{NoMetaGraph: true})
		if err != nil {
			t.Fatal(err)
		}
		for going := true; going; {
			step()
			select {
			case <-p.Done():
				going = false
			default:
			}
		}
		if _, err := p.Wait(t.Context()); err != nil {
			t.Fatal(err)
		}
		for i, v := range vars {
			got, err := train.LoadVariable(path, v.Name())
			if err != nil {
				t.Fatal(err)
			}
			if want := before[i]; !bytes.Equal(bytesOf(got), bytesOf(want)) {
				t.Fatalf("%s of type %v is not as it was when the save began", v.Name(), v.DType())
			}
		}
	}
}

func bytesOf(x *tf.Tensor) []byte {
	return (*core.Tensor)(x).Buffer().Bytes()[:(*core.Tensor)(x).NumBytes()]
}

// randomUpdates makes variables of both kinds, some large, and operations that change
// some of them in each of the ways that there are.
func randomUpdates(g *tf.Graph, r *rand.Rand) (vars []*tf.Variable, updates []*tf.Operation) {
	types := []tf.DType{tf.Float32, tf.Float32, tf.Float64, tf.BFloat16}
	for k := range 6 {
		d, rows := types[r.IntN(len(types))], int32(1+r.IntN(300)*r.IntN(300))
		first := ops.Fill(ops.Const(g, []int32{rows, 7}), ops.Cast(ops.Scalar(g, int32(k)), d))
		v := tf.NewVariable(first, tf.VariableOptions{Name: fmt.Sprint("v", k), Reference: r.IntN(2) == 0})
		one := ops.OnesLike(v.Value())
		updates = append(updates, v.AssignAdd(one), v.AssignSub(ops.Mul(one, one)), v.Assign(ops.Mul(v.Value(), v.Value())))
		if !v.IsReference() {
			updates = append(updates, ops.ResourceScatterAdd(v.Handle(), ops.Const(g, []int32{rows / 2, 0}), ops.Fill(ops.Const(g, []int32{2, 7}), ops.Cast(ops.Scalar(g, int32(3)), d))))
		}
		o := []train.Optimizer{train.GradientDescent{LearningRate: 0.1}, train.Momentum{LearningRate: 0.1, Momentum: 0.9}, train.Adam{LearningRate: 0.01}, train.RMSProp{LearningRate: 0.01}}[r.IntN(4)]
		updates = append(updates, train.Minimize(o, ops.Cast(v.Value(), tf.Float32).Square().Sum(), train.Options{Vars: []*tf.Variable{v}}))
	}
	return tf.Variables(g, tf.GlobalVariables), updates
}
