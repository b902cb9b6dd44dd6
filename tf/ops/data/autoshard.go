package data

import (
	"slices"

	"github.com/gorge-tf/gorge/internal/dataset"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
)

func init() {
	const workers, policy = input + "; num_workers: int64; index: int64", "auto_shard_policy: int = 0; " + outputs
	for name, attrs := range map[string]string{"AutoShardDataset": policy + "; num_replicas: int = 0", "ExperimentalAutoShardDataset": policy} {
		core.Register(core.OpDef{Name: name, In: workers, Out: "handle: variant", Attrs: attrs, Shape: core.ScalarShape, NoGrad: core.NotDifferentiable, Kernels: core.AnyType(autoShard)})
	}
}

// Policies of AutoShardDataset.
const (
	shardOff  = -1
	shardAuto = 0
	shardFile = 1
	shardData = 2
	shardHint = 3
)

// Ops by what becomes of them when each worker is to read some of the files.
var (
	readers     = []string{"ArrayRecordDataset", "FixedLengthRecordDataset", "RecordIODataset", "SSTableDataset", "TextLineDataset", "TFRecordDataset"}
	severalOf   = []string{"ConcatenateDataset", "ZipDataset"}
	sources     = []string{"GeneratorDataset", "RangeDataset", "SparseTensorsSliceDataset", "TensorDataset", "TensorSliceDataset"}
	callers     = []string{"ExperimentalParallelInterleaveDataset", "FlatMapDataset", "InterleaveDataset", "LegacyParallelInterleaveDataset", "ParallelInterleaveDataset"}
	passThrough = []string{"AssertNextDataset", "BatchDataset", "CacheDataset", "ExperimentalMapAndBatchDataset", "ExperimentalParseExampleDataset", "ExperimentalRebatchDataset",
		"FilterDataset", "FinalizeDataset", "MapAndBatchDataset", "MapDataset", "MaxIntraOpParallelismDataset", "ModelDataset", "OptimizeDataset", "OptionsDataset",
		"PaddedBatchDataset", "ParallelBatchDataset", "ParallelMapDataset", "ParseExampleDataset", "PrefetchDataset", "PrivateThreadPoolDataset", "ReduceDataset",
		"RebatchDataset", "RepeatDataset", "ShardDataset", "ShuffleAndRepeatDataset", "ShuffleDataset", "SkipDataset", "TakeDataset", "UnbatchDataset", "WindowDataset"}
	shuffles = []string{"ShuffleDataset"}
)

// autoShard rewrites a dataset so that each of several workers has a part of it:
// some of the files, if it can be seen where they are read, else some of the
// elements.
func autoShard(*core.Node) (core.Kernel, error) {
	return core.Compute(func(c *core.OpContext) error {
		s := &sharder{replicas: int64(c.Node.Int("num_replicas"))}
		var err error
		if s.workers, err = scalar[int64](c, 1, "num_workers"); err != nil {
			return err
		}
		if s.index, err = scalar[int64](c, 2, "index"); err != nil {
			return err
		}
		switch {
		case s.workers < 1:
			return tf.Errorf(tf.InvalidArgument, "num_workers must be greater than zero.")
		case s.index < 0 || s.index >= s.workers:
			return tf.Errorf(tf.InvalidArgument, "index must be between 0 and %d", s.workers-1)
		}
		if _, err := dataset.Of(c.Input(0)); err != nil {
			return err
		}
		t, err := s.apply(c.Input(0), c.Node.Int("auto_shard_policy"))
		if err == nil {
			c.Set(0, t.Share())
		}
		return err
	}), nil
}

// A sharder makes the part of a dataset that is one worker's.
type sharder struct{ workers, index, replicas int64 }

func (s *sharder) apply(t *core.Tensor, policy int) (*core.Tensor, error) {
	if own, ok := option(t, optionDistribute, distributeAutoShard); ok && own != shardAuto {
		policy = int(own)
	}
	switch {
	case policy == shardOff, policy == shardFile && s.workers == 1:
		return t, nil
	case policy == shardHint:
		return s.hinted(t)
	case policy == shardData:
		return s.elements(t)
	}
	of, err := s.files(t)
	if policy != shardFile && tf.CodeOf(err) == tf.NotFound {
		return s.elements(t)
	}
	return of, err
}

