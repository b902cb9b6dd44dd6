package ops

import "github.com/gorge-tf/gorge/tf"

// sameShape gives every output the shape of input 0.
func sameShape(c *tf.Infer) error {
	for i := range c.NumOut() {
		c.Set(i, c.In(0))
	}
	return nil
}

// scalarShape makes every output a scalar.
func scalarShape(c *tf.Infer) error {
	for i := range c.NumOut() {
		c.Set(i, tf.Shape{})
	}
	return nil
}

// mergedShape gives output 0 the shape that all inputs have.
func mergedShape(c *tf.Infer) error {
	s := c.In(0)
	for i := 1; i < c.NumIn(); i++ {
		m, ok := s.Merge(c.In(i))
		if !ok {
			return tf.Errorf(tf.InvalidArgument, "Shapes must be equal: inputs have shapes %v and %v", s, c.In(i))
		}
		s = m
	}
	c.Set(0, s)
	return nil
}

// broadcastShape gives output 0 the shape of inputs 0 and 1 combined.
func broadcastShape(c *tf.Infer) error {
	s, ok := tf.BroadcastShapes(c.In(0), c.In(1))
	if !ok {
		return tf.Errorf(tf.InvalidArgument, "Dimensions must be equal or 1: shapes %v and %v do not fit together", c.In(0), c.In(1))
	}
	c.Set(0, s)
	return nil
}
