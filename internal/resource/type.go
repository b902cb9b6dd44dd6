package resource

import (
	"encoding/binary"
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"sync"
)

// types has every type that was declared or used.
var types sync.Map // reflect.Type → *Type

// declared has the Go type behind every declared name.
var declared sync.Map // string → reflect.Type

// Type is how handles and messages name the Go type of a resource. Names are
// those of TensorFlow's C++ classes, so that handles look the same whichever
// side of a cluster made them.
type Type struct {
	// Name is the readable name, such as "tensorflow::Var".
	Name string
	// Hash is the number that handles carry.
	Hash uint64

	mangled string // the name that messages show
}

// unknownType stands in messages for a type that only its hash is known of.
const unknownType = "<unknown>"

// Declare names the Go type T, which may be an interface that several kinds of
// objects are stored under. It is for package initialization, and panics when
// the name is another type's, or T has a name already or was used without one.
func Declare[T any](name string) *Type {
	goType := reflect.TypeFor[T]()
	if other, taken := declared.LoadOrStore(name, goType); taken {
		panic(fmt.Sprintf("resource: type %v cannot be declared as %q: that is %v already", goType, name, other))
	}
	t, taken := types.LoadOrStore(goType, newType(name))
	if taken {
		declared.Delete(name) // a refused declaration takes no name
		panic(fmt.Sprintf("resource: type %v cannot be declared as %q: it is %q already", goType, name, t.(*Type).Name))
	}
	return t.(*Type)
}

// TypeOf returns the type that T was declared as, or one with T's Go name.
func TypeOf[T any]() *Type {
	goType := reflect.TypeFor[T]()
	if t, ok := types.Load(goType); ok {
		return t.(*Type)
	}
	t, _ := types.LoadOrStore(goType, newType(goName(goType)))
	return t.(*Type)
}

// goName is the name of a Go type with its whole import path, without which two
// packages of one name would share resources.
func goName(t reflect.Type) string {
	switch {
	case t.Name() != "" && t.PkgPath() != "":
		return t.PkgPath() + "." + t.Name()
	case t.Kind() == reflect.Pointer:
		return "*" + goName(t.Elem())
	}
	return t.String()
}

// Check says whether a handle with this name, type hash and type name points to
// a T.
func Check[T any](name string, typeHash uint64, typeName string) error {
	t := TypeOf[T]()
	if t.Hash == typeHash {
		return nil
	}
	return errorf(InvalidArgument, "Trying to access a handle's resource using the wrong type. "+
		"The handle points to a resource (name '%s') of type '%s' (hash code %d) but you are trying to access the resource as type '%s' (hash code %d)",
		name, typeName, typeHash, t.Name, t.Hash)
}

func newType(name string) *Type {
	m := mangle(name)
	return &Type{Name: name, Hash: hash64([]byte(m)), mangled: m}
}

// mangle spells a C++ class name as compilers spell it in object files, which
// is the form that messages and hashes are made from.
func mangle(name string) string {
	parts := strings.Split(name, "::")
	for i, p := range parts {
		parts[i] = strconv.Itoa(len(p)) + p
	}
	if len(parts) == 1 {
		return parts[0]
	}
	return "N" + strings.Join(parts, "") + "E"
}

// hash64 is MurmurHash64A with the seed of TensorFlow's Hash64.
func hash64(b []byte) uint64 {
	const (
		seed  = 0xDECAFCAFFE
		mul   = 0xc6a4a7935bd1e995
		shift = 47
	)
	h := seed ^ uint64(len(b))*mul
	for ; len(b) >= 8; b = b[8:] {
		k := binary.LittleEndian.Uint64(b) * mul
		h = (h ^ (k^k>>shift)*mul) * mul
	}
	if len(b) > 0 {
		var tail [8]byte
		copy(tail[:], b)
		h = (h ^ binary.LittleEndian.Uint64(tail[:])) * mul
	}
	h = (h ^ h>>shift) * mul
	return h ^ h>>shift
}
