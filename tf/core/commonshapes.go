package core

// UnchangedShape gives every output the shape of input 0.
func UnchangedShape(c *Infer) error {
	for i := range c.NumOut() {
		c.Set(i, c.In(0))
	}
	return nil
}

// ScalarShape makes every output a scalar.
func ScalarShape(c *Infer) error {
	for i := range c.NumOut() {
		c.Set(i, Shape{})
	}
	return nil
}

// MergedShape gives output 0 the shape that all inputs have.
func MergedShape(c *Infer) error {
	s := c.In(0)
	for i := 1; i < c.NumIn(); i++ {
		m, ok := s.Merge(c.In(i))
		if !ok {
			return Errorf(InvalidArgument, "Shapes must be equal: inputs have shapes %v and %v", s, c.In(i))
		}
		s = m
	}
	c.Set(0, s)
	return nil
}

// BroadcastShape gives output 0 the shape of inputs 0 and 1 combined.
func BroadcastShape(c *Infer) error {
	s, ok := BroadcastShapes(c.In(0), c.In(1))
	if !ok {
		return Errorf(InvalidArgument, "Dimensions must be equal or 1: shapes %v and %v do not fit together", c.In(0), c.In(1))
	}
	c.Set(0, s)
	return nil
}
