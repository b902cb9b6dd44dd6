package ops

import "github.com/gorge-tf/gorge/tf"

// MapFn, Scan, FoldL and FoldR call a function, once, to add what a loop does
// with each row of tensors. They take the options of tf.While and a name.

// MapFn returns what fn makes of the rows of elems, stacked: tensors of the
// given types. All elems have equally many rows. fn is called once, to add its
// operations to the graph, and returns a tensor for each of types. On an error
// the result is a single Output that carries it: INVALID_ARGUMENT when the
// graph is built for no elems, for scalars among them and for known numbers of
// rows that differ, and for tensors of fn whose number or types are others.
func MapFn(fn func(rows []tf.Output) []tf.Output, elems []tf.Output, types []tf.DType, opts ...tf.Option) []tf.Output {
	m := newRowLoop("map", elems, opts)
	if m.eagerlyEmpty() {
		return m.traced(func(elems []tf.Output) []tf.Output { return MapFn(fn, elems, types, opts...) })
	}
	return m.in(func() []tf.Output {
		m.unstack()
		results := m.arrays(types)
		m.loop(flows(results), func(i tf.Output, flow []tf.Output) []tf.Output {
			ys := fn(m.rows(i))
			return m.write(results, flow, i, ys)
		})
		return m.stack(results)
	})
}

// Scan returns, stacked, what fn makes of its result for the row before and of
// each row of elems, beginning with initial. fn is called once and returns as
// many tensors as there are in initial, of the same types; each result has a
// row for each row of elems. On an error the result is a single Output that
// carries it: INVALID_ARGUMENT when the graph is built for no elems, for
// scalars among them and for known numbers of rows that differ, and for tensors
// of fn whose number or types are others.
func Scan(fn func(before, rows []tf.Output) []tf.Output, elems, initial []tf.Output, opts ...tf.Option) []tf.Output {
	m := newRowLoop("scan", elems, opts)
	if m.eagerlyEmpty() {
		return m.traced(func(elems []tf.Output) []tf.Output { return Scan(fn, elems, initial, opts...) })
	}
	return m.in(func() []tf.Output {
		m.unstack()
		types := make([]tf.DType, len(initial))
		for i, x := range initial {
			types[i] = x.DType()
		}
		results := m.arrays(types)
		n := len(initial)
		m.loop(append(append([]tf.Output{}, initial...), flows(results)...), func(i tf.Output, vars []tf.Output) []tf.Output {
			ys := fn(vars[:n], m.rows(i))
			return append(append([]tf.Output{}, ys...), m.write(results, vars[n:], i, ys)...)
		})
		return m.stack(results)
	})
}

// FoldL returns what fn makes, row by row from the first, of its result so far
// and of each row of elems, beginning with initial. fn is called once and
// returns as many tensors as there are in initial. Without rows the results are
// initial. On an error the result is a single Output that carries it:
// INVALID_ARGUMENT when the graph is built for no elems, for scalars among them
// and for known numbers of rows that differ.
func FoldL(fn func(before, rows []tf.Output) []tf.Output, elems, initial []tf.Output, opts ...tf.Option) []tf.Output {
	m := newRowLoop("foldl", elems, opts)
	return m.in(func() []tf.Output {
		m.unstack()
		return m.loop(initial, func(i tf.Output, before []tf.Output) []tf.Output { return fn(before, m.rows(i)) })
	})
}

// FoldR is FoldL from the last row to the first. Errors are those of FoldL.
func FoldR(fn func(before, rows []tf.Output) []tf.Output, elems, initial []tf.Output, opts ...tf.Option) []tf.Output {
	m := newRowLoop("foldr", elems, opts)
	return m.in(func() []tf.Output {
		m.unstack()
		last := Sub(m.n, intScalar(m.n, tf.Int32, 1))
		return m.loop(initial, func(i tf.Output, before []tf.Output) []tf.Output { return fn(before, m.rows(Sub(last, i))) })
	})
}

// rowLoop is a loop over the rows of elems.
type rowLoop struct {
	name   string
	elems  []tf.Output
	opts   []tf.Option
	n      tf.Output // number of rows
	static int       // the same, -1 if it is not known
	input  []TensorArray
	bad    error
	last   []tf.Output // what the loop returned
}

func newRowLoop(name string, elems []tf.Output, opts []tf.Option) *rowLoop {
	m := &rowLoop{name: name, elems: elems, opts: opts, static: -1}
	if len(elems) == 0 {
		m.bad = tf.Errorf(tf.InvalidArgument, "elems must be a Tensor or (possibly nested) sequence of Tensors. Got none")
	}
	for _, x := range elems {
		switch s := x.Shape(); {
		case x.Err() != nil:
			m.bad = x.Err()
		case s == nil:
		case len(s) == 0:
			m.bad = tf.Errorf(tf.InvalidArgument, "elements in elems must be 1+ dimensional Tensors, not scalars")
		case s[0] >= 0 && m.static >= 0 && s[0] != m.static:
			m.bad = tf.Errorf(tf.InvalidArgument, "Dimensions %d and %d are not compatible", m.static, s[0])
		default:
			m.static = max(m.static, s[0])
		}
	}
	return m
}

