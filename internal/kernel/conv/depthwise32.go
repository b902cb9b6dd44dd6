package conv

import (
	"sync"

	"github.com/gorge-tf/gorge/internal/kernel"
)

// narrowChannels is how many channels a pixel must have for vectors to go over them:
// of fewer, pixels side by side fill vectors better, where those lie side by side.
const narrowChannels = 16

// beside says that pixels side by side fill vectors better than channels.
func (v *Depthwise) beside() bool { return v.C < narrowChannels && v.Stride[2] == 1 }

// vectors returns the operands of a convolution for which the loops of this file serve.
func vectors[T any](v *Depthwise, a, b, c []T) (x, y, z []float32, ok bool) {
	if x, ok = kernel.AsFloat32(a); !ok || simd.depthwiseSums == nil || v.C == 1 && v.Stride[2] != 1 {
		return nil, nil, nil, false
	}
	y, _ = kernel.AsFloat32(b)
	z, _ = kernel.AsFloat32(c)
	return x, y, z, len(x) > 0 && len(y) > 0 && len(z) > 0
}

// A column is a tap within its row of the filter: it meets pixel at of the source
// where the first pixel of a track is computed.
type column struct{ kw, at int }

// A track is every step-th pixel of a line from first on, count of them. Where the
// track goes on by one, the source goes on by from. All columns are within the
// source for pixels [lo, hi) of the track.
type track struct {
	first, step, count, from int
	columns                  []column
	lo, hi                   int
}

// within sets the range for a source of so many pixels.
func (t *track) within(width int) {
	t.lo, t.hi = 0, t.count
	for _, c := range t.columns {
		lo, hi := t.meets(c, width)
		t.lo, t.hi = max(t.lo, lo), min(t.hi, hi)
	}
	t.hi = max(t.lo, t.hi)
}

// meets returns the pixels [lo, hi) of the track for which a column is within the source.
func (t *track) meets(c column, width int) (lo, hi int) {
	lo = kernel.CeilDiv(max(0, -c.at), t.from)
	hi = min(t.count, kernel.CeilDiv(max(0, width-c.at), t.from))
	return min(lo, t.count), hi
}

// forwardTrack is the one track of a line of results; the source is the images.
func (v *Depthwise) forwardTrack() track {
	t := track{step: 1, count: v.Out[2], from: v.Stride[2]}
	for kw := range v.Kernel[2] {
		t.columns = append(t.columns, column{kw, kw*v.Dilation[2] - v.Pad[2]})
	}
	t.within(v.In[2])
	return t
}

// backTracks are those of a line of the images' gradient: the windows that cover
// pixels a stride apart cover them by the same taps. The source is the gradient of
// the results.
func (v *Depthwise) backTracks() []track {
	stride := v.Stride[2]
	all := make([]track, min(stride, v.In[2]))
	for r := range all {
		t := &all[r]
		*t = track{first: r, step: stride, count: kernel.CeilDiv(v.In[2]-r, stride), from: 1}
		for kw := range v.Kernel[2] {
			if at := r + v.Pad[2] - kw*v.Dilation[2]; at%stride == 0 {
				t.columns = append(t.columns, column{kw, at / stride})
			}
		}
		t.within(v.Out[2])
	}
	return all
}

// A filterRow is a row of the filter, by its first tap, that meets a line of the source.
type filterRow struct{ tap, line int }

// eachBackRow calls f for the rows of the filter by which windows cover line i of
// the images, with the line of those windows.
func (v *Depthwise) eachBackRow(i int, f func(tap, out int)) {
	line := i % v.LinesIn()
	n, d, h := i/v.LinesIn(), line/v.In[1], line%v.In[1]
	for kd := range v.Kernel[0] {
		od, inside := v.From(0, d, kd)
		if !inside {
			continue
		}
		for kh := range v.Kernel[1] {
			if oh, inside := v.From(1, h, kh); inside {
				f((kd*v.Kernel[1]+kh)*v.Kernel[2], (n*v.Out[0]+od)*v.Out[1]+oh)
			}
		}
	}
}

// tapSums computes lines of pixels as sums over taps of the source's pixels times
// the filter's.
type tapSums struct {
	channels, width int // of the source
	src, filter     []float32
	wide            int       // elements of pixels side by side that are taken as channels of one, or 0
	repeated        []float32 // the filter, as often as these have pixels
	rows            []filterRow
	taps            []int // pairs of offsets in the source and in the filter
	steps           tileSteps
}

// line computes a line by its tracks.
func (s *tapSums) line(dst []float32, tracks []track) {
	for i := range tracks {
		t := &tracks[i]
		for k := range t.lo {
			s.edge(dst, t, k)
		}
		s.inner(dst, t)
		for k := t.hi; k < t.count; k++ {
			s.edge(dst, t, k)
		}
	}
}

// edge computes pixel k of a track, which some columns may miss.
func (s *tapSums) edge(dst []float32, t *track, k int) {
	s.taps = s.taps[:0]
	for _, c := range t.columns {
		if at := c.at + k*t.from; at >= 0 && at < s.width {
			s.add(c.kw, at, s.channels)
		}
	}
	s.run(dst, t, k, 1)
}

// inner computes the pixels of a track that all columns meet.
func (s *tapSums) inner(dst []float32, t *track) {
	if t.lo == t.hi {
		return
	}
	s.taps = s.taps[:0]
	for _, c := range t.columns {
		s.add(c.kw, c.at+t.lo*t.from, max(s.wide, s.channels))
	}
	if s.wide > 0 {
		s.runWide(dst[(t.first+t.lo)*s.channels : (t.first+t.hi)*s.channels])
		return
	}
	s.run(dst, t, t.lo, t.hi-t.lo)
}

