package resource

import (
	"fmt"
	"strings"
	"testing"
)

// TestTypeHashes has what TensorFlow 2.21 shows in its messages.
func TestTypeHashes(t *testing.T) {
	for _, tc := range []struct {
		name, mangled string
		hash          uint64
	}{
		{"tensorflow::Var", "N10tensorflow3VarE", 17454915466513971685},
		{"tensorflow::QueueInterface", "N10tensorflow14QueueInterfaceE", 9040823170352039474},
		{"tensorflow::lookup::LookupInterface", "N10tensorflow6lookup15LookupInterfaceE", 8115731599990610490},
	} {
		got := newType(tc.name)
		if got.mangled != tc.mangled || got.Hash != tc.hash {
			t.Errorf("%s: %s, hash %d\nwant %s, hash %d", tc.name, got.mangled, got.Hash, tc.mangled, tc.hash)
		}
	}
	if got := mangle("Plain"); got != "5Plain" {
		t.Errorf("a name without a namespace is mangled to %q", got)
	}
}

func TestCheck(t *testing.T) {
	v := TypeOf[*variable]()
	if err := Check[*variable]("v", v.Hash, v.Name); err != nil {
		t.Fatal(err)
	}
	wantError(t, Check[sizer]("v", v.Hash, v.Name), InvalidArgument,
		"Trying to access a handle's resource using the wrong type. The handle points to a resource (name 'v') of type 'tensorflow::Var' "+
			"(hash code 17454915466513971685) but you are trying to access the resource as type 'tensorflow::QueueInterface' (hash code 9040823170352039474)")
}

func TestUndeclaredTypesAreToldApart(t *testing.T) {
	m := NewManager("localhost")
	mustCreate(t, m, "", "x", 1)
	mustCreate(t, m, "", "x", "one")
	mustCreate(t, m, "", "x", &strings.Builder{})
	if n, err := Lookup[int](m, "", "x"); n != 1 || err != nil {
		t.Fatal(n, err)
	}
	if got := TypeOf[*strings.Builder]().Name; got != "*strings.Builder" {
		t.Fatalf("name %q", got)
	}
	if got, here := TypeOf[*counted]().Name, "/internal/resource.counted"; !strings.HasSuffix(got, here) {
		t.Fatalf("name %q does not end in %s", got, here)
	}
}

// TestTypesOfOneName has two local types, which Go cannot tell apart by name.
func TestTypesOfOneName(t *testing.T) {
	m := NewManager("localhost")
	func() {
		type local struct{ a int }
		mustCreate(t, m, "", "x", local{1})
	}()
	type local struct{ _ string }
	_, err := Lookup[local](m, "", "x")
	wantError(t, err, InvalidArgument, "Resource localhost/x is a resource.local, which shares the type name "+
		TypeOf[local]().Name+" with what was asked for")
}

func TestDeclareRefusesSecondNames(t *testing.T) {
	for want, declare := range map[string]func(){
		`it is "tensorflow::Var" already`:    func() { Declare[*variable]("tensorflow::Other") },
		"that is *resource.variable already": func() { Declare[float64]("tensorflow::Var") },
	} {
		func() {
			defer func() {
				if got := fmt.Sprint(recover()); !strings.Contains(got, want) {
					t.Errorf("panic %q, want one about %q", got, want)
				}
			}()
			declare()
		}()
	}
}

func TestKindNames(t *testing.T) {
	for k, want := range map[Kind]string{
		NotFound: "NOT_FOUND", AlreadyExists: "ALREADY_EXISTS", InvalidArgument: "INVALID_ARGUMENT", 9: "Kind(9)",
	} {
		if got := k.String(); got != want {
			t.Errorf("%d is %q, want %q", int(k), got, want)
		}
	}
}

// FuzzHash64 compares with the textbook form of the hash, byte by byte.
func FuzzHash64(f *testing.F) {
	f.Add([]byte("N10tensorflow3VarE"))
	f.Add([]byte{})
	f.Add([]byte("12345678"))
	f.Fuzz(func(t *testing.T, b []byte) {
		if got, want := hash64(b), textbookMurmur(b); got != want {
			t.Fatalf("hash of %q is %d, want %d", b, got, want)
		}
	})
}

func textbookMurmur(b []byte) uint64 {
	const m, r = uint64(0xc6a4a7935bd1e995), 47
	h := uint64(0xDECAFCAFFE) ^ (uint64(len(b)) * m)
	n := len(b) / 8
	for i := range n {
		var k uint64
		for j := 7; j >= 0; j-- {
			k = k<<8 | uint64(b[8*i+j])
		}
		k *= m
		k ^= k >> r
		k *= m
		h ^= k
		h *= m
	}
	tail := b[8*n:]
	for j := len(tail) - 1; j >= 0; j-- {
		h ^= uint64(tail[j]) << (8 * j)
	}
	if len(tail) > 0 {
		h *= m
	}
	h ^= h >> r
	h *= m
	h ^= h >> r
	return h
}
