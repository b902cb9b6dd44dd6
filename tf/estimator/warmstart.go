package estimator

import (
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/train"
)

// A WarmStart gives a new model values from a checkpoint of another one:
// TensorFlow's WarmStartSettings. It has no effect once the model has a
// checkpoint of its own.
type WarmStart struct {
	// From is a checkpoint, or a directory, whose latest one is meant.
	From string
	// Vars is a regular expression that the beginnings of the names of trainable
	// variables match which get values; "": all.
	Vars string
	// Names are those that variables have in the checkpoint, where they differ.
	Names map[string]string
	// Vocab says, by the names of variables, whose rows or columns belong to words
	// that stand elsewhere in the checkpoint: those of an embedding whose
	// vocabulary has changed.
	Vocab map[string]*train.VocabInfo
}

func (w *WarmStart) apply(g *tf.Graph) error {
	return train.WarmStart(g, w.From, train.WarmStartOptions{Vars: w.Vars, Names: w.Names, Vocab: w.Vocab})
}
