package kerneltest

import "github.com/gorge-tf/gorge/internal/kernel/sliding"

// Images says what a convolution of images has beside its window.
type Images struct {
	sliding.Window
	Batch, InC, OutC, Groups int
}

// EachProduct calls f for every product of a convolution: the positions of a
// result, an image's element and a filter's.
func (v *Images) EachProduct(f func(y, x, w int)) {
	groupC, groupOut := v.InC/v.Groups, v.OutC/v.Groups
	outer := []int{v.Batch, v.Out[0], v.Out[1], v.Out[2], v.OutC, v.Kernel[0], v.Kernel[1], v.Kernel[2], groupC}
	EachIndex(outer, func(_ int, at []int) {
		p := at[0]
		for i := range 3 {
			pos := at[1+i]*v.Stride[i] - v.Pad[i] + at[5+i]*v.Dilation[i]
			if pos < 0 || pos >= v.In[i] {
				return
			}
			p = p*v.In[i] + pos
		}
		y := (((at[0]*v.Out[0]+at[1])*v.Out[1]+at[2])*v.Out[2]+at[3])*v.OutC + at[4]
		w := (((at[5]*v.Kernel[1]+at[6])*v.Kernel[2]+at[7])*groupC+at[8])*v.OutC + at[4]
		f(y, p*v.InC+at[4]/groupOut*groupC+at[8], w)
	})
}

// NewImages describes a convolution with the same padding on both sides.
func NewImages(batch, in, out, groups int, size, kernel, stride, dilation, pad [3]int) *Images {
	v := &Images{Batch: batch, InC: in, OutC: out, Groups: groups}
	v.In, v.Kernel, v.Stride, v.Dilation, v.Pad = size, kernel, stride, dilation, pad
	for i := range 3 {
		v.Out[i] = (size[i]+2*pad[i]-(kernel[i]-1)*dilation[i]-1)/stride[i] + 1
	}
	return v
}

// Windows are convolutions of every kind.
func Windows() map[string]*Images {
	one := [3]int{1, 1, 1}
	return map[string]*Images{
		"pointwise":        NewImages(2, 5, 7, 1, [3]int{1, 4, 3}, one, one, one, [3]int{}),
		"narrow":           NewImages(2, 1, 8, 1, [3]int{1, 9, 7}, [3]int{1, 5, 5}, one, one, [3]int{0, 2, 2}),
		"thin, dilated":    NewImages(2, 1, 3, 1, [3]int{1, 8, 9}, [3]int{1, 3, 4}, [3]int{1, 2, 1}, [3]int{1, 1, 2}, [3]int{0, 1, 3}),
		"thin, far out":    NewImages(1, 1, 3, 1, [3]int{2, 3, 2}, [3]int{2, 2, 2}, one, one, [3]int{1, 3, 5}),
		"wide":             NewImages(2, 20, 33, 1, [3]int{1, 6, 17}, [3]int{1, 3, 3}, one, one, [3]int{0, 1, 1}),
		"not padded":       NewImages(1, 18, 5, 1, [3]int{1, 6, 8}, [3]int{1, 3, 2}, one, one, [3]int{}),
		"strides":          NewImages(2, 17, 6, 1, [3]int{1, 9, 10}, [3]int{1, 3, 3}, [3]int{1, 2, 3}, one, [3]int{0, 1, 1}),
		"wide strides":     NewImages(2, 3, 6, 1, [3]int{1, 9, 10}, [3]int{1, 1, 2}, [3]int{1, 3, 4}, one, [3]int{}),
		"dilated":          NewImages(1, 17, 4, 1, [3]int{1, 9, 9}, [3]int{1, 3, 3}, one, [3]int{1, 2, 3}, [3]int{0, 2, 3}),
		"narrow, dilated":  NewImages(1, 2, 4, 1, [3]int{1, 9, 9}, [3]int{1, 3, 3}, one, [3]int{1, 2, 3}, [3]int{0, 2, 3}),
		"groups":           NewImages(2, 6, 9, 3, [3]int{1, 5, 6}, [3]int{1, 3, 3}, [3]int{1, 2, 1}, one, [3]int{0, 1, 1}),
		"volumes":          NewImages(2, 6, 4, 1, [3]int{4, 5, 6}, [3]int{2, 3, 3}, [3]int{2, 1, 1}, [3]int{1, 1, 1}, [3]int{1, 1, 1}),
		"much padding":     NewImages(1, 17, 2, 1, [3]int{1, 3, 3}, [3]int{1, 2, 2}, one, one, [3]int{0, 4, 4}),
		"narrow, far out":  NewImages(1, 2, 2, 1, [3]int{1, 2, 2}, [3]int{1, 2, 2}, [3]int{1, 2, 2}, one, [3]int{0, 5, 5}),
		"many images":      NewImages(6, 17, 33, 1, [3]int{1, 6, 6}, [3]int{1, 3, 3}, one, one, [3]int{0, 1, 1}),
		"many filters":     NewImages(1, 363, 363, 1, [3]int{1, 1, 3}, [3]int{1, 1, 2}, one, one, [3]int{0, 0, 1}),
		"long sums":        NewImages(1, 100, 17, 1, [3]int{1, 3, 16}, [3]int{1, 3, 3}, one, one, [3]int{0, 1, 1}),
		"many windows":     NewImages(3, 2, 3, 1, [3]int{2, 30, 30}, [3]int{1, 2, 2}, one, one, [3]int{0, 1, 1}),
		"many lines":       NewImages(5, 3, 9, 1, [3]int{1, 40, 15}, [3]int{1, 5, 3}, [3]int{1, 2, 1}, one, [3]int{0, 1, 1}),
		"stem":             NewImages(2, 3, 16, 1, [3]int{1, 11, 37}, [3]int{1, 7, 7}, [3]int{1, 2, 2}, one, [3]int{0, 3, 3}),
		"thin and long":    NewImages(1, 1, 20, 1, [3]int{1, 2, 45}, [3]int{1, 3, 5}, one, one, [3]int{0, 1, 2}),
		"groups, strides":  NewImages(2, 8, 10, 2, [3]int{1, 5, 7}, [3]int{1, 2, 3}, [3]int{1, 1, 2}, one, [3]int{0, 1, 1}),
		"image of nothing": NewImages(0, 17, 2, 1, [3]int{1, 3, 3}, [3]int{1, 2, 2}, one, one, [3]int{}),
	}
}
