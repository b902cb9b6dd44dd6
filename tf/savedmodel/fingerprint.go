package savedmodel

import (
	"crypto/rand"
	"errors"
	"io/fs"
	"math/big"
	"path/filepath"

	"google.golang.org/protobuf/proto"

	"github.com/gorge-tf/gorge/internal/hash"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/pb"
)

// fingerprintProducer is the version of fingerprints that TensorFlow 2.21 writes.
const fingerprintProducer = 4

// writeFingerprint writes numbers that identify the model whose saved_model.pb is
// data. TensorFlow's hashes of graphs are of a form that only its own code makes:
// ours are of the messages as they are written.
func writeFingerprint(dir string, data []byte, mg *pb.MetaGraphDef) error {
	f := &pb.FingerprintDef{SavedModelChecksum: hash.Fingerprint64(string(data)), Version: &pb.VersionDef{Producer: fingerprintProducer}}
	var err error
	if f.GraphDefProgramHash, err = hashOf(mg.GetGraphDef()); err != nil {
		return err
	}
	signatures := &pb.MetaGraphDef{SignatureDef: mg.GetSignatureDef()}
	if f.SignatureDefHash, err = hashOf(signatures); err != nil {
		return err
	}
	index, err := core.ReadRegular(filepath.Join(dir, filepath.FromSlash(variablesPrefix)+".index"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err == nil {
		f.CheckpointHash = hash.Fingerprint64(string(index))
	}
	var id [16]byte
	rand.Read(id[:]) // never fails
	f.Uuid = new(big.Int).SetBytes(id[:]).String()
	out, err := proto.Marshal(f)
	if err != nil {
		return err
	}
	return writeFile(filepath.Join(dir, fingerprintFile), out)
}

// hashOf returns the hash of a message in binary form.
func hashOf(m proto.Message) (uint64, error) {
	b, err := proto.MarshalOptions{Deterministic: true}.Marshal(m)
	return hash.Fingerprint64(string(b)), err
}
