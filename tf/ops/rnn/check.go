package rnn

import "github.com/gorge-tf/gorge/tf/core"

// want is one rule that the inputs of a cell have to keep.
type want struct {
	ok   bool
	text string
	args []any
}

func rule(ok bool, text string, args ...any) want { return want{ok, text, args} }

// all returns the first rule that is broken, as an error.
func all(rules ...want) error {
	for _, r := range rules {
		if !r.ok {
			return invalid(r.text, r.args...)
		}
	}
	return nil
}

// sized wants dimension dim of t to be size; text tells of both.
func sized(t *core.Tensor, dim, size int, text string) want {
	return rule(t.Dim(dim) == size, text+"%d vs. %d", t.Dim(dim), size)
}

// matrixOf wants t, called name, to be a matrix of batch rows and cell columns.
func matrixOf(t *core.Tensor, batch, cell int, name string) error {
	if t.Rank() != 2 {
		return invalid("Rank of %s must be 2, got %d", name, t.Rank())
	}
	return all(sized(t, 0, batch, name+".dims(0) != batch_size: "), sized(t, 1, cell, name+".dims(1) != cell_size: "))
}

// ranks wants the inputs of c from first on to have rank r, and says so by text,
// which has places for the name and the rank that came.
func ranks(c *core.OpContext, first, r int, text string, names ...string) error {
	for k, name := range names {
		if got := c.Input(first + k).Rank(); got != r {
			return invalid(text, name, got)
		}
	}
	return nil
}