// add adds the taps of a column that meets a pixel, which has so many elements in the filter.
func (s *tapSums) add(kw, at, inFilter int) {
	for _, r := range s.rows {
		s.taps = append(s.taps, (r.line*s.width+at)*s.channels, (r.tap+kw)*inFilter)
	}
}

// runWide computes pixels of a track that goes on by one, as does its source, by the taps.
func (s *tapSums) runWide(y []float32) {
	taps := len(s.taps) / 2
	if taps == 0 {
		clear(y)
		return
	}
	some := max(1, kernel.VectorChunk/(s.wide*taps))
	for at := 0; at < len(y); {
		channels, count := s.wide, min(some, (len(y)-at)/s.wide)
		if count == 0 {
			channels, count = len(y)-at, 1
		}
		simd.depthwiseSums(&y[at], &s.src[at], &s.repeated[0], &s.taps[0], taps, channels, count, 4*channels, 4*channels)
		at += channels * count
	}
}

// widen takes pixels side by side as one where they have few channels: of whole vectors, and so
// many that several sums are under way, as far as the filter stays in the second-level cache.
func (s *tapSums) widen(v *Depthwise, filter []float32) {
	const vector, several, near = 16, 64, 32 << 10
	if !v.beside() {
		return
	}
	for s.wide = v.C; s.wide%vector != 0; {
		s.wide += v.C
	}
	if more := s.wide * kernel.CeilDiv(several, s.wide); more*v.Taps() <= near {
		s.wide = more
	}
	s.repeated = repeated(v, filter, s.wide/v.C)
}

// run computes n pixels of a track from k on by the taps, in calls of bounded length.
func (s *tapSums) run(dst []float32, t *track, k, n int) {
	c, taps := s.channels, len(s.taps)/2
	some := max(1, kernel.VectorChunk/(c*max(1, taps)))
	for moved := 0; n > 0; k, n, moved = k+some, n-some, moved+some {
		y := dst[(t.first+k*t.step)*c:]
		if taps == 0 {
			for j := range min(n, some) {
				clear(y[j*t.step*c:][:c])
			}
			continue
		}
		simd.depthwiseSums(&y[0], &s.src[moved*t.from*c], &s.filter[0], &s.taps[0], taps, c, min(n, some), 4*t.from*c, 4*t.step*c)
	}
}

// A lineSum computes lines of pixels of width by their tracks, and by tiles where it has these.
type lineSum struct {
	width  int
	tracks []track
	tiles  *depthwiseTiles
	// rows calls f for the rows of the filter that meet line i.
	rows func(i int, f func(tap, line int))
}

// sumTaps computes lines of dst.
func (v *Depthwise) sumTaps(par kernel.Par, dst []float32, lines int, l lineSum, s tapSums) {
	par(lines, v.lineGrain(), func(lo, hi int) {
		lists := tapLists.Get().(*tapSums)
		defer tapLists.Put(lists)
		sums := *lists
		sums.channels, sums.width, sums.src, sums.filter, sums.wide, sums.repeated = s.channels, s.width, s.src, s.filter, s.wide, s.repeated
		add := func(tap, line int) { sums.rows = append(sums.rows, filterRow{tap, line}) }
		trace := func(i int, tracks []track) {
			sums.rows = sums.rows[:0]
			l.rows(i, add)
			sums.line(dst[i*l.width*v.C:(i+1)*l.width*v.C], tracks)
		}
		for i := lo; i < hi; i++ {
			first, unit, ok := l.tiles.place(i, lo, hi)
			if !ok {
				trace(i, l.tracks)
				continue
			}
			sums.tile(dst, l.tiles, first, unit)
			if i = first + 1; len(l.tiles.rest) > 0 {
				trace(first, l.tiles.rest)
				trace(first+1, l.tiles.rest)
			}
		}
		lists.rows, lists.taps = sums.rows, sums.taps
	})
}

// tapLists has the lists of sums that have been computed.
var tapLists = sync.Pool{New: func() any { return new(tapSums) }}

// checkBounds panics if results, images or the filter are shorter than v says: the
// assembly checks no bounds.
func (v *Depthwise) checkBounds(results, images, filter []float32) {
	_, _, _ = results[v.Batch*v.LinesOut()*v.Out[2]*v.C-1], images[v.Batch*v.LinesIn()*v.In[2]*v.C-1], filter[v.Taps()*v.C-1]
}

func (v *Depthwise) convolve32(par kernel.Par, y, x, w []float32) {
	v.checkBounds(y, x, w)
	l := lineSum{width: v.Out[2], tracks: []track{v.forwardTrack()}, rows: v.eachRow}
	l.tiles = v.forwardTiles(l.tracks)
	s := tapSums{channels: v.C, width: v.In[2], src: x, filter: w}
	s.widen(v, w)
	v.sumTaps(par, y, v.Batch*v.LinesOut(), l, s)
}

func (v *Depthwise) backInput32(par kernel.Par, dx, dy, w []float32) {
	v.checkBounds(dy, dx, w)
	l := lineSum{width: v.In[2], tracks: v.backTracks(), rows: v.eachBackRow}
	l.tiles = v.backTiles(l.tracks)
	s := tapSums{channels: v.C, width: v.Out[2], src: dy, filter: w}
	s.widen(v, w)
	v.sumTaps(par, dx, v.Batch*v.LinesIn(), l, s)
}
