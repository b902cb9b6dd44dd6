// Package imagefile reads and writes files of images, in pixels without
// tensors: PNG, GIF, BMP and WebP; package jpeg below it does JPEG. What comes
// out is to the bit what TensorFlow makes of a file with libpng, giflib and
// libwebp. None allocates more than the file, or the image it promises, needs.
package imagefile

import "strings"

// A Format is what a file is, by its first bytes.
type Format int

// The formats.
const (
	Unknown Format = iota
	JPEG
	PNG
	GIF
	BMP
	WebP
)

// FormatOf returns the format of a file.
func FormatOf(data string) Format {
	switch {
	case strings.HasPrefix(data, "\xff\xd8\xff"):
		return JPEG
	case strings.HasPrefix(data, pngMagic):
		return PNG
	case strings.HasPrefix(data, "GIF8"):
		return GIF
	case strings.HasPrefix(data, "BM"):
		return BMP
	case len(data) > 12 && strings.HasPrefix(data, "RIFF") && strings.HasPrefix(data[8:], "WEBP"):
		return WebP
	}
	return Unknown
}
