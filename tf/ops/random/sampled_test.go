package random_test

import (
	"math"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
)

// seeds are the attributes of an op with state.
func seeds(more ...tf.Option) []tf.Option {
	return append(more, tf.Attr("seed", 1), tf.Attr("seed2", 3))
}

func init() {
	inf := float32(math.Inf(1))
	logits := mat[float32](5, 0, 1, 2, -1, 0.5, 3, 0, 0, -inf, 1)
	n := scalar[int32](11)
	multinomial, stateless := nary("Multinomial", seeds()...), nary("StatelessMultinomial")
	narrow := tf.Attr("output_dtype", tf.Int32)
	addSamples(
		sample{Op: "Multinomial", In: []*core.Tensor{logits, n}, F: multinomial},
		sample{Op: "Multinomial", Name: "int32", In: []*core.Tensor{logits, n}, F: nary("Multinomial", seeds(narrow)...), Types: onlyOwn},
		sample{Op: "Multinomial", Name: "none", In: []*core.Tensor{logits, scalar[int32](0)}, F: multinomial, Types: onlyOwn},
		failing("Multinomial", "vector", multinomial, vec[float32](1, 2), n),
		failing("Multinomial", "negative", multinomial, logits, scalar[int32](-1)),
		failing("Multinomial", "classes", multinomial, mat[float32](1, 1, 2), i32(1, 2)),
		sample{Op: "StatelessMultinomial", In: []*core.Tensor{logits, n, seed}, F: stateless},
		sample{Op: "StatelessMultinomial", Name: "int32", In: []*core.Tensor{logits, n, i32(1, 2)}, F: nary("StatelessMultinomial", narrow), Types: onlyOwn},
		failing("StatelessMultinomial", "seed", stateless, logits, n, vec[int64](1)),
	)
	addGammaSamples()
	addPoissonSamples()
	addCropSamples()
}

// libm is the tolerance for results of the C library's last bits.
const libm = 1e-5

func addGammaSamples() {
	alpha := vec[float32](0.5, 1, 3)
	const redrawn = "every evaluation draws other numbers"
	addSamples(
		sample{Op: "RandomGamma", In: []*core.Tensor{i32(5), alpha}, F: nary("RandomGamma", seeds()...), Types: onlyOwn, Tol: libm, Rough: redrawn},
		sample{Op: "RandomGamma", Name: "float64", In: []*core.Tensor{i32(5), vec(0.5, 1, 3)}, F: nary("RandomGamma", seeds()...), Types: onlyOwn, Rough: redrawn},
		sample{Op: "StatelessRandomGammaV2", In: []*core.Tensor{i32(5, 3), seed, alpha}, F: nary("StatelessRandomGammaV2"), Types: onlyOwn, Tol: libm},
		sample{Op: "StatelessRandomGammaV3", In: append(append([]*core.Tensor{i32(5, 3)}, key()...), alpha), F: nary("StatelessRandomGammaV3"), Types: onlyOwn, Tol: libm},
		sample{Op: "RandomGamma", Name: "no alpha", In: []*core.Tensor{i32(5), vec[float32]()}, F: nary("RandomGamma", seeds()...), Types: onlyOwn, Rough: redrawn},
		sample{Op: "StatelessRandomGammaV2", Name: "no alpha", In: []*core.Tensor{i32(2, 0), seed, vec[float32]()}, F: nary("StatelessRandomGammaV2"), Types: onlyOwn},
		failing("StatelessRandomGammaV2", "end", nary("StatelessRandomGammaV2"), i32(5, 2), seed, alpha),
		failing("RandomGamma", "negative", nary("RandomGamma", seeds()...), i32(-5), alpha),
	)
}

func addPoissonSamples() {
	rate := vec[float32](0.5, 3, 30, 0)
	wide, single := tf.Attr("dtype", tf.Int64), tf.Attr("dtype", tf.Float32)
	unbounded := vec(2, float32(math.Inf(1)))
	addSamples(
		sample{Op: "RandomPoisson", In: []*core.Tensor{i32(7), rate}, F: nary("RandomPoisson", seeds()...), Types: onlyOwn, NoGolden: "TensorFlow takes it from graphs before version 25 only"},
		sample{Op: "RandomPoissonV2", In: []*core.Tensor{i32(7), rate}, F: nary("RandomPoissonV2", seeds(wide)...), Types: onlyOwn},
		sample{Op: "RandomPoissonV2", Name: "float32", In: []*core.Tensor{i32(7), rate}, F: nary("RandomPoissonV2", seeds(single)...), Types: onlyOwn},
		sample{Op: "StatelessRandomPoisson", In: []*core.Tensor{i32(5, 4), seed, rate}, F: nary("StatelessRandomPoisson", wide), Types: onlyOwn},
		sample{Op: "RandomPoissonV2", Name: "no rate", In: []*core.Tensor{i32(7), vec[float32]()}, F: nary("RandomPoissonV2", seeds(wide)...), Types: onlyOwn},
		sample{Op: "RandomPoissonV2", Name: "unbounded", In: []*core.Tensor{i32(2), unbounded}, F: nary("RandomPoissonV2", seeds(single)...), Types: onlyOwn},
		sample{Op: "StatelessRandomPoisson", Name: "unbounded integers", In: []*core.Tensor{i32(2, 2), seed, unbounded}, F: nary("StatelessRandomPoisson", wide), Types: onlyOwn},
		failing("StatelessRandomPoisson", "end", nary("StatelessRandomPoisson", wide), i32(5, 2), seed, rate),
	)
}

func addCropSamples() {
	const old = "TensorFlow takes it from graphs before version 8 only"
	crop := nary("RandomCrop", seeds()...)
	image := numbered(9, 7, 2)
	addSamples(
		sample{Op: "RandomCrop", In: []*core.Tensor{image, vec[int64](3, 2)}, F: crop, NoGolden: old},
		sample{Op: "RandomCrop", Name: "whole", In: []*core.Tensor{image, vec[int64](9, 7)}, F: crop, Types: onlyOwn, NoGolden: old},
		sample{Op: "RandomCrop", Name: "nothing", In: []*core.Tensor{image, vec[int64](0, 2)}, F: crop, Types: onlyOwn, NoGolden: old},
		sample{Op: "RandomCrop", Name: "too large", In: []*core.Tensor{image, vec[int64](10, 2)}, F: crop, Fails: true, NoGolden: old},
	)
}
