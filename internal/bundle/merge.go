package bundle

import (
	"google.golang.org/protobuf/proto"

	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/pb"
)

// Merge makes the bundles of the given prefixes one, whose data files are theirs
// under new names. Slices of a tensor may lie in several bundles; apart from
// that, keys must differ. With allowMissing, prefixes without a bundle are left
// out, but for one at least.
func Merge(prefixes []string, dest string, allowMissing bool) error {
	dest = core.LocalPath(dest)
	if err := makeDir(dest); err != nil {
		return err
	}
	m := &merger{entries: map[string]*pb.BundleEntryProto{}, shards: map[string]int32{}}
	for _, p := range prefixes {
		err := m.add(core.LocalPath(p))
		if core.CodeOf(err) == core.NotFound {
			if allowMissing {
				continue
			}
			return core.Errorf(core.InvalidArgument, "allow_missing_files was set to false and %s did not exist.NOT_FOUND: %s not found", p, p)
		}
		if err != nil {
			return err
		}
	}
	if m.header == nil {
		return core.Errorf(core.InvalidArgument, "At least one prefix checkpoint file must exist, but none existed.")
	}
	if err := m.finish(prefixes, dest); err != nil {
		return err
	}
	retire(dest)
	return nil
}

// A merger collects the entries of bundles.
type merger struct {
	header  *pb.BundleHeaderProto
	entries map[string]*pb.BundleEntryProto
	shards  map[string]int32 // by data file: its number to be
	files   []string         // in that order
}

func (m *merger) add(prefix string) error {
	index, err := openFile(indexName(prefix))
	if err != nil {
		return err
	}
	defer index.Close()
	t, err := openTable(index, index.size)
	if err != nil {
		return inFile(index.name, err)
	}
	h, err := header(t, index.name)
	if err != nil {
		return err
	}
	if err := m.agree(h); err != nil {
		return err
	}
	return t.each(func(key string, value []byte) error {
		if key == "" {
			return nil
		}
		p := &pb.BundleEntryProto{}
		if proto.Unmarshal(value, p) != nil {
			return core.Errorf(core.DataLoss, "Entry for key %s not parseable.", key)
		}
		if have := m.entries[key]; have != nil {
			return join(key, prefix, have, p)
		}
		m.entries[key] = p
		if len(p.GetSlices()) == 0 {
			p.ShardId = m.shard(dataName(prefix, int(p.GetShardId()), int(h.GetNumShards())))
		}
		return nil
	})
}

// agree checks that all bundles have one format.
func (m *merger) agree(h *pb.BundleHeaderProto) error {
	switch {
	case m.header == nil:
		m.header = h
	case m.header.GetEndianness() != h.GetEndianness():
		return core.Errorf(core.InvalidArgument, "Merging bundles with conflicting endianness; inputs corrupted?")
	case !proto.Equal(m.header.GetVersion(), h.GetVersion()):
		return core.Errorf(core.InvalidArgument, "Merging bundles with different format versions: merged %v vs. curr %v", m.header.GetVersion(), h.GetVersion())
	}
	return nil
}

// join adds slices of a tensor to those that there are.
func join(key, prefix string, have, more *pb.BundleEntryProto) error {
	switch {
	case len(have.GetSlices()) == 0:
		return core.Errorf(core.InvalidArgument, "Duplicate tensor keyed by %s encountered, when merging prefix: %s", key, prefix)
	case len(more.GetSlices()) == 0:
		return core.Errorf(core.Internal, "Duplicate tensor keyed by %s; attempting to merge in a non-slice bundle entry", key)
	case have.GetDtype() != more.GetDtype() || !proto.Equal(have.GetShape(), more.GetShape()):
		return core.Errorf(core.InvalidArgument, "slices of tensor %s must all be of one type and of one shape", key)
	}
	have.Slices = append(have.Slices, more.GetSlices()...)
	return nil
}

// shard returns the number that a data file gets.
func (m *merger) shard(file string) int32 {
	n, ok := m.shards[file]
	if !ok {
		n = int32(len(m.files))
		m.shards[file] = n
		m.files = append(m.files, file)
	}
	return n
}

// finish renames the data, to names that no bundle of dest has, and replaces the
// indexes by one. The first file, which comes first and goes last, stays marked while that
// lasts; the others need no mark, of which each would be an open file.
func (m *merger) finish(prefixes []string, dest string) error {
	if len(m.files) > 0 {
		defer hold(m.files[0])()
	}
	shards, err := claimGeneration(dest, max(len(m.files), 1), func(n int) error {
		if len(m.files) == 0 {
			return nil
		}
		return claim(m.files[0], dataName(dest, 0, n))
	})
	if err != nil {
		return err
	}
	if err := m.place(dest, shards); err != nil {
		m.putBack(dest, shards)
		return err
	}
	for _, p := range prefixes {
		if p = core.LocalPath(p); p != dest {
			_ = storage.remove(indexName(p)) // what is left does no harm
		}
	}
	return nil
}

// putBack gives the data its old names again, so that the bundles are as they were and the
// merge can be tried once more. A name that another writer has taken meanwhile is its own.
func (m *merger) putBack(dest string, shards int) {
	for i := len(m.files) - 1; i >= 0; i-- {
		name := dataName(dest, i, shards)
		if claim(name, m.files[i]) != nil {
			_ = storage.remove(name)
		}
	}
}

// place renames the data but for the first file, and writes the index.
func (m *merger) place(dest string, shards int) error {
	for i, f := range m.files {
		if i == 0 {
			continue
		}
		if err := storage.rename(f, dataName(dest, i, shards)); err != nil {
			return core.FileError(f, err)
		}
	}
	m.header.NumShards = int32(shards)
	return writeIndex(dest, m.header, m.entries)
}
