package tf

import (
	"maps"
	"slices"
	"strings"

	"github.com/gorge-tf/gorge/tf/core"
)

// Types, shapes, devices and errors are those of package core, where the
// engine and the authors of operations have them from: the names here are
// other names of the same things.
type (
	// A DType is the element type of a tensor: see [core.DType].
	DType = core.DType
	// A Shape is a list of sizes, -1 where one is not known; the nil Shape is
	// one of which nothing is known. See [core.Shape].
	Shape = core.Shape
	// A DeviceSpec names devices: "/job:ps/task:0/device:CPU:0". See
	// [core.DeviceSpec].
	DeviceSpec = core.DeviceSpec
	// An Error says what is wrong, where the program wrote it, and has one of
	// the canonical codes. See [core.Error].
	Error = core.Error
	// A Code is one of TensorFlow's canonical error codes.
	Code = core.Code
	// Half is the Go type of Float16 elements: the 16 bits of the number.
	Half = core.Half
	// BF16 is the Go type of BFloat16 elements.
	BF16 = core.BF16
	// Elem is the set of Go types that elements of tensors have.
	Elem = core.Elem
)

// The element types.
const (
	Invalid           = core.Invalid
	Float32           = core.Float32
	Float64           = core.Float64
	Int32             = core.Int32
	Uint8             = core.Uint8
	Int16             = core.Int16
	Int8              = core.Int8
	String            = core.String
	Complex64         = core.Complex64
	Int64             = core.Int64
	Bool              = core.Bool
	QInt8             = core.QInt8
	QUint8            = core.QUint8
	QInt32            = core.QInt32
	BFloat16          = core.BFloat16
	QInt16            = core.QInt16
	QUint16           = core.QUint16
	Uint16            = core.Uint16
	Complex128        = core.Complex128
	Float16           = core.Float16
	Resource          = core.Resource
	Variant           = core.Variant
	Uint32            = core.Uint32
	Uint64            = core.Uint64
	Float8E5M2        = core.Float8E5M2
	Float8E4M3        = core.Float8E4M3
	Int4              = core.Int4
	Uint4             = core.Uint4
	Float8E4M3FNUZ    = core.Float8E4M3FNUZ
	Float8E4M3B11FNUZ = core.Float8E4M3B11FNUZ
	Float8E5M2FNUZ    = core.Float8E5M2FNUZ
	Int2              = core.Int2
	Uint2             = core.Uint2
	Float4E2M1FN      = core.Float4E2M1FN
)

// The canonical codes.
const (
	OK                 = core.OK
	Canceled           = core.Canceled
	Unknown            = core.Unknown
	InvalidArgument    = core.InvalidArgument
	DeadlineExceeded   = core.DeadlineExceeded
	NotFound           = core.NotFound
	AlreadyExists      = core.AlreadyExists
	PermissionDenied   = core.PermissionDenied
	ResourceExhausted  = core.ResourceExhausted
	FailedPrecondition = core.FailedPrecondition
	Aborted            = core.Aborted
	OutOfRange         = core.OutOfRange
	Unimplemented      = core.Unimplemented
	Internal           = core.Internal
	Unavailable        = core.Unavailable
	DataLoss           = core.DataLoss
	Unauthenticated    = core.Unauthenticated
)

// AnyDevice leaves all open.
var AnyDevice = core.AnyDevice

// TypeOf returns the DType whose elements are of Go type T.
func TypeOf[T Elem]() DType { return core.TypeOf[T]() }

// DTypeByName returns the type of a name: TensorFlow's in Python or in C++.
func DTypeByName(name string) (DType, bool) { return core.DTypeByName(name) }

// ParseDevice reads a device's name or a part of one. The types CPU and GPU may be written
// in small letters.
func ParseDevice(s string) (DeviceSpec, error) {
	d, err := core.ParseDevice(s)
	if large := strings.ToUpper(d.Type); large == "CPU" || large == "GPU" {
		d.Type = large
	}
	return d, err
}

// BroadcastShapes returns the shape that operands of shapes s and t have
// together, and whether they fit.
func BroadcastShapes(s, t Shape) (Shape, bool) { return core.BroadcastShapes(s, t) }

// Errorf returns an Error of the given code. What the format takes by %w is its
// cause, as with fmt.Errorf.
func Errorf(c Code, format string, args ...any) error { return core.Errorf(c, format, args...) }

// CodeOf returns the canonical code of err: OK for nil, Unknown for an error
// that says nothing of codes.
func CodeOf(err error) Code { return core.CodeOf(err) }

// AsError returns err as an *Error, wrapping it when it is none.
func AsError(err error) *Error { return core.AsError(err) }

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
