// Package live shows in a terminal how training goes: the curve of the loss, the rate of
// steps, and when it will be over. A [View] is told of steps; a [Hook] tells it in a
// train.MonitoredSession.
package live

import (
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/guptarohit/asciigraph"
	"golang.org/x/term"
)

// Options adjust a [View]. The zero value serves.
type Options struct {
	// LastStep is the step at which training will end; 0: it is not known.
	LastStep int64
	// Every is the least time between two pictures; 0: 200 ms.
	Every time.Duration
	// Width and Height are the size of the curve in characters; 0: 64 and 10.
	Width, Height int
}

// A View draws the picture of a training, in place of the one before. It is for one
// goroutine at a time. The terminal should get no other output until Close.
type View struct {
	out   io.Writer
	o     Options
	curve curve

	begun, drawn time.Time
	first, step  int64
	lines        int // of the picture that is in the terminal
	err          error
}

// IsTerminal reports whether what is written to w is seen in a terminal that can show a
// View.
func IsTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && os.Getenv("TERM") != "dumb" && term.IsTerminal(int(f.Fd()))
}

// New returns a view in a terminal.
func New(out io.Writer, o Options) *View {
	if o.Every <= 0 {
		o.Every = 200 * time.Millisecond
	}
	if o.Width <= 0 {
		o.Width = 64
	}
	if o.Height <= 0 {
		o.Height = 10
	}
	return &View{out: out, o: o, curve: curve{size: 4 * o.Width, each: 1}}
}

// Step notes the loss of a step, and draws if it is time. It returns the first error of
// the terminal.
func (v *View) Step(step int64, loss float64) error {
	now := time.Now()
	if v.begun.IsZero() {
		v.begun, v.first = now, step-1
	}
	v.step = step
	v.curve.add(loss)
	if now.Sub(v.drawn) >= v.o.Every {
		v.draw(now)
	}
	return v.err
}

// Close draws what came last. Output may go on below the picture.
func (v *View) Close() error {
	if !v.begun.IsZero() {
		v.draw(time.Now())
	}
	v.lines = 0
	return v.err
}

// draw replaces the picture.
func (v *View) draw(now time.Time) {
	v.drawn = now
	text := v.picture(now.Sub(v.begun))
	if v.lines > 0 { // up to where the old one begins, and all below goes
		text = fmt.Sprintf("\x1b[%dA\x1b[J%s", v.lines, text)
	}
	v.lines = strings.Count(text, "\n")
	if _, err := io.WriteString(v.out, text); v.err == nil {
		v.err = err
	}
}

// picture returns the curve and a line below it.
func (v *View) picture(took time.Duration) string {
	var b strings.Builder
	if points := v.curve.points(); len(points) > 1 {
		b.WriteString(v.plot(points))
		b.WriteByte('\n')
	}
	b.WriteString(v.status(took))
	b.WriteByte('\n')
	return b.String()
}

// largestFlat is up to which number a plot can have lines without height: it counts their
// rows from 0 on.
const largestFlat = 1e15

func (v *View) plot(points []float64) string {
	o := []asciigraph.Option{asciigraph.Width(v.o.Width), asciigraph.Height(v.o.Height), asciigraph.Precision(4)}
	if low, high := slices.Min(points), slices.Max(points); low == high && math.Abs(low) > largestFlat {
		o = append(o, asciigraph.LowerBound(low-math.Abs(low)/2), asciigraph.UpperBound(low+math.Abs(low)/2))
	}
	return asciigraph.Plot(points, o...)
}

// status says how far training is.
func (v *View) status(took time.Duration) string {
	text := fmt.Sprintf("step %d", v.step)
	if v.o.LastStep > 0 {
		text += fmt.Sprintf(" of %d", v.o.LastStep)
	}
	text += fmt.Sprintf("  loss %.4f", v.curve.last)
	done := float64(v.step - v.first)
	if took <= 0 || done <= 0 {
		return text
	}
	rate := done / took.Seconds()
	text += fmt.Sprintf("  %.1f steps/s", rate)
	if left := v.o.LastStep - v.step; left > 0 {
		eta := time.Duration(float64(left) / rate * float64(time.Second))
		text += "  " + eta.Round(time.Second).String() + " left"
	}
	return text
}

// A curve keeps at most size points of any number of values: means of groups of equal
// length, which doubles whenever there would be too many points.
type curve struct {
	size, each int
	means      []float64
	sum        float64
	n          int // values in sum
	last       float64
}

// Values beyond largest, and differences below smallest, are too much for the arithmetic
// of a plot.
const largest, smallest = 1e300, 1e-300

// plain returns x as the curve can show it.
func plain(x float64) float64 {
	if math.Abs(x) < smallest {
		return 0
	}
	return max(-largest, min(x, largest))
}

// add takes a value. What is no number is left out of the curve.
func (c *curve) add(x float64) {
	c.last = x
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return
	}
	c.sum += plain(x)
	if c.n++; c.n < c.each {
		return
	}
	c.means = append(c.means, c.sum/float64(c.n))
	c.sum, c.n = 0, 0
	if len(c.means) < c.size {
		return
	}
	for i := range len(c.means) / 2 {
		c.means[i] = (c.means[2*i] + c.means[2*i+1]) / 2
	}
	c.means = c.means[:len(c.means)/2]
	c.each *= 2
}

// points returns the means, and that of what is left over.
func (c *curve) points() []float64 {
	points := c.means[:len(c.means):len(c.means)]
	if c.n > 0 {
		points = append(points, c.sum/float64(c.n))
	}
	return points
}
