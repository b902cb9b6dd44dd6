package dataset

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/gorge-tf/gorge/tf/core"
)

func write(t testing.TB, text string) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

// none is a default of a type for what must not be missing.
func none(d core.DType) *core.Tensor { return core.NewTensor(d, core.Shape{0}) }

// TestCSV has TensorFlow's errors; each concerns one record.
func TestCSV(t *testing.T) {
	integers := []*core.Tensor{none(core.Int64), vector([]int64{-1})}
	texts := []*core.Tensor{none(core.String), none(core.String)}
	for _, c := range []struct {
		text string
		csv  CSV
		want string
	}{
		{"1,2\r\n3,4\r5,6\n7,", CSV{Defaults: integers}, "[1];[2] [3];[4] [5];[6] [7];[-1]"},
		{"1,NA\n", CSV{Defaults: integers, NA: "NA"}, "[1];[-1]"},
		{"a,b\n1,2", CSV{Defaults: integers, Header: true}, "[1];[2]"},
		{"", CSV{Defaults: integers}, ""},
		{"1,2,3,4\n5,6,7,8\n", CSV{Defaults: integers, Select: []int64{1, 3}}, "[2];[4] [6];[8]"},
		{"1,2,3,4\n", CSV{Defaults: integers, Exclude: []int64{0, 2}}, "[2];[4]"},
		{"1,2,3\n4,5\n", CSV{Defaults: integers}, "Expect 2 fields but have more in record [4];[5]"},
		{"1\n4,5\n", CSV{Defaults: integers}, "Expect 2 fields but have 1 in record [4];[5]"},
		{",5\n4,5\n", CSV{Defaults: integers}, "Field 0 is required but missing in record! [4];[5]"},
		{"x,5\n4,5\n", CSV{Defaults: integers}, "Field 0 in record is not a valid int64: x [4];[5]"},
		{`"a ""b""",c` + "\n" + `d,"e` + "\n" + `f"`, CSV{Defaults: texts, Quotes: true}, "[a \"b\"];[c] [d];[e\nf]"},
		{`"a"b",c` + "\nd,e", CSV{Defaults: texts, Quotes: true}, "Quote inside a string has to be escaped by another quote [d];[e]"},
		{`a"b,c` + "\nd,e", CSV{Defaults: texts, Quotes: true}, "Unquoted fields cannot have quotes inside [d];[e]"},
		{`"a,c`, CSV{Defaults: texts, Quotes: true}, "Reached end of file without closing quoted field in record"},
		{`"a"b,c`, CSV{Defaults: texts, Quotes: true}, "Reached end of file without closing quoted field in record"},
		{`a"b,"c`, CSV{Defaults: texts, Quotes: true}, "Unquoted fields cannot have quotes inside"},
		{`a"b` + "\n1,2\n", CSV{Defaults: texts, Quotes: true, Header: true}, "Can't read header of file [1];[2]"},
		{"x,1\n", CSV{Defaults: []*core.Tensor{none(core.Float64), none(core.Float32)}}, "Field 0 in record is not a valid double: x"},
		{"1,x\n", CSV{Defaults: []*core.Tensor{none(core.Float64), none(core.Float32)}}, "Field 1 in record is not a valid float: x"},
		{`a"b,c`, CSV{Defaults: texts}, `[a"b];[c]`},
	} {
		c.csv.Names, c.csv.Delim, c.csv.Shapes = []string{write(t, c.text)}, ',', []core.Shape{{}, {}}
		d, err := c.csv.Open()
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(words(t, d), " "); got != c.want {
			t.Errorf("%q: got %s, want %s", c.text, got, c.want)
		}
	}
	for _, bad := range []CSV{{Select: []int64{1}, Exclude: []int64{2}}, {Select: []int64{2, 1}}, {Select: []int64{1}}, {Exclude: []int64{2, 2}}, {Select: []int64{-1, 2}}, {Exclude: []int64{-1}}, {Compression: "LZ4"}} {
		bad.Defaults = integers
		if _, err := bad.Open(); core.CodeOf(err) != core.InvalidArgument {
			t.Errorf("%+v: %v", bad, err)
		}
	}
}

// words is all with the words of errors.
func words(t *testing.T, d Dataset) (out []string) {
	t.Helper()
	it := mustIterate(t, d)
	defer it.Close()
	for {
		e, err := it.Next(t.Context())
		switch {
		case err == End:
			return out
		case err != nil:
			out = append(out, core.AsError(err).Message())
		default:
			out = append(out, show(t, e))
		}
	}
}

// TestCSVFromAnyBuffer: records and errors do not depend on how much of a file a buffer
// holds. A buffer that gets one byte at a time never has more for a field.
func TestCSVFromAnyBuffer(t *testing.T) {
	const often = "aaaa111,,\"\"\r\n\n \xff"
	random := rand.New(rand.NewPCG(1, 2))
	for n := range 3000 {
		text := make([]byte, random.IntN(80))
		for i := range text {
			text[i] = often[random.IntN(len(often))]
		}
		c := &CSV{Delim: ',', Quotes: n%2 == 0, Header: n%3 == 0, NA: "a", Defaults: []*core.Tensor{none(core.String), vector([]int64{-1})}}
		want := csvRecords(t, newCSVReader(c, bufio.NewReader(iotest.OneByteReader(bytes.NewReader(text)))))
		for _, size := range []int{16, 17, 23, 4096} {
			if got := csvRecords(t, newCSVReader(c, bufio.NewReaderSize(bytes.NewReader(text), size))); !slices.Equal(got, want) {
				t.Fatalf("%q by a buffer of %d bytes:\n%q, want\n%q", text, size, got, want)
			}
		}
	}
}

// csvRecords returns the records, and the errors with their places.
func csvRecords(t *testing.T, c *csvReader) (out []string) {
	t.Helper()
	for {
		e, err := c.next()
		switch {
		case errors.Is(err, io.EOF):
			return out
		case err != nil:
			if out = append(out, core.AsError(err).Plain+err.Error()); len(out) > 1000 {
				t.Fatal("there is no end")
			}
		default:
			out = append(out, show(t, e))
		}
	}
}

// FuzzCSV reads any bytes: records have as many fields as there are defaults,
// and reading comes to an end.
func FuzzCSV(f *testing.F) {
	f.Add([]byte("1,\"2\"\r\n3,4"), true)
	f.Add([]byte("\"a\"b,c\n"), false)
	f.Fuzz(func(t *testing.T, text []byte, header bool) {
		c := CSV{Names: []string{write(t, string(text))}, Delim: ',', Quotes: true, Header: header, Defaults: []*core.Tensor{none(core.String), vector([]int64{0})}, Shapes: []core.Shape{{}, {}}}
		d, err := c.Open()
		if err != nil {
			t.Fatal(err)
		}
		it := mustIterate(t, d)
		defer it.Close()
		for n := 0; ; n++ {
			e, err := it.Next(t.Context())
			if err == End {
				return
			}
			if err == nil && len(e) != 2 || n > len(text)+1 {
				t.Fatalf("record %d has %d fields", n, len(e))
			}
		}
	})
}

func TestMatchingFiles(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"b.txt", "a.txt", "c.go"} {
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want := fmt.Sprint([]string{fmt.Sprint([]string{dir + "/a.txt"}), fmt.Sprint([]string{dir + "/b.txt"})})
	if got := fmt.Sprint(all(t, Matching([]string{dir + "/*.txt", dir + "/a*"}))); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if _, err := Matching([]string{dir + "/nothing*"}).Iterate(); core.CodeOf(err) != core.NotFound {
		t.Error(err)
	}
}
