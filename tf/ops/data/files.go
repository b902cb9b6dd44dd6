package data

import (
	"github.com/gorge-tf/gorge/internal/dataset"
	"github.com/gorge-tf/gorge/tf"
)

func init() {
	const in, attrs = "filenames: string; compression_type: string; buffer_size: int64", "metadata: string = ''"
	register("TextLineDataset", in, attrs, true, files(dataset.Lines))
	register("TFRecordDataset", in, attrs, true, files(dataset.Records))
}

// files makes the maker of the records of files.
func files(of func(names []string, compression string) (dataset.Dataset, error)) maker {
	return func(c *tf.OpContext) (dataset.Dataset, error) {
		if c.Input(0).Rank() > 1 {
			return nil, tf.Errorf(tf.InvalidArgument, "`filenames` must be a scalar or a vector.")
		}
		compression, err := scalar[string](c, 1, "compression_type")
		if err != nil {
			return nil, err
		}
		size, err := scalar[int64](c, 2, "buffer_size")
		if err != nil {
			return nil, err
		}
		if size < 0 {
			return nil, tf.Errorf(tf.InvalidArgument, "`buffer_size` must be >= 0 (0 == no buffering)")
		}
		return of(append([]string{}, tf.Data[string](c.Input(0))...), compression)
	}
}
