// Package digits reads MNIST: handwritten digits with their labels, of which it
// carries 5,000 with it (see data/README.md).
package digits

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"embed"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
)

//go:embed data/*.gz
var embedded embed.FS

// A Set is a set of labelled images, pixels in [0, 1].
type Set struct {
	Pixels []float32 // [n size*size]
	Labels []int32
	Size   int // height and width of an image
}

// N returns the number of images.
func (d *Set) N() int { return len(d.Labels) }

// Load reads the training and the test set in MNIST's idx format, plain or
// gzipped, from dir, or the embedded ones if dir is empty.
func Load(dir string) (train, test *Set, err error) {
	var files fs.FS
	if dir == "" {
		files, err = fs.Sub(embedded, "data")
	} else {
		files = os.DirFS(dir)
	}
	if err != nil {
		return nil, nil, err
	}
	if train, err = loadSet(files, "train"); err != nil {
		return nil, nil, fmt.Errorf("training set in %q: %w", dir, err)
	}
	if test, err = loadSet(files, "t10k"); err != nil {
		return nil, nil, fmt.Errorf("test set in %q: %w", dir, err)
	}
	return train, test, nil
}

func loadSet(files fs.FS, prefix string) (*Set, error) {
	images, dims, err := readIDX(files, prefix+"-images-idx3-ubyte", 3)
	if err != nil {
		return nil, err
	}
	labels, n, err := readIDX(files, prefix+"-labels-idx1-ubyte", 1)
	if err != nil {
		return nil, err
	}
	if n[0] != dims[0] || dims[1] != dims[2] {
		return nil, fmt.Errorf("images must be square and have a label each: %d images of %dx%d, %d labels", dims[0], dims[1], dims[2], n[0])
	}
	d := &Set{Pixels: make([]float32, len(images)), Labels: make([]int32, len(labels)), Size: dims[1]}
	for i, b := range images {
		d.Pixels[i] = float32(b) / 255
	}
	for i, b := range labels {
		if b > 9 {
			return nil, fmt.Errorf("labels must be 0 to 9, label %d is %d", i, b)
		}
		d.Labels[i] = int32(b)
	}
	return d, nil
}

// readIDX reads an idx file of unsigned bytes of the given rank; it may be
// gzipped, with or without the suffix .gz.
func readIDX(files fs.FS, name string, rank int) (data []byte, dims []int, err error) {
	raw, err := fs.ReadFile(files, name)
	if errors.Is(err, fs.ErrNotExist) {
		raw, err = fs.ReadFile(files, name+".gz")
	}
	if err != nil {
		return nil, nil, err
	}
	r, err := uncompressed(raw)
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", name, err)
	}
	if data, dims, err = parseIDX(r, rank); err != nil {
		return nil, nil, fmt.Errorf("%s: %w", name, err)
	}
	return data, dims, nil
}

func uncompressed(raw []byte) (io.Reader, error) {
	if bytes.HasPrefix(raw, []byte{0x1f, 0x8b}) {
		return gzip.NewReader(bytes.NewReader(raw))
	}
	return bufio.NewReader(bytes.NewReader(raw)), nil
}

// parseIDX reads the header (two zeros, type, rank, sizes) and the elements.
func parseIDX(r io.Reader, rank int) ([]byte, []int, error) {
	const unsignedByte, most = 8, 1 << 28
	head := make([]byte, 4+4*rank)
	if _, err := io.ReadFull(r, head); err != nil {
		return nil, nil, fmt.Errorf("the header ends early: %w", err)
	}
	if head[0] != 0 || head[1] != 0 || head[2] != unsignedByte || int(head[3]) != rank {
		return nil, nil, fmt.Errorf("want an idx file of unsigned bytes of rank %d, the header begins % x", rank, head[:4])
	}
	dims, n := make([]int, rank), 1
	for i := range dims {
		dims[i] = int(binary.BigEndian.Uint32(head[4+4*i:]))
		if dims[i] > most/max(n, 1) {
			return nil, nil, fmt.Errorf("the header promises more than %d bytes", most)
		}
		n *= dims[i]
	}
	data := make([]byte, n)
	if _, err := io.ReadFull(r, data); err != nil {
		return nil, nil, fmt.Errorf("the header promises %d bytes: %w", n, err)
	}
	if more, err := io.Copy(io.Discard, r); err != nil || more > 0 { // a packed file has its checksum there
		return nil, nil, fmt.Errorf("the header promises %d bytes, %d follow (%v)", n, more, err)
	}
	return data, dims, nil
}
