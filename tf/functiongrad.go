package tf

// gradientName is how a function stands for the gradient of another, which is
// its attribute f.
const gradientName = "SymbolicGradient"

// GradientOf returns the function that computes the gradients of f's arguments
// from the arguments and the gradients of f's results.
func GradientOf(f Func) Func { return Func{Name: gradientName, Attrs: Attrs{"f": f}} }
