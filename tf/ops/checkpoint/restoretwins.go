package checkpoint

import (
	"github.com/gorge-tf/gorge/internal/bundle"
	"github.com/gorge-tf/gorge/tf/core"
)

// leastTwin is the size from which on it is worth looking for values that are stored
// twice.
const leastTwin = 1 << 12

// twins returns for each wanted tensor the index of an earlier one whose values seem to
// be the same, -1 if there is none. Keras, for one, saves each variable of a model under
// two names. Tensors with the same values share memory: a variable that is written gets
// memory of its own as long as another one holds it.
func twins(r *bundle.Reader, all []wanted) ([]int, error) {
	first := map[string]int{}
	of := make([]int, len(all))
	for i, w := range all {
		of[i] = -1
		if w.spec != "" {
			continue
		}
		e, err := r.Entry(w.name)
		if err != nil {
			return nil, err
		}
		id := e.Identity()
		if id == "" || e.Shape.NumElements()*e.DType.Size() < leastTwin {
			continue
		}
		if j, ok := first[id]; ok {
			of[i] = j
		} else {
			first[id] = i
		}
	}
	return of, nil
}

// restoreTwin sets output i to that of its twin, or reads it if the values differ.
func (w wanted) restoreTwin(c *core.OpContext, i, twin int, r *bundle.Reader) error {
	t := c.Out[twin].T
	same, err := r.Same(w.name, t)
	if err != nil {
		return err
	}
	if same {
		c.ShareShape(i, t, t.Shape())
		return nil
	}
	return w.restore(c, i, r)
}
