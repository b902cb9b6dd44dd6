package savedmodel

import (
	"errors"
	"io/fs"
	"path/filepath"

	"google.golang.org/protobuf/encoding/prototext"
	"google.golang.org/protobuf/proto"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/pb"
)

// The names in a SavedModel's directory.
const (
	binaryFile      = "saved_model.pb"
	textFile        = "saved_model.pbtxt"
	chunkedFile     = "saved_model.cpb"
	variablesPrefix = "variables/variables"
	assetsDir       = "assets"
	fingerprintFile = "fingerprint.pb"
)

// schemaVersion is the only version of a SavedModel that there is.
const schemaVersion = 1

// Read returns what saved_model.pb, or else saved_model.pbtxt or saved_model.cpb,
// says in a directory. It fails with NotFound if there is none of them, and with
// DataLoss if the file is not a SavedModel.
func Read(dir string) (*pb.SavedModel, error) { return read(dir, readBinary) }

// read is Read that reads saved_model.pb by a function.
func read(dir string, binary func(dir, name string) (*pb.SavedModel, error)) (*pb.SavedModel, error) {
	dir = core.LocalPath(dir)
	for _, f := range []struct {
		name  string
		parse func(dir, name string) (*pb.SavedModel, error)
	}{{binaryFile, binary}, {textFile, readText}, {chunkedFile, readChunked}} {
		name := filepath.Join(dir, f.name)
		m, err := f.parse(dir, name)
		switch {
		case err == nil:
			return m, checkSchema(name, m)
		case !errors.Is(err, fs.ErrNotExist):
			return nil, err
		}
	}
	return nil, tf.Errorf(tf.NotFound, "Could not find SavedModel .pb or .pbtxt at supplied export directory path: %s. Check that the directory exists and that you have the right permissions for accessing it.", dir)
}

// readFile reads a file; an error is the canonical one, which wraps the system's.
func readFile(name string) ([]byte, error) {
	return core.ReadRegular(name)
}

func readText(_, name string) (*pb.SavedModel, error) {
	data, err := readFile(name)
	if err != nil {
		return nil, err
	}
	m := &pb.SavedModel{}
	if err := (prototext.UnmarshalOptions{Resolver: pb.Resolver}).Unmarshal(data, m); err != nil {
		return nil, tf.Errorf(tf.DataLoss, "Can't parse %s as text proto: %v", name, err)
	}
	return m, nil
}

func checkSchema(name string, m *pb.SavedModel) error {
	if len(m.GetMetaGraphs()) == 0 {
		return tf.Errorf(tf.DataLoss, "a SavedModel must hold a MetaGraph, %s holds none", name)
	}
	if v := m.GetSavedModelSchemaVersion(); v > schemaVersion {
		return tf.Errorf(tf.Unimplemented, "the schema of a SavedModel must have version %d, that of %s has version %d", schemaVersion, name, v)
	}
	return nil
}

// Fingerprint returns what fingerprint.pb says in a directory: numbers that
// identify the model. It fails with NotFound for a model of a TensorFlow before
// 2.11, which wrote none.
func Fingerprint(dir string) (*pb.FingerprintDef, error) {
	name := filepath.Join(core.LocalPath(dir), fingerprintFile)
	data, err := readFile(name)
	if err != nil {
		return nil, err
	}
	f := &pb.FingerprintDef{}
	if err := proto.Unmarshal(data, f); err != nil {
		return nil, tf.Errorf(tf.DataLoss, "Can't parse %s as binary proto: %v", name, err)
	}
	return f, nil
}
