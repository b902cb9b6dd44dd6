package dataset

// When returns input, whose iterators begin only if check finds nothing wrong.
func When(input Dataset, check func() error) Dataset { return &checked{like(input), check} }

type checked struct {
	derived
	check func() error
}

func (d *checked) Iterate() (Iterator, error) {
	if err := d.check(); err != nil {
		return nil, err
	}
	return d.input.Iterate()
}
