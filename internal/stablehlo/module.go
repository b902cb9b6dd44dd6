package stablehlo

// A Module is a set of functions; "main" is the one that a program calls.
type Module struct {
	Name     string
	Attrs    map[string]Attr
	Funcs    []*Func
	Producer string // what wrote the module, as "StableHLO_v1.10.0"
}

// Func returns the function of a name, nil if there is none.
func (m *Module) Func(name string) *Func {
	for _, f := range m.Funcs {
		if f.Name == name {
			return f
		}
	}
	return nil
}

// A Func is a function: its body's arguments are its arguments, and the operands of
// the operation "return" that ends the body are its results. Attrs has arg_attrs and
// res_attrs, arrays of a [Dict] for each of them, and what else the program gave.
type Func struct {
	Name    string
	Public  bool
	Args    []Type
	Results []Type
	Attrs   map[string]Attr
	Body    *Block // nil if the module has no more than the name of the function
}

// A Block is a list of operations, of which each uses values that come before it, in
// this block or around it. The last one is "return".
type Block struct {
	Args []*Value
	Ops  []*Op
}

// Terminator returns the operation that ends the block.
func (b *Block) Terminator() *Op { return b.Ops[len(b.Ops)-1] }

// An Op is an operation. Operations may share their Attrs, which must not be changed.
type Op struct {
	Name     string // as "add"
	Operands []*Value
	Results  []*Value
	Attrs    map[string]Attr
	Regions  []*Block // StableHLO's regions have one block each
}

// Attr returns an attribute, nil if there is none.
func (o *Op) Attr(name string) Attr { return o.Attrs[name] }

// A Value is a result of an operation, or an argument of a block.
type Value struct {
	Type  Type
	Def   *Op // nil for arguments of blocks
	Index int // among the results of Def, or among the arguments of the block
}
