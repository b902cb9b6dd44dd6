package image

import (
	"github.com/gorge-tf/gorge/internal/imagefile"
	"github.com/gorge-tf/gorge/internal/imagefile/jpeg"
	"github.com/gorge-tf/gorge/internal/kernel/elementwise"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
)

func (d *decoding) decodeJPEG(c *core.OpContext, data string) error {
	if d.channels == 4 {
		return invalid("JPEG does not support 4 channels")
	}
	o := d.jpeg
	o.Channels = d.channels
	switch d.op {
	case "DecodeAndCropJpeg":
		w, err := cropWindow(c.Input(1))
		if err != nil {
			return err
		}
		o.Crop = w
	case "DecodeBmp":
		return d.refuse("JPEG", "decode_jpeg")
	}
	file, err := jpeg.NewDecoder(data, o)
	if err != nil {
		return errJPEG
	}
	pix, store, err := d.into(c, d.shape(file.Height, file.Width, file.Channels))
	if err != nil {
		return err
	}
	if file.Decode(pix) != nil {
		return errJPEG
	}
	store()
	return nil
}

var errJPEG = invalid("jpeg::Uncompress failed. Invalid JPEG data or crop window.")

// cropWindow reads y, x, height and width.
func cropWindow(t *core.Tensor) (*jpeg.Window, error) {
	switch {
	case t.Rank() != 1:
		return nil, invalid("crop_window must be 1-D, got shape %s", t.Shape().String())
	case t.Len() != 4:
		return nil, invalid("crop_size must have four elements %s", t.Shape().String())
	}
	v := core.Data[int32](t)
	return &jpeg.Window{Y: int(v[0]), X: int(v[1]), Height: int(v[2]), Width: int(v[3])}, nil
}

func (d *decoding) decodePNG(c *core.OpContext, data string) error {
	f, err := imagefile.ReadPNG(data)
	if err != nil {
		return invalid("Invalid PNG. Failed to initialize decoder.")
	}
	if f.Width*f.Height >= 1<<29 {
		return invalid("PNG size too large for int: %d by %d", f.Width, f.Height)
	}
	if err := d.refuse("PNG", "decode_png"); err != nil {
		return err
	}
	if !f.Plausible() {
		return badPNG(data)
	}
	channels := d.channels
	if channels == 0 {
		channels = f.Channels()
	}
	out, err := c.Alloc(0, d.dtype, d.shape(f.Height, f.Width, channels))
	if err != nil {
		return err
	}
	switch d.dtype {
	case tf.Uint8:
		err = imagefile.DecodePNG(f, core.Data[uint8](out), channels)
	case tf.Uint16:
		err = imagefile.DecodePNG(f, core.Data[uint16](out), channels)
	default:
		deep := core.Borrow[uint16](c, out.Len())
		err = imagefile.DecodePNG(f, deep, channels)
		elementwise.Cast(core.Data[float32](out), deep)
		scale(core.Data[float32](out), 1./65535)
	}
	if err != nil {
		return badPNG(data)
	}
	return nil
}

func badPNG(data string) error { return invalid("Invalid PNG data, size %d", len(data)) }

func (d *decoding) decodeGIF(c *core.OpContext, data string) error {
	if d.channels != 0 && d.channels != 3 {
		return invalid("channels must be 0 or 3 for GIF, got %d", d.channels)
	}
	if err := d.refuse("GIF", "decode_gif"); err != nil {
		return err
	}
	f, err := imagefile.ReadGIF(data)
	if err != nil {
		return badGIF(data, err)
	}
	s, err := d.framesOf(f)
	if err != nil {
		return err
	}
	pix, store, err := d.into(c, s)
	if err != nil {
		return err
	}
	if err := f.Decode(pix); err != nil {
		return badGIF(data, err)
	}
	store()
	return nil
}

func badGIF(data string, err error) error {
	return invalid("Invalid GIF data (size %d), %v", len(data), err)
}

// framesOf returns the shape of what the op makes of a GIF file.
func (d *decoding) framesOf(f *imagefile.GIFFile) (tf.Shape, error) {
	s := tf.Shape{f.Frames, f.Height, f.Width, 3}
	switch d.op {
	case "DecodeGif":
		return s, nil
	case "DecodeImage":
		if d.still {
			return s[1:], nil
		}
		return s, nil
	case "DecodePng", "DecodeJpeg":
		if f.Frames == 1 {
			return s[1:], nil
		}
		return nil, invalid("Got %d frames, but animated gifs can only be decoded by tf.io.decode_gif or tf.io.decode_image", f.Frames)
	}
	return nil, invalid("Bad op type %s", d.op)
}

func (d *decoding) decodeBMP(c *core.OpContext, data string) error {
	if d.channels == 1 {
		return invalid("`channels` must be 0, 3 or 4 for BMP, but got %d", d.channels)
	}
	switch d.op {
	case "DecodeBmp", "DecodeImage":
	case "DecodeAndCropJpeg":
		return d.refuse("BMP", "")
	default:
		return invalid("Trying to decode BMP format using a wrong op. Use `decode_bmp` or `decode_image` instead. Op used: %s", d.op)
	}
	f, err := imagefile.ReadBMP(data)
	if err != nil {
		return invalid("%v", err)
	}
	channels := d.channels
	if channels == 0 {
		channels = f.Channels
	}
	pix, store, err := d.into(c, tf.Shape{f.Height, f.Width, channels})
	if err != nil {
		return err
	}
	f.Decode(pix, channels)
	store()
	return nil
}

func (d *decoding) decodeWebP(c *core.OpContext, data string) error {
	if d.channels == 1 {
		return invalid("WebP only supports 3 or 4 channels")
	}
	if d.dtype != tf.Uint8 {
		return invalid("WebP only supports uint8 for dtype")
	}
	f, err := imagefile.ReadWebP(data)
	if err != nil {
		return invalid("Failed to decode WebP header.")
	}
	if d.channels != 0 && d.channels != f.Channels {
		return invalid("Number of channels requested does not match input")
	}
	if f.Animated && d.channels == 3 {
		return invalid("WebP Animation must be 4 channel RGBA")
	}
	s := tf.Shape{f.Frames, f.Height, f.Width, f.Channels}
	if d.still {
		s = s[1:]
	}
	if f.Frames == 0 {
		return invalid("Failed to decode WebP Animation: failed to decode WebP Animation")
	}
	pix, store, err := d.into(c, s)
	if err != nil {
		return err
	}
	if err := f.Decode(pix); err != nil {
		return invalid("%v", err)
	}
	store()
	return nil
}