// shard puts a ShardDataset on a dataset.
func (s *sharder) shard(t *core.Tensor) (*core.Tensor, error) {
	return onTop("ShardDataset", t, []*core.Tensor{core.Scalar(s.workers), core.Scalar(s.index)}, core.Attrs{"require_non_empty": true})
}

// elements gives a worker some of the elements, before they are computed in
// advance.
func (s *sharder) elements(t *core.Tensor) (*core.Tensor, error) {
	o := dataset.OriginOf(t)
	if o != nil && slices.Contains([]string{"PrefetchDataset", "OptionsDataset", "FinalizeDataset"}, o.Node.OpName()) {
		in, err := s.elements(o.In[0])
		if err != nil {
			return nil, err
		}
		return remade(o, first(o, in))
	}
	if o != nil && o.Node.OpName() == "RebatchDatasetV2" {
		var err error
		if t, err = s.rebatched(o); err != nil {
			return nil, err
		}
	}
	return s.shard(t)
}

// rebatched is a dataset whose batches are split for the replicas: only so can
// its elements be dealt out.
func (s *sharder) rebatched(o *dataset.Origin) (*core.Tensor, error) {
	if s.replicas < 1 {
		return nil, tf.Errorf(tf.InvalidArgument, "Cannot rewrite RebatchDatasetV2 to legacy RebatchDataset with invalid num_replicas argument. `num_replicas` is %d, but expected to be >= 1.", s.replicas)
	}
	var shapes []tf.Shape
	for _, shape := range declared(o.Node).Shapes {
		if shape = shape.Clone(); len(shape) > 0 {
			shape[0] = -1
		}
		shapes = append(shapes, shape)
	}
	return onTop("RebatchDataset", o.In[0], []*core.Tensor{core.Scalar(s.replicas)}, core.Attrs{"output_shapes": shapes})
}

// hinted replaces the shards whose number a program has left to be that of
// the workers.
func (s *sharder) hinted(t *core.Tensor) (*core.Tensor, error) {
	return rewrite(t, func(o *dataset.Origin, in []*core.Tensor) (*core.Tensor, error) {
		if o.Node.OpName() == "ShardDataset" && core.Data[int64](o.In[1])[0] == dataset.HintedShards {
			return s.shard(in[0])
		}
		return nil, nil
	})
}

// rewrite makes a dataset anew, inputs first, where replace returns another for
// one, nil if it is not to be replaced.
func rewrite(t *core.Tensor, replace replacer) (*core.Tensor, error) {
	return rewriteOnce(t, replace, map[*dataset.Origin]*core.Tensor{})
}

type replacer func(o *dataset.Origin, in []*core.Tensor) (*core.Tensor, error)

// rewriteOnce is rewrite for what may be there more than once: done has what was
// made of it.
func rewriteOnce(t *core.Tensor, replace replacer, done map[*dataset.Origin]*core.Tensor) (out *core.Tensor, err error) {
	o := dataset.OriginOf(t)
	if o == nil {
		return t, nil
	}
	if y := done[o]; y != nil {
		return y, nil
	}
	defer func() { done[o] = out }()
	in, changed := slices.Clone(o.In), false
	for i, x := range o.In {
		y, err := rewriteOnce(x, replace, done)
		if err != nil {
			return nil, err
		}
		in[i], changed = y, changed || x != y
	}
	if other, err := replace(o, in); other != nil || err != nil {
		return other, err
	}
	if !changed {
		return t, nil
	}
	return remade(o, in)
}