// eagerlyEmpty reports whether the loop is in an eager graph and has no rows: what fn makes of one
// is known only where it adds operations.
func (m *rowLoop) eagerlyEmpty() bool {
	return m.bad == nil && m.static == 0 && m.elems[0].Graph().IsEager()
}

// traced calls a function that f is the body of.
func (m *rowLoop) traced(f func(elems []tf.Output) []tf.Output) []tf.Output {
	return tf.NewFunction(m.elems[0].Graph(), m.name, tf.SpecOf(m.elems...), f).Call(m.elems)
}

// in calls f within the scope of the loop's name.
func (m *rowLoop) in(f func() []tf.Output) (out []tf.Output) {
	if m.bad != nil {
		var g *tf.Graph
		if len(m.elems) > 0 {
			g = m.elems[0].Graph()
		}
		return []tf.Output{tf.Failed(g, m.name, m.bad).Output(0)}
	}
	spec := tf.Spec{Name: m.name}
	for _, o := range m.opts {
		o.Apply(&spec)
	}
	m.elems[0].Graph().Scope(spec.Name, func() { out = f() })
	return out
}

// unstack puts the rows of all elems into arrays.
func (m *rowLoop) unstack() {
	x := m.elems[0]
	if m.static >= 0 {
		m.n = intScalar(x, tf.Int32, m.static)
	} else {
		m.n = sliceRow(Shape(x), 0)
	}
	for _, x := range m.elems {
		m.input = append(m.input, NewTensorArray(m.n, x.DType(), TensorArrayOpts{}).Unstack(x))
	}
}

func (m *rowLoop) rows(i tf.Output) []tf.Output {
	out := make([]tf.Output, len(m.input))
	for k, a := range m.input {
		out[k] = a.Read(i)
	}
	return out
}

// arrays makes arrays for results of the given types.
func (m *rowLoop) arrays(types []tf.DType) []TensorArray {
	out := make([]TensorArray, len(types))
	for k, d := range types {
		out[k] = NewTensorArray(m.n, d, TensorArrayOpts{})
	}
	return out
}

func flows(arrays []TensorArray) []tf.Output {
	out := make([]tf.Output, len(arrays))
	for k, a := range arrays {
		out[k] = a.flow
	}
	return out
}

// write writes ys to element i of arrays, which are at the given flows, and
// returns their new ones.
func (m *rowLoop) write(arrays []TensorArray, flow []tf.Output, i tf.Output, ys []tf.Output) []tf.Output {
	if len(ys) != len(arrays) {
		err := tf.Errorf(tf.InvalidArgument, "The two structures don't have the same number of elements: the function returned %d tensors, expected %d.", len(ys), len(arrays))
		return []tf.Output{tf.Failed(i.Graph(), m.name, err).Output(0)}
	}
	out := make([]tf.Output, len(arrays))
	for k := range arrays {
		if d := ys[k].DType(); ys[k].Err() == nil && d.Base() != arrays[k].dtype {
			err := tf.Errorf(tf.InvalidArgument, "TensorArray dtype is %s but Op is trying to write dtype %s ", arrays[k].dtype, d)
			return []tf.Output{tf.Failed(i.Graph(), m.name, err).Output(0)}
		}
		a := arrays[k].WithFlow(flow[k]).Write(i, ys[k])
		out[k] = a.flow
		arrays[k].shape = a.shape
	}
	return out
}

// loop calls body, once, for rows 0 to n; vars are its variables.
func (m *rowLoop) loop(vars []tf.Output, body func(i tf.Output, vars []tf.Output) []tf.Output) []tf.Output {
	zero := intScalar(m.n, tf.Int32, 0)
	// The program's name is the scope's around the loop.
	opts := append(tf.Join(m.opts, tf.WhileOpts{MaximumIterations: m.n}), tf.Name("while"))
	out := tf.While(append([]tf.Output{zero}, vars...),
		func(v []tf.Output) tf.Output { return Less(v[0], m.n) },
		func(v []tf.Output) []tf.Output {
			next := AddV2(v[0], intScalar(v[0], tf.Int32, 1), tf.Name("add"))
			return append([]tf.Output{next}, body(v[0], v[1:])...)
		}, opts...)
	m.last = out
	if len(out) == 1 {
		return out // the error
	}
	return out[1:]
}

// stack returns what the loop has written to results.
func (m *rowLoop) stack(results []TensorArray) []tf.Output {
	if len(m.last) == 1 {
		return m.last
	}
	out := make([]tf.Output, len(results))
	for k, a := range results {
		out[k] = a.WithFlow(m.last[len(m.last)-len(results)+k]).Stack()
		if s := a.shape; s != nil {
			out[k].SetShape(append(tf.Shape{m.static}, s...))
		}
	}
	return out
}
