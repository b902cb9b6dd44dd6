package fuse_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/session"
)

// atOnce is a step that is run again and again with feeds of several shapes.
type atOnce struct {
	s       *session.Session
	fetches []tf.Fetchable
	feeds   []session.Feeds
	want    [][]*tf.Tensor
}

// newAtOnce computes what a step gives for feeds, in a session that fuses nothing.
func newAtOnce(t *testing.T, g *tf.Graph, feeds []session.Feeds, fetches []tf.Fetchable, threads int) *atOnce {
	t.Helper()
	start := func(c session.Config) *session.Session {
		s, err := session.New(g, session.With(c))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { s.Close() })
		return s
	}
	a := &atOnce{s: start(session.Config{Threads: threads}), fetches: fetches, feeds: feeds}
	plain := start(session.Config{Threads: 1, DisabledPasses: []string{"fusion"}})
	for _, f := range feeds {
		want, err := plain.Run(context.Background(), f, fetches...)
		if err != nil {
			t.Skip(err)
		}
		a.want = append(a.want, want)
	}
	return a
}

// client runs steps, some of which it cancels, and writes over what it gets.
func (a *atOnce) client(r *rand.Rand, steps int) error {
	for range steps {
		i := r.IntN(len(a.feeds))
		ctx, cancel := context.WithCancel(context.Background())
		if r.IntN(3) == 0 {
			time.AfterFunc(time.Duration(r.IntN(2000))*time.Microsecond, cancel)
		}
		got, err := a.s.Run(ctx, a.feeds[i], a.fetches...)
		ended := ctx.Err() != nil
		if cancel(); err != nil {
			if !ended {
				return err
			}
			continue
		}
		for k := range got {
			if why := differ(got[k], a.want[i][k]); why != "" {
				return fmt.Errorf("feeds %d, output %d: %s", i, k, why)
			}
			if b := (*core.Tensor)(got[k]).Buffer(); b != nil {
				for j := range b.Bytes() {
					b.Bytes()[j] = 0xDB
				}
			}
		}
	}
	return nil
}

func (a *atOnce) run(t *testing.T, seed uint64, clients, steps int) {
	t.Helper()
	var all sync.WaitGroup
	for c := range clients {
		all.Go(func() {
			if err := a.client(rand.New(rand.NewPCG(seed, uint64(c))), steps); err != nil {
				t.Errorf("seed %d, client %d: %v", seed, c, err)
			}
		})
	}
	all.Wait()
}

// TestStepsAtOnce: steps of one session at once, with shapes that change, some of which are
// cancelled, and whose results are written over, give what each gives alone.
func TestStepsAtOnce(t *testing.T) {
	before := runtime.GOMAXPROCS(8)
	t.Cleanup(func() { runtime.GOMAXPROCS(before) })
	for seed := range uint64(6) {
		r := rand.New(rand.NewPCG(seed, 31))
		g := tf.NewGraph()
		x, y := ops.Placeholder(g, tf.Float32, tf.Shape{-1, -1}), ops.Placeholder(g, tf.Float32, tf.Shape{-1, -1})
		o := ops.MatMulOpts{TransposeA: true}
		first := []tf.Output{ops.Scalar(g, int32(0)), ops.MatMul(x, y, o), ops.MatMul(y, y, o), ops.Mul(x, x)}
		end := tf.While(first, below(g, 50), func(v []tf.Output) []tf.Output {
			by := ops.Cast(v[0], tf.Float32)
			a, b := ops.Tanh(ops.Mul(v[3], ops.Cos(by))), ops.AddV2(y, by)
			return []tf.Output{ops.AddV2(v[0], ops.Scalar(g, int32(1))), ops.AddV2(v[1], ops.MatMul(a, b, o)), ops.AddV2(ops.MatMul(b, b, o), v[2]), ops.AddV2(a, x)}
		})
		var feeds []session.Feeds
		for range 5 {
			m, n, k := 1+r.IntN(150), 1+r.IntN(150), 1+r.IntN(150)
			feeds = append(feeds, session.Feeds{x: normal(r, tf.Float32, tf.Shape{k, m}), y: normal(r, tf.Float32, tf.Shape{k, n})})
		}
		fetches := []tf.Fetchable{end[1], end[2], end[3], ops.Relu(ops.Neg(end[1])), ops.Identity(x), ops.MatMul(end[1], end[1], ops.MatMulOpts{TransposeB: true})}
		newAtOnce(t, g, feeds, fetches, 1+int(seed)*3).run(t, seed, 4, 25)
	}
}

// TestProgramsAtOnce: so do elementwise programs.
func TestProgramsAtOnce(t *testing.T) {
	before := runtime.GOMAXPROCS(8)
	t.Cleanup(func() { runtime.GOMAXPROCS(before) })
	for seed := range uint64(30) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			p := newProgram(seed+5000, seed%2 == 0)
			if p.g.Err() != nil {
				t.Fatal(p.g.Err())
			}
			newAtOnce(t, p.g, []session.Feeds{p.feeds}, p.fetches(), 1+int(seed%8)).run(t, seed, 4, 10)
		})
	}
}
