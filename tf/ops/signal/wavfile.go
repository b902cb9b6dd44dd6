package signal

import (
	"math"
	"slices"

	"github.com/gorge-tf/gorge/tf"
)

// wav is what a WAV file of 16 bits holds.
type wav struct {
	channels int
	rate     uint32
	samples  string // two bytes each
}

// A wavReader takes the parts of a file. It keeps the first error, after which
// everything is empty.
type wavReader struct {
	data string
	at   int
	err  error
}

func (r *wavReader) fail(format string, args ...any) {
	if r.err == nil {
		r.err = tf.Errorf(tf.InvalidArgument, format, args...)
	}
}

// text returns the next n bytes.
func (r *wavReader) text(n int) string {
	switch {
	case r.err != nil:
	case r.at > len(r.data):
		r.fail("Initial offset is outside data range: %d", r.at)
	case n > len(r.data)-r.at:
		r.fail("Data too short when trying to read string")
	default:
		r.at += n
		return r.data[r.at-n : r.at]
	}
	return ""
}

// number returns the next n bytes as a number.
func (r *wavReader) number(n int) (v uint32) {
	for i, b := range []byte(r.text(n)) {
		v |= uint32(b) << (8 * i)
	}
	return v
}

func (r *wavReader) expect(want string) {
	if got := r.text(len(want)); r.err == nil && got != want {
		r.fail("Header mismatch: Expected %s but found %s", want, got)
	}
}

// ignored are the parts that may be before the format.
var ignored = []string{"JUNK", "bext", "iXML", "qlty", "mext", "levl", "link", "axml"}

func readWav(data string) (*wav, error) {
	r, w := &wavReader{data: data}, &wav{}
	r.expect("RIFF")
	r.number(4)
	r.expect("WAVE")
	for name := r.text(4); r.err == nil && name != "fmt "; name = r.text(4) {
		if !slices.Contains(ignored, name) {
			r.fail("Unexpected field %s", name)
		}
		r.text(int(r.number(4)))
	}
	r.format(w)
	r.parts(w)
	return w, r.err
}

// format reads how samples are written.
func (r *wavReader) format(w *wav) {
	size := r.number(4)
	if r.err == nil && size != 16 && size != 18 {
		r.fail("Bad format chunk size for WAV: Expected 16 or 18, but got%d", size)
	}
	if code := r.number(2); r.err == nil && code != 1 {
		r.fail("Bad audio format for WAV: Expected 1 (PCM), but got%d", code)
	}
	if w.channels = int(r.number(2)); r.err == nil && w.channels < 1 {
		r.fail("Bad number of channels for WAV: Expected at least 1, but got %d", w.channels)
	}
	w.rate = r.number(4)
	perSecond, perFrame, bits := r.number(4), r.number(2), r.number(2)
	if r.err != nil {
		return
	}
	frame := uint32(sampleSize * w.channels)
	switch {
	case bits != 8*sampleSize:
		r.fail("Can only read 16-bit WAV files, but received %d", bits)
	case perFrame != frame:
		r.fail("Bad bytes per sample in WAV header: Expected %d but got %d", frame, perFrame)
	case uint64(perSecond) != uint64(perFrame)*uint64(w.rate):
		r.fail("Bad bytes per second in WAV header: Expected %d but got %d (sample_rate=%d, bytes_per_sample=%d)", uint64(perFrame)*uint64(w.rate), perSecond, w.rate, perFrame)
	case size == 18:
		r.at += 2
	}
}

// parts finds the samples among what comes behind the format.
func (r *wavReader) parts(w *wav) {
	found := false
	for r.err == nil && r.at < len(r.data) {
		name, size := r.text(4), r.number(4)
		switch {
		case r.err != nil:
		case size > math.MaxInt32:
			r.fail("WAV data chunk '%s' is too large: %d bytes, but the limit is %d", name, size, math.MaxInt32)
		case name != "data":
			r.at += int(size)
		case found:
			r.fail("More than one data chunk found in WAV")
		default:
			found = true
			frame := sampleSize * w.channels
			w.samples = r.text(int(size) / frame * frame)
		}
	}
	if !found {
		r.fail("No data chunk found in WAV")
	}
}
