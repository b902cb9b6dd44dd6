package layers

import (
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/ops"
)

// A Mode says whether a layer trains: true or false, or a scalar of type bool
// that the step computes, a placeholder say.
type Mode interface{ bool | tf.Output }

// mode is a Mode as layers work with it.
type mode struct {
	known, trains bool
	computed      tf.Output // if it is not known
}

func modeOf[M Mode](m M) mode {
	switch m := any(m).(type) {
	case bool:
		return mode{known: true, trains: m}
	case tf.Output:
		return mode{computed: m}
	}
	return mode{}
}

// may reports whether the layer trains in some steps.
func (m mode) may() bool { return !m.known || m.trains }

// choose returns what train gives if the layer trains, else what infer gives. In
// a step that has to decide, only one of them is computed.
func (m mode) choose(train, infer func() []tf.Output) []tf.Output {
	switch {
	case !m.known:
		return tf.Cond(m.computed, train, infer)
	case m.trains:
		return train()
	}
	return infer()
}

// pick is choose between values that are computed in any case.
func (m mode) pick(train, infer tf.Output) tf.Output {
	switch {
	case !m.known:
		return ops.SelectV2(m.computed, train, infer)
	case m.trains:
		return train
	}
	return infer
}
