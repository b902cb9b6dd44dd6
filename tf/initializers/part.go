package initializers

import "github.com/gorge-tf/gorge/tf"

// A part says where in a whole variable the value lies that is added.
type part struct{ whole, offset tf.Shape }

// partKey is the collection in which a graph has the part that is being initialized.
const partKey = "__initialized_part"

// OfPart returns init for a part of a variable of shape whole, which begins at offset.
// What depends on the sizes of a variable is then that of the whole: the scale of
// [VarianceScaling], those made of it and [UniformUnitScaling], and the diagonal of
// [Identity].
func OfPart(init Initializer, whole, offset tf.Shape) Initializer {
	of := part{whole.Clone(), offset.Clone()}
	return func(g *tf.Graph, d tf.DType, s tf.Shape) tf.Output {
		if g == nil {
			return refuse(nil, errNoGraph)
		}
		p := partOf(g)
		outer := *p
		defer func() { *p = outer }()
		*p = of
		return init(g, d, s)
	}
}

func partOf(g *tf.Graph) *part {
	if c := g.Collection(partKey); len(c) > 0 {
		return c[0].(*part)
	}
	p := &part{}
	g.AddToCollection(partKey, p)
	return p
}

// within returns the shape of the variable that a value of shape s is a part of, and where
// in it the value begins: s itself and its beginning if it is whole.
func within(g *tf.Graph, s tf.Shape) (whole, offset tf.Shape) {
	if c := g.Collection(partKey); len(c) > 0 {
		if p := c[0].(*part); len(p.whole) == len(s) && len(p.offset) == len(s) {
			return p.whole, p.offset
		}
	}
	return s, make(tf.Shape, len(s))
}
