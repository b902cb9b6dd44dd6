package all_test

import (
	"fmt"
	"go/ast"
	"maps"
	"os"
	"path"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
)

// optionNames returns the exported types of the packages of ops that are options,
// as "ops.MatMulOpts".
func optionNames(t *testing.T) (names []string) {
	eachFile(t, func(pkg string, f *ast.File) {
		for _, d := range f.Decls {
			fn, ok := d.(*ast.FuncDecl)
			if !ok || fn.Recv == nil || fn.Name.Name != "Apply" || !strings.HasPrefix(pkg, "tf/ops") {
				continue
			}
			if id, ok := fn.Recv.List[0].Type.(*ast.Ident); ok && id.IsExported() {
				names = append(names, alias(pkg)+"."+id.Name)
			}
		}
	})
	slices.Sort(names)
	return names
}

// filled returns an option of a type; of its fields those are set that want says.
func filled(typ reflect.Type, want func(i int) bool) tf.Option {
	v := reflect.New(typ).Elem()
	m := maker{tf.NewGraph(), tf.Float32}
	if typ.Kind() != reflect.Struct {
		setOdd(v, m)
		o, _ := v.Interface().(tf.Option)
		return o
	}
	for i := range v.NumField() {
		if want(i) && typ.Field(i).IsExported() {
			setOdd(v.Field(i), m)
		}
	}
	o, _ := v.Interface().(tf.Option)
	return o
}

// setOdd sets a field to what is no default of any.
func setOdd(f reflect.Value, m maker) {
	switch f.Kind() {
	case reflect.Bool:
		f.SetBool(true)
	case reflect.Int, reflect.Int64, reflect.Int32:
		f.SetInt(3)
	case reflect.Float32, reflect.Float64:
		f.SetFloat(0.375)
	case reflect.Array:
		for i := range f.Len() {
			setOdd(f.Index(i), m)
		}
	case reflect.Struct:
		for i := range f.NumField() {
			if f.Type().Field(i).IsExported() {
				setOdd(f.Field(i), m)
			}
		}
	default:
		f.Set(m.value(f.Type(), 3))
	}
}

func only(k int) func(int) bool { return func(i int) bool { return i == k } }
func but(k int) func(int) bool  { return func(i int) bool { return i != k } }

// asked returns what an option asks for; a mistake counts, too.
func asked(o tf.Option) string {
	var s tf.Spec
	o.Apply(&s)
	var b strings.Builder
	for _, k := range slices.Sorted(maps.Keys(s.Attrs)) {
		fmt.Fprintf(&b, "%s=%v ", k, s.Attrs[k])
	}
	return fmt.Sprint(b.String(), s.Name, s.Device, len(s.Control), len(s.Colocate), s.Err)
}

// TestNoFieldOfAnOptionIsSwallowed sets each field alone, and all but it: in one of
// the two something else must be asked for.
func TestNoFieldOfAnOptionIsSwallowed(t *testing.T) {
	if len(optionTypes) < 50 {
		t.Fatalf("there must be some 80 types of options, found %d", len(optionTypes))
	}
	for name, typ := range optionTypes {
		if typ.Kind() != reflect.Struct || readByFunctions[name] != "" {
			continue
		}
		none, all := asked(filled(typ, only(-1))), asked(filled(typ, but(-1)))
		for i := range typ.NumField() {
			if asked(filled(typ, only(i))) == none && asked(filled(typ, but(i))) == all {
				t.Errorf("%s.%s asks for nothing", name, typ.Field(i).Name)
			}
		}
	}
}

// TestZeroOptionsNameNoType: options of which nothing is set leave each type to the
// op, which would refuse one that is none.
func TestZeroOptionsNameNoType(t *testing.T) {
	checked := 0
	for name, typ := range optionTypes {
		o, ok := reflect.Zero(typ).Interface().(tf.Option)
		if !ok {
			continue
		}
		checked++
		var s tf.Spec
		o.Apply(&s)
		for attr, v := range s.Attrs {
			if v == any(tf.Invalid) {
				t.Errorf("a zero %s sets %s to no type", name, attr)
			}
		}
	}
	if checked < 50 {
		t.Errorf("there must be some 80 types of options, checked %d", checked)
	}
}

// readByFunctions has the options that functions look for among those that they
// are given, and why they set no attributes themselves.
var readByFunctions = map[string]string{
	"ops.RandomOpts": "the seed goes into the graph's own seeds, by the functions that add random operations",
	"opsqueue.Opts":  "a seed is for shuffling queues alone, and goes into the graph's own seeds",
}

// attributes returns the names of the attributes that options of a type set.
func attributes(typ reflect.Type) []string {
	var s tf.Spec
	if o := filled(typ, but(-1)); o != nil {
		o.Apply(&s)
	}
	return slices.Sorted(maps.Keys(s.Attrs))
}

