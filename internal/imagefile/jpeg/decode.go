package jpeg

import "math"

// maxSamples bounds the size of images, as in TensorFlow.
const maxSamples = 1 << 29

// Options say how a file is decoded.
type Options struct {
	Channels int     // of the image: 1 or 3; 0 for as many as the file has
	Ratio    int     // makes the image smaller: 1, 2, 4 or 8
	Fancy    bool    // chroma that was sampled coarsely is interpolated
	Accurate bool    // the accurate transform, not the fast one
	Recover  bool    // of a file that ends early the last row is repeated
	Fraction float32 // of the rows that a file must have; others are black
	Crop     *Window // the part that is asked for; nil for the whole image
}

// A Window is a part of an image.
type Window struct{ Y, X, Height, Width int }

// A Decoder decodes a file.
type Decoder struct {
	Height, Width, Channels int // of the image that Decode gives

	frame
	options Options
	colors  colors
	window  Window // of the output that is computed: more columns than asked for
	left    int    // columns before those asked for
}

// Size returns the height, width and channels of the image in a file.
func Size(data string) (height, width, channels int, err error) {
	f := &frame{file: file{source: source{data: data}}}
	if err := f.readHeader(); err != nil {
		return 0, 0, 0, err
	}
	channels = len(f.components)
	return f.height, f.width, channels, nil
}

// NewDecoder reads the header of a file and checks that it can be decoded as
// asked for.
func NewDecoder(data string, o Options) (*Decoder, error) {
	d := &Decoder{options: o, frame: frame{file: file{source: source{data: data, mend: o.Recover}}}}
	if err := d.readHeader(); err != nil {
		return nil, err
	}
	d.accurate = o.Accurate
	d.layOut(o.Ratio)
	if d.Channels = o.Channels; d.Channels == 0 {
		d.Channels = min(len(d.components), 3)
	}
	if int64(d.outWidth)*int64(d.outHeight)*int64(len(d.components)) >= maxSamples {
		return nil, errInvalid
	}
	if err := d.chooseColors(); err != nil {
		return nil, err
	}
	return d, d.crop()
}

// crop checks the window and finds what has to be computed for it: whole MCUs
// to its left.
func (d *Decoder) crop() error {
	d.window = Window{0, 0, d.outHeight, d.outWidth}
	if w := d.options.Crop; w != nil {
		if w.Width <= 0 || w.Height <= 0 || w.X < 0 || w.Y < 0 || w.Height > d.outHeight-w.Y || w.Width > d.outWidth-w.X {
			return errInvalid
		}
		d.window = *w
		align := d.size * d.maxH
		if len(d.components) == 1 {
			align = d.size
		}
		d.left = w.X % align
		d.window.X -= d.left
		d.window.Width += d.left
	}
	d.Height, d.Width = d.window.Height, d.window.Width-d.left
	return nil
}

// Decode computes the image: Height rows of Width pixels of Channels bytes.
func (d *Decoder) Decode(dst []byte) error {
	d.allocate()
	defer d.free()
	read, err := d.readScans()
	if err != nil {
		return err
	}
	line := d.Width * d.Channels
	rows := max(0, min(read-d.window.Y, d.Height))
	if rows < d.Height {
		if d.options.Crop != nil && read < d.window.Y {
			return errInvalid
		}
		if float32(rows)/float32(d.Height) < min(1, d.options.Fraction) || math.IsNaN(float64(d.options.Fraction)) {
			return errInvalid
		}
	}
	p := newPainter(d)
	for y := range rows {
		p.row(dst[y*line:][:line], d.window.Y+y)
	}
	clear(dst[rows*line:])
	return nil
}

// readScans reads all there is and returns how many rows of the output can be
// computed.
func (d *Decoder) readScans() (int, error) {
	if d.multi {
		return d.outHeight, d.readMany()
	}
	e, err := d.prepare()
	if err != nil {
		return 0, err
	}
	mcus, last := 0, d.window.Y+d.window.Height
	err = e.decode(func() bool { mcus++; return last < d.outHeight && d.rowsOf(mcus) >= last })
	if mcus < e.rows || err == errEnded {
		if err == errEnded {
			err = nil
		}
		return d.rowsOf(mcus), err
	}
	if err != nil {
		return 0, err
	}
	if end, err := d.readMarkers(); err != nil && err != errEnded || err == nil && !end {
		return 0, errInvalid
	}
	return d.outHeight, nil
}

// rowsOf returns how many rows can be computed of rows of MCUs: those that need
// the next ones to interpolate chroma cannot.
func (d *Decoder) rowsOf(mcus int) int {
	if len(d.components) == 1 {
		mcus /= d.maxV // of which this scan has a block each
	}
	rows := mcus * d.maxV * d.size
	if rows > 0 && d.needsNext() {
		rows -= d.maxV
	}
	return min(rows, d.outHeight)
}

// needsNext reports whether some component is interpolated between rows.
func (d *Decoder) needsNext() bool {
	for i := range d.components {
		if c := &d.components[i]; c.needed && d.smooth(c) && 2*c.v*c.size == d.maxV*d.size {
			return true
		}
	}
	return false
}

// readMany reads the scans of an image that has more than one, and transforms
// its blocks at the end.
func (d *Decoder) readMany() error {
	for range maxScans {
		e, err := d.prepare()
		if err == nil {
			err = e.decode(func() bool { return false })
		}
		if err != nil {
			return errInvalid
		}
		end, err := d.readMarkers()
		if err != nil {
			return errInvalid
		}
		if end {
			d.transformAll()
			return nil
		}
	}
	return errInvalid
}

// transformAll transforms the blocks of all components that are needed.
func (d *Decoder) transformAll() {
	for i := range d.components {
		c := &d.components[i]
		if !c.needed {
			continue
		}
		if c.quant == nil {
			c.quant = &[64]uint16{} // no scan had it
		}
		for y := range c.rows {
			for x := range c.columns {
				d.transform((*[64]int16)(c.coefficients[(y*c.stride+x)*64:]), c, x, y)
			}
		}
		c.coefficients = nil
	}
}
