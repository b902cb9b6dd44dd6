//go:build !noasm

package tiles

import (
	"testing"

	"github.com/gorge-tf/gorge/internal/kernel"
	"github.com/gorge-tf/gorge/internal/kernel/kerneltest"
)

func TestDataCaches(t *testing.T) {
	c := DataCaches()
	if c.First < 8<<10 || c.First > 1<<20 || c.Second < c.First || c.Second > 64<<20 {
		t.Errorf("caches of %+v bytes", c)
	}
}

func TestPackers(t *testing.T) {
	const k, lds, ldd = 37, 50, 16
	for n := 1; n <= 16; n++ {
		src := kerneltest.Random[float32](lds*k, 1)
		for name, p := range map[string]Packer[float32]{"portable": PortablePacker[float32](), "avx512": PackerAVX512} {
			if name == "avx512" && kernel.Levels()[0] != kernel.AVX512 {
				continue
			}
			rows, cols := make([]float32, (k+16)*ldd), make([]float32, (k+16)*ldd)
			p.Rows(n, k, src, lds, rows, ldd)
			p.Cols(n, k, src, lds, cols, ldd)
			for i := range k {
				for j := range n {
					if rows[i*ldd+j] != src[j*lds+i] || cols[i*ldd+j] != src[i*lds+j] {
						t.Fatalf("%s: %d rows or columns, element %d,%d", name, n, i, j)
					}
				}
			}
		}
	}
}
