package dataset

import (
	"errors"
	"os"
	"path/filepath"
	"time"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/gorge-tf/gorge/tf/core"
)

// A saved dataset is a directory in TensorFlow's form: a file that tells of it,
// and, in a directory of the run that wrote it, one directory for each shard,
// with a TFRecord file of the components of its elements, each a TensorProto.

const (
	metadataName = "snapshot.metadata"
	shardPattern = "%08d.shard"
	chunkPattern = "%08d.snapshot"
)

// Fields of the message in the file that tells of a dataset.
const (
	fieldRun       protowire.Number = 2
	fieldCreated   protowire.Number = 3
	fieldVersion   protowire.Number = 4
	fieldTypes     protowire.Number = 5
	fieldElements  protowire.Number = 6
	fieldFinalized protowire.Number = 1000

	snapshotVersion = 2
)

// metadataOf is the message of a dataset, which is complete or being written.
func metadataOf(run string, types []core.DType, elements int64, finalized bool) []byte {
	number := func(b []byte, f protowire.Number, v int64) []byte {
		return protowire.AppendVarint(protowire.AppendTag(b, f, protowire.VarintType), uint64(v))
	}
	b := protowire.AppendString(protowire.AppendTag(nil, fieldRun, protowire.BytesType), run)
	b = number(number(b, fieldCreated, time.Now().UnixMicro()), fieldVersion, snapshotVersion)
	var list []byte
	for _, d := range types {
		list = protowire.AppendVarint(list, uint64(d))
	}
	b = protowire.AppendBytes(protowire.AppendTag(b, fieldTypes, protowire.BytesType), list)
	if b = number(b, fieldElements, elements); finalized {
		b = number(b, fieldFinalized, 1)
	}
	return b
}

// writeMetadata puts the message in a directory, at once.
func writeMetadata(dir, run string, message []byte) error {
	name := filepath.Join(dir, metadataName)
	temp := name + "-tmp-" + run
	if err := os.WriteFile(temp, message, 0o644); err != nil {
		return core.FileError(name, err)
	}
	if err := os.Rename(temp, name); err != nil {
		return core.FileError(name, err)
	}
	return nil
}

// reopen says of a run that was complete that it is being written again.
func reopen(dir, run string, types []core.DType) error {
	m, found, err := readMetadata(dir)
	if err != nil || !found || m.run != run || !m.finalized {
		return err
	}
	return writeMetadata(dir, run, metadataOf(run, types, 0, false))
}

// readMetadata returns what a directory's message says, and whether there is one.
func readMetadata(dir string) (m snapshotMetadata, found bool, err error) {
	b, err := core.ReadRegular(filepath.Join(dir, metadataName))
	if errors.Is(err, os.ErrNotExist) {
		return m, false, nil
	}
	if err != nil {
		return m, false, err
	}
	if m = parseMetadata(b); m.damaged {
		return m, true, core.Errorf(core.DataLoss, "Can't parse %s as binary proto", filepath.Join(dir, metadataName))
	}
	return m, true, nil
}

// metadata is what is read of it.
type snapshotMetadata struct {
	run                        string
	created, version, elements int64
	components                 int // of an element, as far as it says; 0: it does not
	finalized, damaged         bool
}

func parseMetadata(b []byte) (m snapshotMetadata) {
	for len(b) > 0 {
		f, typ, n := protowire.ConsumeTag(b)
		if n < 0 {
			m.damaged = true
			return m
		}
		size := protowire.ConsumeFieldValue(f, typ, b[n:])
		if size < 0 {
			m.damaged = true
			return m
		}
		v, _ := protowire.ConsumeVarint(b[n:])
		switch {
		case f == fieldRun && typ == protowire.BytesType:
			s, _ := protowire.ConsumeBytes(b[n:])
			m.run = string(s)
		case f == fieldTypes && typ == protowire.BytesType:
			list, _ := protowire.ConsumeBytes(b[n:])
			m.components += varints(list)
		case f == fieldTypes:
			m.components++
		case f == fieldCreated:
			m.created = int64(v)
		case f == fieldVersion:
			m.version = int64(v)
		case f == fieldElements:
			m.elements = int64(v)
		case f == fieldFinalized:
			m.finalized = v != 0
		}
		b = b[n+size:]
	}
	return m
}

// varints counts the numbers of a packed list.
func varints(b []byte) (n int) {
	for _, c := range b {
		if c < 0x80 { // the last byte of one
			n++
		}
	}
	return n
}
