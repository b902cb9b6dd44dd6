package linalg_test

import (
	"fmt"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/ops/linalg"
)

func init() {
	const op = "Einsum"
	by := func(equation string) func(*tf.Graph, []tf.Output) []tf.Output {
		return func(_ *tf.Graph, in []tf.Output) []tf.Output { return []tf.Output{linalg.Einsum(equation, in)} }
	}
	for _, e := range []struct {
		equation string
		in       tensors
	}{
		{"ij,jk->ik", tensors{noise(2, 3), noise(3, 4)}},
		{"ij,kj->ki", tensors{noise(2, 3), noise(4, 3)}},
		{"bij,bjk->bik", tensors{noise(2, 3, 4), noise(2, 4, 2)}},
		{"ab,cd->acbd", tensors{noise(2, 2), noise(2, 3)}},
		{"i,i->", tensors{noise(4), noise(4)}},
		{",->", tensors{noise(), noise()}},
		{"ii->i", tensors{noise(3, 3)}},
		{"i->ii", tensors{noise(3)}},
		{"iij->ji", tensors{noise(3, 3, 2)}},
		{"ijk->", tensors{noise(2, 3, 2)}},
		{"ijk->ik", tensors{noise(2, 3, 2)}},
		{"ijk->ki", tensors{noise(2, 3, 2)}},
		{"aab,bc->ca", tensors{noise(2, 2, 3), noise(3, 2)}},
		{"abc,cd->ad", tensors{noise(2, 3, 4), noise(4, 2)}},
		{"...ij,...jk->...ik", tensors{noise(2, 1, 3, 2), noise(4, 2, 3)}},
		{"...ij,jk->ik...", tensors{noise(2, 2, 3, 2), noise(2, 3)}},
		{"i...j->j...", tensors{noise(2, 2, 3, 2)}},
		{"...,...->...", tensors{noise(3), noise(2, 1)}},
		{"ij,jk->ik", tensors{seq(2, 0), seq(0, 3)}},
		{"ij,jk->ik", tensors{seq(0, 2), seq(2, 3)}},
	} {
		name := e.equation
		if e.in[0].Len() == 0 {
			name += " " + fmt.Sprint([]int(e.in[0].Shape()))
		}
		addSamples(sample{Op: op, Name: name, In: e.in, F: by(e.equation), Types: exact, Tol: 1e-5})
	}
	addSamples(
		sample{Op: op, In: tensors{within(-3, 3, 2, 3), within(-2, 2, 3, 2)}, F: by("ij,jk->ik"), Tol: 1e-5},
		failing(op, "rank", by("ij->i"), seq(2)),
		failing(op, "rank of ellipsis", by("...ij->i..."), seq(2)),
		failing(op, "sizes", by("ij,jk->ik"), seq(2, 3), seq(2, 2)),
		failing(op, "diagonal", by("ii->i"), seq(2, 3)),
		failing(op, "no ellipsis", by("...i->i"), seq(2, 3)),
		sample{Op: op, Name: "bad broadcast", In: tensors{seq(2, 3), seq(3, 3)}, F: by("...i,...i->..."), Fails: true, NoGolden: "TensorFlow names other shapes"})
}
