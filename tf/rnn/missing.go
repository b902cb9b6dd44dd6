package rnn

import (
	"reflect"

	"github.com/gorge-tf/gorge/tf"
)

// missing stands for a cell that is nil.
type missing struct{}

func (missing) StateSize() []int { return nil }
func (missing) OutputSize() int  { return 0 }

func (c missing) Step(x tf.Output, _ State) (tf.Output, State) {
	return failed(c, x, "rnn_cell", errMissing)
}

var errMissing = tf.Errorf(tf.InvalidArgument, "a cell must not be nil")

// given returns c, or what stands for it if it is nil or a pointer that is nil.
func given(c Cell) Cell {
	if v := reflect.ValueOf(c); !v.IsValid() || v.Kind() == reflect.Pointer && v.IsNil() {
		return missing{}
	}
	return c
}

// noMemory is the attention to nothing.
type noMemory struct{ bad tf.Output }

func (m noMemory) Memory() tf.Output         { return m.bad }
func (m noMemory) Align(tf.Output) tf.Output { return m.bad }

// of returns ids as inputs.
func (f Embed) of(ids tf.Output) tf.Output {
	if ids.Err() == nil && f == nil {
		return tf.Failed(ids.Graph(), "embedding", tf.Errorf(tf.InvalidArgument, "a decoder needs a function that turns ids into inputs, got nil")).Output(0)
	}
	if ids.Err() != nil {
		return ids
	}
	return f(ids)
}
