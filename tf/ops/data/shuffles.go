package data

import (
	"github.com/gorge-tf/gorge/internal/dataset"
	"github.com/gorge-tf/gorge/internal/handle"
	"github.com/gorge-tf/gorge/internal/resource"
	"github.com/gorge-tf/gorge/tf/core"
)

func init() {
	const buffer, seeds, again, generator = input + "; buffer_size: int64", "; seed: int64; seed2: int64", "reshuffle_each_iteration: bool = true", "; seed_generator: resource"
	register("ShuffleDataset", buffer+seeds, again+"; "+plain, false, on(shuffle(false, false)))
	register("ShuffleDatasetV2", buffer+generator, plain, true, on(shuffleBy))
	register("ShuffleDatasetV3", buffer+seeds+generator, again+"; "+plain, true, on(shuffle(false, true)))
	register("ShuffleAndRepeatDataset", buffer+seeds+"; count: int64", outputs+"; "+again+metadata, false, on(shuffle(true, false)))
	register("ShuffleAndRepeatDatasetV2", buffer+seeds+"; count: int64"+generator, again+"; "+plain, true, on(shuffle(true, true)))
	register("RandomDataset", "seed: int64; seed2: int64", plain, true, randomNumbers)
	register("RandomDatasetV2", "seed: int64; seed2: int64"+generator, "rerandomize_each_iteration: bool = false; "+plain, true, randomNumbers)
	register("ExperimentalRandomDataset", "seed: int64; seed2: int64", outputs, true, randomNumbers)
	register("GlobalShuffleDataset", input+seeds+generator, again+"; "+plain, true, on(globalShuffle))
	register("SamplingDataset", input+"; rate: float"+seeds, outputs, false, on(sample))
	for _, name := range []string{"DummySeedGenerator", "DummyMemoryCache", "DummyIterationCounter"} {
		core.Register(core.OpDef{
			Name: name, Out: "handle: resource", Stateful: true, Shape: core.ScalarShape, NoGrad: core.NotDifferentiable, Kernels: core.AnyType(dummy),
		})
	}
}

var _ = resource.Declare[*dataset.Seeds]("tensorflow::data::SeedGeneratorManager")

// dummy makes a handle of nothing: what it stands for is the dataset's own.
func dummy(n *core.Node) (core.Kernel, error) {
	return core.Compute(func(c *core.OpContext) error {
		c.Set(0, core.HandleTensor(core.ResourceHandle{Name: n.OpName()}))
		return nil
	}), nil
}

// shuffle makes the maker of shuffled datasets. A generator of seeds, if there is
// one, is the last input.
func shuffle(repeats, shares bool) func(*core.OpContext, dataset.Dataset) (dataset.Dataset, error) {
	return func(c *core.OpContext, in dataset.Dataset) (dataset.Dataset, error) {
		v := [4]int64{3: 1}
		names := []string{"buffer_size", "seed", "seed2", "count"}
		if !repeats {
			names = names[:3]
		}
		for i, name := range names {
			x, err := scalar[int64](c, 1+i, name)
			if err != nil {
				return nil, err
			}
			v[i] = x
		}
		if shares {
			if s, err := handle.Find[*dataset.Seeds](c, c.Inputs()-1); err == nil {
				return dataset.Shuffle(in, v[0], v[3], s)
			}
		}
		return dataset.Shuffle(in, v[0], v[3], dataset.NewSeeds(v[1], v[2], c.Node.Bool("reshuffle_each_iteration")))
	}
}

// shuffleBy shuffles by a generator of seeds.
func shuffleBy(c *core.OpContext, in dataset.Dataset) (dataset.Dataset, error) {
	n, err := scalar[int64](c, 1, "buffer_size")
	if err != nil {
		return nil, err
	}
	s, err := handle.Find[*dataset.Seeds](c, 2)
	if err != nil {
		return nil, err
	}
	return dataset.Shuffle(in, n, 1, s)
}

// seedsFrom returns the seeds that inputs from at on say: those of a generator,
// the input after them, if there is one, else two numbers. With renew, each
// iterator has others.
func seedsFrom(c *core.OpContext, at int, renew bool) (*dataset.Seeds, error) {
	if at+2 < c.Inputs() {
		if s, err := handle.Find[*dataset.Seeds](c, at+2); err == nil {
			return s, nil
		}
	}
	seed, err := scalar[int64](c, at, "seed")
	if err != nil {
		return nil, err
	}
	seed2, err := scalar[int64](c, at+1, "seed2")
	if err != nil {
		return nil, err
	}
	return dataset.NewSeeds(seed, seed2, renew), nil
}

func randomNumbers(c *core.OpContext) (dataset.Dataset, error) {
	s, err := seedsFrom(c, 0, c.Node.Bool("rerandomize_each_iteration"))
	if err != nil {
		return nil, err
	}
	return dataset.Random(s), nil
}

func globalShuffle(c *core.OpContext, in dataset.Dataset) (dataset.Dataset, error) {
	s, err := seedsFrom(c, 1, c.Node.Bool("reshuffle_each_iteration"))
	if err != nil {
		return nil, err
	}
	return dataset.GlobalShuffle(in, s)
}

func sample(c *core.OpContext, in dataset.Dataset) (dataset.Dataset, error) {
	rate, err := scalar[float32](c, 1, "rate")
	if err != nil {
		return nil, err
	}
	s, err := seedsFrom(c, 2, false)
	if err != nil {
		return nil, err
	}
	return dataset.Sample(in, rate, s), nil
}
