package record

import "hash/crc32"

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// maskDelta is added to the rotated checksum.
const maskDelta = 0xa282ead8

// Mask turns a checksum into the form that is stored. The checksum of bytes
// that contain their own checksum is weak; masking avoids storing one as such.
func Mask(crc uint32) uint32 {
	return (crc>>15 | crc<<17) + maskDelta
}

// Unmask is the inverse of Mask.
func Unmask(masked uint32) uint32 {
	rotated := masked - maskDelta
	return rotated>>17 | rotated<<15
}

// ExtendCRC returns the checksum of some bytes followed by data, given the
// checksum of the former; 0 is the checksum of no bytes.
func ExtendCRC(crc uint32, data []byte) uint32 {
	return crc32.Update(crc, castagnoli, data)
}

// MaskedCRC returns the masked CRC-32C of data.
func MaskedCRC(data []byte) uint32 {
	return Mask(ExtendCRC(0, data))
}
