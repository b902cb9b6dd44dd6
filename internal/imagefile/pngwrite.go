package imagefile

import (
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"hash/crc32"
)

// EncodePNG returns the PNG file of an image of 1 to 4 channels whose samples,
// of 1 or 2 bytes, are in data, compressed at a level of zlib's.
func EncodePNG(data []byte, height, width, channels, level int) (string, error) {
	if height <= 0 || width <= 0 || height > pngMaxSize || width > pngMaxSize {
		return "", errPNG
	}
	depth := byte(8 * len(data) / (height * width * channels))
	kind := [...]byte{1: pngGray, 2: pngGrayAlpha, 3: pngRGB, 4: pngRGBAlpha}[channels]
	var packed bytes.Buffer
	z, err := zlib.NewWriterLevel(&packed, level)
	if err != nil {
		return "", err
	}
	line := len(data) / height
	for y := range height {
		z.Write([]byte{0}) // no filter; writing to a buffer cannot fail
		z.Write(data[y*line : (y+1)*line])
	}
	z.Close()
	head := binary.BigEndian.AppendUint32(nil, uint32(width))
	head = append(binary.BigEndian.AppendUint32(head, uint32(height)), depth, kind, 0, 0, 0)
	out := appendChunk([]byte(pngMagic), "IHDR", head)
	out = appendChunk(out, "IDAT", packed.Bytes())
	return string(appendChunk(out, "IEND", nil)), nil
}

// appendChunk appends a part of a PNG file.
func appendChunk(out []byte, kind string, data []byte) []byte {
	out = binary.BigEndian.AppendUint32(out, uint32(len(data)))
	body := len(out)
	out = append(append(out, kind...), data...)
	return binary.BigEndian.AppendUint32(out, crc32.ChecksumIEEE(out[body:]))
}