// files gives a worker some of the files: it looks from the end for where they
// are read.
func (s *sharder) files(t *core.Tensor) (*core.Tensor, error) {
	o := dataset.OriginOf(t)
	switch {
	case o == nil:
		return nil, tf.Errorf(tf.NotFound, "Did not find a shardable source, walked to a dataset that no op has made.")
	case o.Node.OpName() == "AssertCardinalityDataset": // which would not be true
		return s.files(o.In[0])
	case isAny(o, sources):
		return nil, tf.Errorf(tf.NotFound, "Found an unshardable source dataset: %s", o.Node.OpName())
	case isAny(o, severalOf):
		return s.eachOf(o)
	case isAny(o, callers) && ofDatasets(o.In[0]):
		return s.datasets(o)
	case (isAny(o, callers) || isAny(o, passThrough)) && opens(o), isAny(o, readers):
		return s.reader(o)
	case !isAny(o, callers) && !isAny(o, passThrough):
		return nil, tf.Errorf(tf.NotFound, "Did not find a shardable source, walked to a node which is not a dataset: %s. "+
			"Consider either turning off auto-sharding or switching the auto_shard_policy to DATA to shard this dataset. You can do this by creating a new `tf.data.Options()` object then setting "+
			"`options.experimental_distribute.auto_shard_policy = AutoShardPolicy.DATA` before applying the options object to the dataset via `dataset.with_options(options)`.", o.Node.OpName())
	}
	in, err := s.files(o.In[0])
	if err != nil {
		return nil, err
	}
	return remade(o, first(o, in))
}

// eachOf gives a worker some of the files of each of several datasets.
func (s *sharder) eachOf(o *dataset.Origin) (*core.Tensor, error) {
	in := slices.Clone(o.In)
	for i, x := range o.In {
		var err error
		if in[i], err = s.files(x); err != nil {
			return nil, err
		}
	}
	return remade(o, in)
}

// ofDatasets reports whether a dataset has, but for what is passed through, the
// elements of datasets that a program has made, of files perhaps.
func ofDatasets(t *core.Tensor) bool {
	o := dataset.OriginOf(t)
	switch {
	case o == nil || len(o.In) == 0:
		return false
	case isAny(o, callers):
		in := dataset.OriginOf(o.In[0])
		return in != nil && (in.Node.OpName() == "TensorSliceDataset" || in.Node.OpName() == "TensorDataset")
	}
	return isAny(o, passThrough) && ofDatasets(o.In[0])
}

// datasets gives a worker some of the elements of such datasets: o's input, but
// for what is passed through, has them.
func (s *sharder) datasets(o *dataset.Origin) (*core.Tensor, error) {
	in := dataset.OriginOf(o.In[0])
	if isAny(in, callers) {
		return s.reader(o)
	}
	t, err := s.datasets(in)
	if err != nil {
		return nil, err
	}
	return remade(o, first(o, t))
}

// opens reports whether a dataset's function reads files.
func opens(o *dataset.Origin) bool {
	l := libraryOf(o)
	return functionOpens(l, o.Node.FuncAttr("f").Name, map[string]bool{})
}

func functionOpens(l *core.Library, name string, seen map[string]bool) bool {
	f := l.Find(name)
	if f == nil || seen[name] {
		return false
	}
	seen[name] = true
	for _, n := range f.GetNodeDef() {
		op := n.GetOp()
		reads := func(name string) bool { return is(op, name) }
		if slices.ContainsFunc(readers, reads) && len(n.GetInput()) > 0 {
			return true
		}
		if slices.ContainsFunc(callers, reads) && functionOpens(l, n.GetAttr()["f"].GetFunc().GetName(), seen) {
			return true
		}
	}
	return false
}

// reader gives what reads files, or makes datasets of them, some of its names.
// They are mixed behind that: before, workers might mix them in different ways.
func (s *sharder) reader(o *dataset.Origin) (*core.Tensor, error) {
	if o.In[0].DType() != tf.Variant {
		return nil, tf.Errorf(tf.NotFound, "Unable to shard this input. You may need to wrap the inputs to your reader dataset in a TensorSliceDataset. Input node is %s", o.Node.OpName())
	}
	var shuffle *dataset.Origin
	names, err := rewrite(o.In[0], func(of *dataset.Origin, in []*core.Tensor) (*core.Tensor, error) {
		if !isAny(of, shuffles) {
			return nil, nil
		}
		if shuffle == nil {
			shuffle = of
		}
		return in[0], nil
	})
	if err != nil {
		return nil, err
	}
	if names, err = s.shard(names); err != nil {
		return nil, err
	}
	if shuffle != nil {
		if names, err = remade(shuffle, first(shuffle, names)); err != nil {
			return nil, err
		}
	}
	return remade(o, first(o, names))
}
