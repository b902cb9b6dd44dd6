package train_test

import (
	"math"
	"testing"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/eager"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/train"
)

// scheduleSteps are the steps for which TensorFlow 2.21 gives the rates below.
var scheduleSteps = []int64{0, 1, 7, 10, 25, 99, 100, 101, 250, 1000}

var schedules = []struct {
	name  string
	s     train.Schedule
	rates []float32
}{
	{"exponential", train.ExponentialDecay{LearningRate: 0.1, Decay: 0.96, Steps: 10}, []float32{0.10000000149011612, 0.09959261864423752, 0.09718289971351624, 0.09600000083446503, 0.09029798954725266, 0.06675519794225693, 0.06648325175046921, 0.06621240824460983, 0.036039650440216064, 0.0016870280960574746}},
	{"exponential in stairs", train.ExponentialDecay{LearningRate: 0.1, Decay: 0.96, Steps: 10, Staircase: true}, []float32{0.10000000149011612, 0.10000000149011612, 0.10000000149011612, 0.09600000083446503, 0.09216000139713287, 0.06925338506698608, 0.06648325175046921, 0.06648325175046921, 0.036039650440216064, 0.0016870280960574746}},
	{"natural", train.NaturalExpDecay{LearningRate: 0.1, Decay: 0.5, Steps: 100}, []float32{0.10000000149011612, 0.09950124472379684, 0.09656054526567459, 0.09512294828891754, 0.08824969083070755, 0.06095709279179573, 0.060653068125247955, 0.06035056337714195, 0.02865048125386238, 0.0006737948278896511}},
	{"inverse", train.InverseTimeDecay{LearningRate: 0.1, Decay: 0.5, Steps: 10}, []float32{0.10000000149011612, 0.0952381044626236, 0.07407407462596893, 0.06666667014360428, 0.04444444552063942, 0.016806721687316895, 0.01666666753590107, 0.01652892492711544, 0.007407407741993666, 0.0019607844296842813}},
	{"line", train.PolynomialDecay{LearningRate: 0.1, End: 0.01, Steps: 100}, []float32{0.10000000149011612, 0.09910000115633011, 0.09369999915361404, 0.09099999815225601, 0.07750000059604645, 0.010900003835558891, 0.009999999776482582, 0.009999999776482582, 0.009999999776482582, 0.009999999776482582}},
	{"root in cycles", train.PolynomialDecay{LearningRate: 0.1, End: 0.01, Steps: 100, Power: 0.5, Cycle: true}, []float32{0.10000000149011612, 0.09954886883497238, 0.09679285436868668, 0.09538149833679199, 0.08794228732585907, 0.018999995663762093, 0.009999999776482582, 0.07332061231136322, 0.04674234986305237, 0.009999999776482582}},
	{"pieces", train.PiecewiseConstant{Boundaries: []int64{7, 100}, Values: []float64{1, 0.5, 0.1}}, []float32{1.0, 1.0, 1.0, 0.5, 0.5, 0.5, 0.5, 0.10000000149011612, 0.10000000149011612, 0.10000000149011612}},
	{"cosine", train.CosineDecay{LearningRate: 0.1, Alpha: 0.2, Steps: 100}, []float32{0.10000000149011612, 0.09998025745153427, 0.09903667122125626, 0.09804226458072662, 0.08828427642583847, 0.020019738003611565, 0.020000001415610313, 0.020000001415610313, 0.020000001415610313, 0.020000001415610313}},
	{"cosine restarts", train.CosineDecayRestarts{LearningRate: 0.1, Alpha: 0.2, Steps: 30, RateFactor: 0.9}, []float32{0.10000000149011612, 0.09978087991476059, 0.0897257924079895, 0.08000000566244125, 0.025358980521559715, 0.08390478044748306, 0.08369599282741547, 0.08346574753522873, 0.07441329210996628, 0.06662218272686005}},
	{"equal periods", train.CosineDecayRestarts{LearningRate: 0.1, Steps: 30, PeriodFactor: 1}, []float32{0.10000000149011612, 0.09972609579563141, 0.087157242000103, 0.07500000298023224, 0.006698724813759327, 0.07938923686742783, 0.07499998062849045, 0.07033681124448776, 0.07499991357326508, 0.07499965280294418}},
	{"linear cosine", train.LinearCosineDecay{LearningRate: 0.1, Alpha: 0.1, Beta: 0.02, Steps: 100, Periods: 1.5}, []float32{0.1120000034570694, 0.11075811833143234, 0.0941929742693901, 0.08138926327228546, 0.014447963796555996, 0.0020244091283529997, 0.0020000000949949026, 0.0020000000949949026, 0.0020000000949949026, 0.0020000000949949026}},
}

func TestSchedules(t *testing.T) {
	for _, c := range schedules {
		for i, step := range scheduleSteps {
			// TensorFlow's optimizer multiplies by reciprocals instead of dividing.
			if got := rateAt(t, c.s, step); math.Abs(float64(got-c.rates[i])) > 1e-6 {
				t.Errorf("%s: step %d has rate %v, TensorFlow's %v", c.name, step, got, c.rates[i])
			}
		}
	}
}

func rateAt(t *testing.T, s train.Schedule, step int64) float32 {
	t.Helper()
	v, err := s.At(ops.Scalar(eager.New(), step)).Value()
	if err != nil {
		t.Fatal(err)
	}
	return tf.Data[float32](v)[0]
}

// TestNoise: noise is around the line of the schedule without it, and equal
// seeds give equal noise.
func TestNoise(t *testing.T) {
	seed := int64(3)
	plain := train.LinearCosineDecay{LearningRate: 1, Steps: 1000}
	noisy := train.NoisyLinearCosineDecay{LinearCosineDecay: plain, Seed: &seed}
	line, a, b := rateAt(t, plain, 500), rateAt(t, noisy, 500), rateAt(t, noisy, 500)
	if a != b || a == line || math.Abs(float64(a-line)) > 1 {
		t.Errorf("rates with noise are %v and %v, without %v", a, b, line)
	}
}

func TestWarmUp(t *testing.T) {
	w := train.WarmUp{Steps: 10, Then: train.PolynomialDecay{LearningRate: 1, Steps: 10}}
	for step, want := range map[int64]float32{0: 0, 5: 0.5, 10: 1, 15: 0.5, 20: 0} {
		if got := rateAt(t, w, step); math.Abs(float64(got-want)) > 1e-6 {
			t.Errorf("step %d has rate %v, want %v", step, got, want)
		}
	}
}

func TestBadPieces(t *testing.T) {
	y := train.PiecewiseConstant{Boundaries: []int64{1}, Values: []float64{1}}.At(ops.Scalar(eager.New(), int64(0)))
	if tf.CodeOf(y.Err()) != tf.InvalidArgument {
		t.Errorf("one value for one boundary: %v", y.Err())
	}
}
