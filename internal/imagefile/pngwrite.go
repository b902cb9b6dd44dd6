package imagefile

import (
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"hash/crc32"

	"github.com/gorge-tf/gorge/internal/memory"
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
	above, step := memory.Make[byte](line), line/width
	for y := range height {
		row := data[y*line : (y+1)*line]
		z.Write(filtered(row, above, step)) // writing to a buffer cannot fail
		above = row
	}
	z.Close()
	head := binary.BigEndian.AppendUint32(nil, uint32(width))
	head = append(binary.BigEndian.AppendUint32(head, uint32(height)), depth, kind, 0, 0, 0)
	out := appendChunk([]byte(pngMagic), "IHDR", head)
	out = appendChunk(out, "IDAT", packed.Bytes())
	return string(appendChunk(out, "IEND", nil)), nil
}

// filtered returns a row with the filter, after its number, that leaves the least
// differences: they are packed best.
func filtered(row, above []byte, step int) (best []byte) {
	least := -1
	for kind := range 5 {
		out, sum := []byte{byte(kind)}, 0
		for i, v := range row {
			left, corner := 0, 0
			if i >= step {
				left, corner = int(row[i-step]), int(above[i-step])
			}
			up := int(above[i])
			v -= [...]byte{0, byte(left), byte(up), byte((left + up) / 2), paeth(left, up, corner)}[kind]
			out = append(out, v)
			sum += abs(int(int8(v)))
		}
		if least < 0 || sum < least {
			best, least = out, sum
		}
	}
	return best
}

// appendChunk appends a part of a PNG file.
func appendChunk(out []byte, kind string, data []byte) []byte {
	out = binary.BigEndian.AppendUint32(out, uint32(len(data)))
	body := len(out)
	out = append(append(out, kind...), data...)
	return binary.BigEndian.AppendUint32(out, crc32.ChecksumIEEE(out[body:]))
}
