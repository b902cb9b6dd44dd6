package data_test

import (
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/author"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/optest"
)

func init() {
	// next is a sample in which an iterator that was put on a dataset gives an
	// element.
	next := func(op, iterator, get string) optest.Sample {
		return optest.Sample{Op: op, In: []*core.Tensor{optest.Vec[int64](5, 3)}, Types: optest.OnlyOwn, F: func(g *tf.Graph, in []tf.Output) []tf.Output {
			p := slices(in[0])
			it := tf.Apply(g, iterator, nil, append(p.about(), tf.Attr("shared_name", ""), tf.Attr("container", ""))...).Output(0)
			made := tf.Apply(nil, "MakeIterator", []tf.Output{p.d, it})
			return p.taken(tf.Apply(nil, get, []tf.Output{it}, append(p.about(), tf.After(made))...))
		}}
	}
	optest.Add(
		next("Iterator", "Iterator", "IteratorGetNext"), next("IteratorV2", "IteratorV2", "IteratorGetNext"), next("MakeIterator", "IteratorV2", "IteratorGetNext"),
		next("IteratorGetNext", "IteratorV2", "IteratorGetNext"), next("IteratorGetNextSync", "IteratorV2", "IteratorGetNextSync"),
		optest.Failing("IteratorGetNext", "not initialized", func(g *tf.Graph, in []tf.Output) []tf.Output {
			p := slices(in[0])
			it := tf.Apply(g, "IteratorV2", nil, append(p.about(), tf.Attr("shared_name", ""), tf.Attr("container", ""))...).Output(0)
			return p.taken(tf.Apply(nil, "IteratorGetNext", []tf.Output{it}, p.about()...))
		}, optest.Vec[int64](1)),
		optest.Sample{Op: "IteratorFromStringHandleV2", In: []*core.Tensor{optest.Vec[int64](5, 3)}, Types: optest.OnlyOwn, F: func(g *tf.Graph, in []tf.Output) []tf.Output {
			p := slices(in[0])
			it := tf.Apply(g, "IteratorV2", nil, append(p.about(), tf.Attr("shared_name", ""), tf.Attr("container", ""))...).Output(0)
			made := tf.Apply(nil, "MakeIterator", []tf.Output{p.d, it})
			text := tf.Apply(nil, "IteratorToStringHandle", []tf.Output{it}).Output(0)
			back := tf.Apply(nil, "IteratorFromStringHandleV2", []tf.Output{text}, p.about()...).Output(0)
			return p.taken(tf.Apply(nil, "IteratorGetNext", []tf.Output{back}, append(p.about(), tf.After(made))...))
		}},
		optest.Sample{Op: "OneShotIterator", In: []*core.Tensor{optest.Vec[int64](5, 3)}, Types: optest.OnlyOwn, F: func(g *tf.Graph, in []tf.Output) []tf.Output {
			p := slices(in[0])
			f := tf.NewFunction(g, "factory", nil, func([]tf.Output) []tf.Output { return []tf.Output{numbers(in[0].Graph(), 3).d} })
			it := author.CallLater("OneShotIterator", nil, []author.Callee{{Attr: "dataset_factory", F: f}}, nil, p.about()...).Output(0)
			return []tf.Output{ops.Add(tf.Apply(nil, "IteratorGetNext", []tf.Output{it}, p.about()...).Output(0), in[0])}
		}},
	)
	const handle = "its result tells a process from another"
	optest.Unsampled("IteratorToStringHandle", handle)
	optest.Unsampled("IteratorFromStringHandle", "it is the second version's, of another name")
	for _, op := range []string{"TextLineDataset", "TFRecordDataset", "FixedLengthRecordDataset", "FixedLengthRecordDatasetV2", "TFRecordDatasetV2", "CSVDataset", "ExperimentalCSVDataset", "CSVDatasetV2",
		"MatchingFilesDataset", "ExperimentalMatchingFilesDataset", "SaveDataset", "SaveDatasetV2", "LoadDataset", "SnapshotDataset", "SnapshotDatasetV2", "SnapshotDatasetReader", "SnapshotChunkDataset", "ListSnapshotChunksDataset", "DatasetToTFRecord", "ExperimentalDatasetToTFRecord", "RecordInput"} {
		optest.Unsampled(op, "it depends on files: see the tests of packages tf/data and internal/dataset, and TestRecordInput")
	}
	optest.Unsampled("FinalizeDataset", "TensorFlow ends the process when it is not run by an eager program")
	for _, op := range []string{"CacheDatasetV2", "DummySeedGenerator", "DummyMemoryCache"} {
		optest.Unsampled(op, "it takes a handle of what only eager programs have")
	}
}