// takes returns, by function, the types of options of its package that set nothing
// but attributes of the one op that it adds with them.
func takes(t *testing.T) (types map[string][]string, byOp map[string]map[string]string) {
	places := declared(t)
	types, byOp = map[string][]string{}, map[string]map[string]string{}
	for name, f := range functions {
		def := onlyOp(f)
		if def == nil {
			continue
		}
		pkg, _, _ := strings.Cut(name, ".")
		base, _, _ := strings.Cut(name, "[")
		for option, typ := range optionTypes {
			if strings.HasPrefix(option, pkg+".") && places[option].near(places[base], option) && serves(def, attributes(typ)) {
				types[name] = append(types[name], option)
			}
		}
		slices.Sort(types[name])
		if list := types[name]; len(list) > 0 {
			if byOp[pkg] == nil {
				byOp[pkg] = map[string]string{}
			}
			byOp[pkg][def.Name] = strings.Join(list, " ")
		}
	}
	return types, byOp
}

// onlyOp returns the op that f gives its options to; nil if there are several.
func onlyOp(f any) *core.OpDef {
	seen := map[string]bool{}
	for _, d := range []tf.DType{tf.Float32, tf.Int32, tf.String, tf.Resource} {
		applied, specs := 0, []*tf.Spec{}
		call(f, d, []tf.Option{probe{&applied, &specs}})
		for _, s := range specs {
			seen[s.Name] = true
		}
	}
	if len(seen) != 1 {
		return nil
	}
	for name := range seen {
		return core.Lookup(name)
	}
	return nil
}

func serves(def *core.OpDef, attrs []string) bool {
	for _, a := range attrs {
		if !slices.ContainsFunc(def.AttrDefs, func(d core.AttrDef) bool { return d.Name == a }) {
			return false
		}
	}
	return len(attrs) > 0
}

// TestErrorsKnowTheOptionsOfOps compares the tables by which errors name the types
// of options with what the functions take.
func TestErrorsKnowTheOptionsOfOps(t *testing.T) {
	dirs := map[string]string{}
	for _, f := range takers(t) {
		dirs[alias(f.pkg)] = f.pkg
	}
	_, byOp := takes(t)
	for pkg, ops := range byOp {
		own := path.Base(dirs[pkg])
		var b strings.Builder
		fmt.Fprintf(&b, "// Code generated by go test -run TestErrorsKnow ./tf/ops/all -list-functions. DO NOT EDIT.\n\npackage %s\n\n"+
			"import \"github.com/gorge-tf/gorge/tf/core\"\n\nfunc init() {\n\tcore.NameOptions(map[string]string{\n", own)
		for _, op := range slices.Sorted(maps.Keys(ops)) {
			fmt.Fprintf(&b, "\t\t%q: %q,\n", op, strings.ReplaceAll(ops[op], pkg+".", own+"."))
		}
		b.WriteString("\t})\n}\n")
		file := filepath.Join(tree, dirs[pkg], "zz_options.go")
		if *listFunctions {
			if err := os.WriteFile(file, []byte(b.String()), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		have, err := os.ReadFile(file)
		if err != nil || squeezed(string(have)) != squeezed(b.String()) {
			t.Errorf("%s is not current (%v): go test -run TestErrorsKnow ./tf/ops/all -list-functions && gofmt -w tf/ops", file, err)
		}
	}
}

// squeezed leaves the spaces out that gofmt may change.
func squeezed(s string) string { return strings.ReplaceAll(strings.ReplaceAll(s, " ", ""), "\t", "") }

// TestDocumentationNamesOptions wants each function's comment to name the types of
// its options.
func TestDocumentationNamesOptions(t *testing.T) {
	types, _ := takes(t)
	docs := declared(t)
	for name, list := range types {
		base, _, _ := strings.Cut(name, "[")
		place, ok := docs[base]
		if !ok {
			continue // a method
		}
		for _, option := range list {
			if short := option[strings.Index(option, ".")+1:]; !strings.Contains(place.doc, short) {
				t.Errorf("the comment of %s must name its options, %s", base, option)
			}
		}
	}
}

// A place is where a function or a type is declared, and its comment.
type place struct{ file, doc string }

// near reports whether options declared at p are meant for a function declared at
// f: in one file with it, or named by its comment. That they set attributes of its
// op is not enough: many ops have a dtype.
func (p place) near(f place, option string) bool {
	return p.file == f.file || strings.Contains(f.doc, option[strings.Index(option, ".")+1:])
}

// declared returns where functions and types are declared, by names as "ops.MatMul".
func declared(t *testing.T) map[string]place {
	places := map[string]place{}
	files := 0
	eachFile(t, func(pkg string, f *ast.File) {
		files++
		add := func(name, doc string) { places[alias(pkg)+"."+name] = place{fmt.Sprint(files), doc} }
		for _, d := range f.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				if d.Recv == nil {
					add(d.Name.Name, d.Doc.Text())
				}
			case *ast.GenDecl:
				for _, s := range d.Specs {
					if s, ok := s.(*ast.TypeSpec); ok {
						add(s.Name.Name, d.Doc.Text())
					}
				}
			}
		}
	})
	return places
}
