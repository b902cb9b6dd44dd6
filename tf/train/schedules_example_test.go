package train_test

import (
	"fmt"

	"github.com/gorge-tf/gorge/tf/eager"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/train"
)

// printRates prints a schedule's rates at some steps.
func printRates(s train.Schedule, steps ...int64) {
	g := eager.New()
	for _, step := range steps {
		rate, err := s.At(ops.Scalar(g, step)).Value()
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Printf("%.2f ", rate.At(0))
	}
	fmt.Printf(" %T\n", s)
}

// The rate falls on a straight line, on a parabola, or again and again.
func ExamplePolynomialDecay() {
	printRates(train.PolynomialDecay{LearningRate: 1, Steps: 10}, 0, 5, 10, 15)
	printRates(train.PolynomialDecay{LearningRate: 1, Steps: 10, Power: 2}, 0, 5, 10, 15)
	printRates(train.PolynomialDecay{LearningRate: 1, Steps: 10, Cycle: true}, 0, 5, 10, 15)
	// Output:
	// 1.00 0.50 0.00 0.00  train.PolynomialDecay
	// 1.00 0.25 0.00 0.00  train.PolynomialDecay
	// 1.00 0.50 0.00 0.25  train.PolynomialDecay
}

// The rate is divided by a number that grows, in steps if Staircase is set.
func ExampleInverseTimeDecay() {
	printRates(train.InverseTimeDecay{LearningRate: 1, Decay: 1, Steps: 10}, 0, 5, 10, 20)
	printRates(train.InverseTimeDecay{LearningRate: 1, Decay: 1, Steps: 10, Staircase: true}, 0, 5, 10, 20)
	// Output:
	// 1.00 0.67 0.50 0.33  train.InverseTimeDecay
	// 1.00 1.00 0.50 0.33  train.InverseTimeDecay
}

// After Steps steps the rate is exp(-Decay) times what it was.
func ExampleNaturalExpDecay() {
	printRates(train.NaturalExpDecay{LearningRate: 1, Decay: 1, Steps: 10}, 0, 5, 10, 20)
	// Output: 1.00 0.61 0.37 0.14  train.NaturalExpDecay
}

// Each period is twice as long as the one before, and begins with half its rate.
func ExampleCosineDecayRestarts() {
	printRates(train.CosineDecayRestarts{LearningRate: 1, Steps: 10, RateFactor: 0.5}, 0, 5, 9, 10, 20, 29, 30)
	// Output: 1.00 0.50 0.02 0.50 0.25 0.00 0.25  train.CosineDecayRestarts
}

// Noise on the line, which fades, keeps training from settling too early.
func ExampleLinearCosineDecay() {
	seed := int64(1)
	decay := train.LinearCosineDecay{LearningRate: 1, Steps: 10}
	printRates(decay, 0, 5, 10)
	printRates(train.NoisyLinearCosineDecay{LinearCosineDecay: decay, InitialVariance: 0.04, Seed: &seed}, 0, 5, 10)
	// Output:
	// 1.00 0.25 0.00  train.LinearCosineDecay
	// 0.84 0.29 0.00  train.NoisyLinearCosineDecay
}

// The rate rises for four steps, and then falls as another schedule says.
func ExampleWarmUp() {
	printRates(train.WarmUp{Steps: 4, Then: train.CosineDecay{LearningRate: 1, Steps: 10}}, 0, 2, 4, 9, 14)
	// Output: 0.00 0.50 1.00 0.50 0.00  train.WarmUp
}
