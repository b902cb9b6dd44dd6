package data

import (
	"fmt"
	"hash/fnv"
	"path/filepath"
	"strconv"
	"time"

	"github.com/gorge-tf/gorge/internal/dataset"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
)

func init() {
	const packs = outputs + "; compression: string = ''"
	register("SnapshotDataset", input+"; path: string",
		packs+"; reader_path_prefix: string = ''; writer_path_prefix: string = ''; shard_size_bytes: int = 10737418240; pending_snapshot_expiry_seconds: int = 86400; "+
			"num_reader_threads: int = 1; reader_buffer_size: int = 1; num_writer_threads: int = 1; writer_buffer_size: int = 1; shuffle_on_read: bool = false; seed: int = 0; seed2: int = 0; "+
			"mode: string = 'auto'; snapshot_name: string = ''", false, on(snapshotInFiles))
	register("SnapshotDatasetV2", input+"; path: string; reader_func_other_args: Treader_func_args; shard_func_other_args: Tshard_func_args",
		packs+"; reader_prefix: string = ''; writer_prefix: string = ''; hash_valid: bool = false; hash: int = 0; reader_func: func; shard_func: func; "+
			"Treader_func_args: list(type) >= 0; Tshard_func_args: list(type) >= 0"+metadata, false, on(snapshotInShards))
	register("SnapshotDatasetReader", "shard_dir: string; start_index: int64", packs+"; version: int", false, shardElements)
	register("SnapshotChunkDataset", "chunk_file: string", packs, false, chunkElements)
	register("SnapshotNestedDatasetReader", "inputs: N * variant", outputs+"; N: int >= 1", false, nested)
	register("ListSnapshotChunksDataset", "snapshot_path: string", outputs, true, listChunks)
}

// printOf tells the dataset of a tensor apart from others, made otherwise.
func printOf(t *core.Tensor, more ...any) (uint64, error) {
	b, err := fingerprintOf(t)
	if err != nil {
		return 0, tf.Errorf(tf.FailedPrecondition, "Failed to serialize the input pipeline graph: %s", tf.AsError(err).Message())
	}
	sum := fnv.New64a()
	_, _ = fmt.Fprint(sum, append([]any{b}, more...)...)
	return sum.Sum64(), nil
}

// autoPacked is the compression that is not chosen by the program.
const autoPacked = "AUTO"

// snapshotInShards keeps a dataset in shards, of which functions tell which an
// element goes to, and how they are read.
func snapshotInShards(c *core.OpContext, in dataset.Dataset) (dataset.Dataset, error) {
	n := c.Node
	path, err := scalar[string](c, 1, "path")
	if err != nil {
		return nil, err
	}
	s := dataset.Snapshot{Compression: n.Str("compression")}
	if s.Compression == autoPacked {
		s.Compression = "SNAPPY"
	}
	at := 2 + len(n.TypesAttr("Treader_func_args"))
	if s.Reader, err = function(c, "reader_func", 2, at); err != nil {
		return nil, err
	}
	if s.Shard, err = function(c, "shard_func", at, c.Inputs()); err != nil {
		return nil, err
	}
	hash := uint64(n.Int("hash"))
	if !n.Bool("hash_valid") {
		if hash, err = printOf(c.Input(0), s.Compression); err != nil {
			return nil, err
		}
	}
	own := filepath.Join(path, strconv.FormatUint(hash, 10))
	s.Read, s.Write = filepath.Join(n.Str("reader_prefix"), own), filepath.Join(n.Str("writer_prefix"), own)
	return dataset.Keep(in, s)
}

// snapshotInFiles keeps a dataset in files of some size.
func snapshotInFiles(c *core.OpContext, in dataset.Dataset) (dataset.Dataset, error) {
	n := c.Node
	path, err := scalar[string](c, 1, "path")
	if err != nil {
		return nil, err
	}
	s := dataset.Snapshot{Compression: n.Str("compression"), FileBytes: int64(n.Int("shard_size_bytes")), Expiry: time.Duration(n.Int("pending_snapshot_expiry_seconds")) * time.Second}
	if s.FileBytes == -1 {
		const usual = 10 << 30
		s.FileBytes = usual
	}
	if s.Expiry == -time.Second {
		s.Expiry = 24 * time.Hour
	}
	switch mode := n.Str("mode"); mode {
	case "auto":
	case dataset.SnapshotRead, dataset.SnapshotWrite, dataset.SnapshotPass:
		s.Mode = mode
	default:
		return nil, tf.Errorf(tf.InvalidArgument, "mode must be either 'auto', 'read', 'write', or 'passthrough'.")
	}
	switch {
	case s.Compression != "" && s.Compression != "GZIP" && s.Compression != "SNAPPY":
		return nil, tf.Errorf(tf.InvalidArgument, "compression must be either '', 'GZIP' or 'SNAPPY'.")
	case s.Expiry < time.Second:
		return nil, tf.Errorf(tf.InvalidArgument, "pending_snapshot_expiry_seconds must be at least 1 second.")
	}
	if n.Bool("shuffle_on_read") {
		s.Order = dataset.NewSeeds(int64(n.Int("seed")), int64(n.Int("seed2")), false)
	}
	own, name := "", n.Str("snapshot_name")
	if name != "" {
		own, s.Run = "custom-"+name, "custom"
	} else {
		hash, err := printOf(c.Input(0), path, s.Compression, n.Str("reader_path_prefix"), n.Str("writer_path_prefix"), s.FileBytes)
		if err != nil {
			return nil, err
		}
		own = fmt.Sprintf("%016x", hash)
	}
	s.Read, s.Write = filepath.Join(n.Str("reader_path_prefix"), path, own), filepath.Join(n.Str("writer_path_prefix"), path, own)
	return dataset.Keep(in, s)
}

// shardElements makes the dataset of the elements of one shard.
func shardElements(c *core.OpContext) (dataset.Dataset, error) {
	dir, err := scalar[string](c, 0, "shard_dir")
	if err != nil {
		return nil, err
	}
	from, err := scalar[int64](c, 1, "start_index")
	if err != nil {
		return nil, err
	}
	d, err := dataset.ElementsUnder(dir, c.Node.Str("compression"), spec(c))
	if err != nil {
		return nil, err
	}
	return dataset.Skip(d, max(0, from)), nil
}

func chunkElements(c *core.OpContext) (dataset.Dataset, error) {
	name, err := scalar[string](c, 0, "chunk_file")
	if err != nil {
		return nil, err
	}
	return dataset.ElementsOf(name, c.Node.Str("compression"), spec(c))
}

// nested makes the dataset of datasets that are the inputs.
func nested(c *core.OpContext) (dataset.Dataset, error) {
	list := make([]dataset.Element, c.Inputs())
	for i := range list {
		list[i] = kept(c, i, i+1)
		if _, err := dataset.Of(list[i][0]); err != nil {
			return nil, err
		}
	}
	return dataset.List(&dataset.Spec{Types: []tf.DType{tf.Variant}, Shapes: []tf.Shape{{}}}, list), nil
}

// listChunks makes the dataset of the names of a snapshot's files that are
// complete.
func listChunks(c *core.OpContext) (dataset.Dataset, error) {
	path, err := scalar[string](c, 0, "snapshot_path")
	if err != nil {
		return nil, err
	}
	return dataset.Matching([]string{filepath.Join(path, "chunks", "*")}), nil
}
