package layers

import (
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/ops"
)

// PoolOpts are what may be chosen for a pooling.
type PoolOpts struct {
	ChannelsFirst bool // images are [n channels height width]
	Name          string
}

// MaxPool1D returns the maxima of windows that move by strides over lines x
// [n width channels]; padding is VALID or SAME.
func MaxPool1D[W, S Size](x tf.Output, window W, strides S, padding string, o ...PoolOpts) tf.Output {
	return pool(x, "max_pooling1d", poolArea(1, window, strides, padding, o), maxima, o)
}

// MaxPool2D is MaxPool1D over images [n height width channels].
func MaxPool2D[W, S Size](x tf.Output, window W, strides S, padding string, o ...PoolOpts) tf.Output {
	return pool(x, "max_pooling2d", poolArea(2, window, strides, padding, o), maxima, o)
}

// MaxPool3D is MaxPool1D over volumes [n depth height width channels].
func MaxPool3D[W, S Size](x tf.Output, window W, strides S, padding string, o ...PoolOpts) tf.Output {
	return pool(x, "max_pooling3d", poolArea(3, window, strides, padding, o), maxima, o)
}

// AvgPool1D returns the averages of windows, as MaxPool1D their maxima.
func AvgPool1D[W, S Size](x tf.Output, window W, strides S, padding string, o ...PoolOpts) tf.Output {
	return pool(x, "average_pooling1d", poolArea(1, window, strides, padding, o), averages, o)
}

// AvgPool2D is AvgPool1D over images.
func AvgPool2D[W, S Size](x tf.Output, window W, strides S, padding string, o ...PoolOpts) tf.Output {
	return pool(x, "average_pooling2d", poolArea(2, window, strides, padding, o), averages, o)
}

// AvgPool3D is AvgPool1D over volumes.
func AvgPool3D[W, S Size](x tf.Output, window W, strides S, padding string, o ...PoolOpts) tf.Output {
	return pool(x, "average_pooling3d", poolArea(3, window, strides, padding, o), averages, o)
}

func poolArea[W, S Size](rank int, window W, strides S, padding string, o []PoolOpts) area {
	return area{
		rank: rank, size: extents(window, rank), strides: extents(strides, rank), dilation: spread(nil, rank),
		padding: paddingOf(padding, "VALID", "SAME"), channelsFirst: len(o) > 0 && o[0].ChannelsFirst,
	}
}

// A pooling is the operation on images and the one on volumes.
type pooling [2]func(x tf.Output, ksize, strides []int, padding string, opts ...tf.Option) tf.Output

var (
	maxima   = pooling{ops.MaxPool, ops.MaxPool3D}
	averages = pooling{ops.AvgPool, ops.AvgPool3D}
)

func pool(x tf.Output, kind string, a area, p pooling, o []PoolOpts) (y tf.Output) {
	if x.Err() != nil {
		return poisoned(x, kind)
	}
	err := a.check()
	if s := x.Shape(); err == nil && len(s) != a.rank+2 {
		err = tf.Errorf(tf.InvalidArgument, "%s needs an input of rank %d, %s, got %v", kind, a.rank+2, a.layout(), s)
	}
	if err == nil {
		err = a.fits(x.Shape())
	}
	if err != nil {
		return refuse(x, kind, err)
	}
	if len(o) > 0 && o[0].Name != "" {
		kind = o[0].Name
	}
	x.Graph().Scope(kind, func() { y = a.pool(x, p) })
	return y
}

func (a *area) pool(x tf.Output, p pooling) tf.Output {
	switch a.rank {
	case 1:
		flat := a.flat()
		return a.onLines(x, func(x tf.Output) tf.Output { return flat.pool(x, p) })
	case 2:
		return p[0](x, a.full(a.size), a.full(a.strides), a.padding, a.window())
	}
	return p[1](x, a.full(a.size), a.full(a.strides), a.padding, a.window())
}
