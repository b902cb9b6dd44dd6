package hash

import "testing"

// TestSipHash takes the first 16 test vectors of the reference implementation: the bytes
// 0, 1, 2 and so on, from none to 15 of them, under the key of such bytes.
func TestSipHash(t *testing.T) {
	text := ""
	for i, want := range []uint64{
		0x726fdb47dd0e0e31, 0x74f839c593dc67fd, 0x0d6c8009d9a94f5a, 0x85676696d7fb7e2d, 0xcf2794e0277187b7, 0x18765564cd99a68d, 0xcbc9466e58fee3ce, 0xab0200f58b01d137,
		0x93f5f5799a932462, 0x9e0082df0ba9e4b0, 0x7a5dbbc594ddb9f3, 0xf4b32f46226bada7, 0x751e8fbc860ee5fb, 0x14ea5627c0843d90, 0xf723ca908e7af2ee, 0xa129ca6149be45e5,
	} {
		if got := SipHash(text, 0x0706050403020100, 0x0f0e0d0c0b0a0908); got != want {
			t.Errorf("%d bytes: got %#x, want %#x", i, got, want)
		}
		text += string(rune(i))
	}
}
