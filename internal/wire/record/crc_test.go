package record

import (
	"bytes"
	"testing"
)

// The checksums are those of RFC 3720, B.4, and of the check string.
func TestMaskedCRC(t *testing.T) {
	ascending := make([]byte, 32)
	for i := range ascending {
		ascending[i] = byte(i)
	}
	for _, tc := range []struct {
		name string
		data []byte
		crc  uint32
	}{
		{"nothing", nil, 0},
		{"check string", []byte("123456789"), 0xe3069283},
		{"zeros", make([]byte, 32), 0x8a9136aa},
		{"ones", bytes.Repeat([]byte{0xff}, 32), 0x62a8ab43},
		{"ascending", ascending, 0x46dd794e},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if got := ExtendCRC(0, tc.data); got != tc.crc {
				t.Errorf("ExtendCRC = %#08x, want %#08x", got, tc.crc)
			}
			half := len(tc.data) / 2
			if got := ExtendCRC(ExtendCRC(0, tc.data[:half]), tc.data[half:]); got != tc.crc {
				t.Errorf("in two parts = %#08x, want %#08x", got, tc.crc)
			}
			if got := Unmask(MaskedCRC(tc.data)); got != tc.crc {
				t.Errorf("Unmask(MaskedCRC) = %#08x, want %#08x", got, tc.crc)
			}
		})
	}
}

func TestMask(t *testing.T) {
	for crc, want := range map[uint32]uint32{
		0xe3069283: 0xc78ab0e5, // of "123456789"
		0:          0xa282ead8,
		0x8000:     0xa282ead9, // bit 15 becomes bit 0
		0x00000001: 0xa284ead8, // bit 0 becomes bit 17
	} {
		if got := Mask(crc); got != want {
			t.Errorf("Mask(%#x) = %#x, want %#x", crc, got, want)
		}
		if got := Unmask(want); got != crc {
			t.Errorf("Unmask(%#x) = %#x, want %#x", want, got, crc)
		}
	}
}
