package data

import (
	"cmp"
	"strings"

	"github.com/gorge-tf/gorge/internal/dataset"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
)

func init() {
	const in, attrs = "filenames: string; compression_type: string; buffer_size: int64", "metadata: string = ''"
	register("TextLineDataset", in, attrs, true, files(dataset.Lines))
	register("TFRecordDataset", in, attrs, true, files(dataset.Records))
	register("TFRecordDatasetV2", in+"; byte_offsets: int64", attrs, true, recordsFrom)
	registerBoth("MatchingFilesDataset", "patterns: string", "", true, matching)
	const csv = "filenames: string; compression_type: string; buffer_size: int64; header: bool; field_delim: string; use_quote_delim: bool; na_value: string; select_cols: int64; record_defaults: output_types"
	const csvAttrs = "output_types: list({float, double, int32, int64, string}) >= 1; output_shapes: list(shape) >= 1"
	registerBoth("CSVDataset", csv, csvAttrs, true, csvFiles)
	register("CSVDatasetV2", csv+"; exclude_cols: int64", csvAttrs, true, csvFiles)
	const fixed = "filenames: string; header_bytes: int64; record_bytes: int64; footer_bytes: int64; buffer_size: int64"
	register("FixedLengthRecordDataset", fixed, attrs, true, fixedLength(false))
	register("FixedLengthRecordDatasetV2", fixed+"; compression_type: string", attrs, true, fixedLength(true))
}

// files makes the maker of the records of files.
func files(of func(names []string, compression string) (dataset.Dataset, error)) maker {
	return func(c *core.OpContext) (dataset.Dataset, error) {
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
		// TensorFlow's own programs leave the size of records' buffers open.
		if size < 0 && (size < -1 || !strings.HasPrefix(c.Node.OpName(), "TFRecord")) {
			return nil, tf.Errorf(tf.InvalidArgument, "`buffer_size` must be >= 0 (0 == no buffering)")
		}
		return of(append([]string{}, core.Data[string](c.Input(0))...), compression)
	}
}

// fixedLength makes the maker of records of one length, in files that may be
// compressed.
func fixedLength(packed bool) maker {
	return func(c *core.OpContext) (dataset.Dataset, error) {
		if c.Input(0).Rank() > 1 {
			return nil, tf.Errorf(tf.InvalidArgument, "`filenames` must be a scalar or a vector.")
		}
		var v [4]int64
		for i, name := range []string{"header_bytes", "record_bytes", "footer_bytes", "buffer_size"} {
			n, err := scalar[int64](c, 1+i, name)
			if err != nil {
				return nil, err
			}
			v[i] = n
		}
		if v[3] < 0 {
			return nil, tf.Errorf(tf.InvalidArgument, "`buffer_size` must be >= 0 (0 == no buffering)")
		}
		compression := ""
		if packed {
			var err error
			if compression, err = scalar[string](c, 5, "compression_type"); err != nil {
				return nil, err
			}
		}
		return dataset.FixedLength(append([]string{}, core.Data[string](c.Input(0))...), compression, v[0], v[1], v[2])
	}
}

func recordsFrom(c *core.OpContext) (dataset.Dataset, error) {
	return files(func(names []string, compression string) (dataset.Dataset, error) {
		if c.Input(3).Len() == 0 {
			return dataset.Records(names, compression)
		}
		return dataset.RecordsFrom(names, compression, append([]int64{}, core.Data[int64](c.Input(3))...))
	})(c)
}

func matching(c *core.OpContext) (dataset.Dataset, error) {
	if c.Input(0).Rank() > 1 {
		return nil, tf.Errorf(tf.InvalidArgument, "patterns must be a scalar or a vector")
	}
	return dataset.Matching(append([]string{}, core.Data[string](c.Input(0))...)), nil
}

func csvFiles(c *core.OpContext) (dataset.Dataset, error) {
	na, err := scalar[string](c, 6, "na_value")
	if err != nil {
		return nil, err
	}
	csv := dataset.CSV{NA: na, Shapes: declared(c.Node).Shapes}
	end := c.Inputs()
	if c.Node.OpName() == "CSVDatasetV2" {
		end--
		csv.Exclude = append([]int64{}, core.Data[int64](c.Input(end))...)
	}
	csv.Defaults, csv.Select = kept(c, 8, end), append([]int64{}, core.Data[int64](c.Input(7))...)
	delim, err := scalar[string](c, 4, "field_delim")
	if err != nil {
		return nil, err
	}
	if len(delim) != 1 {
		return nil, tf.Errorf(tf.InvalidArgument, "field_delim should be only 1 char")
	}
	csv.Delim = delim[0]
	if csv.Header, err = scalar[bool](c, 3, "header"); err != nil {
		return nil, err
	}
	if csv.Quotes, err = scalar[bool](c, 5, "use_quote_delim"); err != nil {
		return nil, err
	}
	if size, err := scalar[int64](c, 2, "buffer_size"); err != nil || size <= 0 {
		return nil, cmp.Or(err, tf.Errorf(tf.InvalidArgument, "buffer_size should be positive"))
	}
	return files(func(names []string, compression string) (dataset.Dataset, error) {
		csv.Names, csv.Compression = names, compression
		return csv.Open()
	})(c)
}
