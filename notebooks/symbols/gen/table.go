package main

import (
	"bytes"
	"fmt"
	"go/constant"
	"go/format"
	"go/types"
	"sort"
	"strings"
)

// A table is gomacro's imports.Package of a package, in the making.
type table struct {
	pkg     *types.Package
	names   map[string]string // local names of the packages that the source imports, by path
	skipped []string

	binds, types, proxies, untyped, proxyTypes bytes.Buffer
}

func newTable(pkg *types.Package) *table {
	t := &table{pkg: pkg, names: map[string]string{pkg.Path(): "pkg"}}
	for _, name := range pkg.Scope().Names() {
		if obj := pkg.Scope().Lookup(name); obj.Exported() {
			t.add(name, obj)
		}
	}
	return t
}

// identifier turns an import path into a part of a Go name.
func identifier(path string) string {
	return strings.NewReplacer("/", "_", ".", "_", "-", "_").Replace(path)
}

func (t *table) add(name string, obj types.Object) {
	switch obj := obj.(type) {
	case *types.Const:
		t.addConst(name, obj)
	case *types.Var:
		fmt.Fprintf(&t.binds, "%q: r.ValueOf(&pkg.%s).Elem(),\n", name, name)
	case *types.Func:
		if obj.Type().(*types.Signature).TypeParams().Len() > 0 {
			t.skip(name, "a generic function")
			return
		}
		fmt.Fprintf(&t.binds, "%q: r.ValueOf(pkg.%s),\n", name, name)
	case *types.TypeName:
		t.addType(name, obj.Type())
	}
}

func (t *table) skip(name, why string) {
	t.skipped = append(t.skipped, name+" is "+why)
}

func (t *table) addType(name string, typ types.Type) {
	iface, isIface := typ.Underlying().(*types.Interface)
	switch {
	case generic(typ):
		t.skip(name, "a generic type")
		return
	case isIface && !iface.IsMethodSet():
		t.skip(name, "a constraint")
		return
	}
	fmt.Fprintf(&t.types, "%q: r.TypeOf((*pkg.%s)(nil)).Elem(),\n", name, name)
	if isIface && iface.NumMethods() > 0 && implementable(iface) {
		proxy := "proxy_" + identifier(t.pkg.Path()) + "_" + name
		fmt.Fprintf(&t.proxies, "%q: r.TypeOf((*%s)(nil)).Elem(),\n", name, proxy)
		t.addProxy(proxy, iface)
	}
}

// addConst adds a constant: its value, and for an untyped one gomacro's text of it,
// in which nothing of its precision is lost.
func (t *table) addConst(name string, obj *types.Const) {
	value := "pkg." + name
	basic, ok := obj.Type().(*types.Basic)
	if !ok || basic.Info()&types.IsUntyped == 0 {
		fmt.Fprintf(&t.binds, "%q: r.ValueOf(%s),\n", name, value)
		return
	}
	v := obj.Val()
	_, isInt64 := constant.Int64Val(constant.ToInt(v))
	_, isUint64 := constant.Uint64Val(constant.ToInt(v))
	text := ""
	switch basic.Kind() {
	case types.UntypedBool:
		text = fmt.Sprintf("%q", "bool:"+v.ExactString())
	case types.UntypedInt, types.UntypedRune:
		kind := map[types.BasicKind]string{types.UntypedInt: "int", types.UntypedRune: "rune"}[basic.Kind()]
		switch {
		case isInt64:
			text = fmt.Sprintf("integer(%q, pkg.%s)", kind, name)
			if n, _ := constant.Int64Val(v); n != int64(int32(n)) {
				value = "int64(" + value + ")" // an int may have 32 bits
			}
		case isUint64:
			text = fmt.Sprintf("%q", kind+":"+v.ExactString())
			value = "uint64(" + value + ")"
		default:
			text = fmt.Sprintf("%q", kind+":"+v.ExactString())
			value = "float64(" + value + ")"
		}
	case types.UntypedFloat:
		text = fmt.Sprintf("%q", "float:"+v.ExactString())
	case types.UntypedComplex:
		text = fmt.Sprintf("%q", "complex:"+constant.Real(v).ExactString()+":"+constant.Imag(v).ExactString())
	case types.UntypedString:
		text = fmt.Sprintf("%q + pkg.%s", "string:", name)
	}
	fmt.Fprintf(&t.binds, "%q: r.ValueOf(%s),\n", name, value)
	fmt.Fprintf(&t.untyped, "%q: %s,\n", name, text)
}

// addProxy writes a struct by which a type of a cell implements an interface.
func (t *table) addProxy(name string, iface *types.Interface) {
	f := &t.proxyTypes
	var methods bytes.Buffer
	fmt.Fprintf(f, "\ntype %s struct {\n\tObject interface{}\n", name)
	for i := range iface.NumMethods() {
		m := iface.Method(i)
		sig := m.Type().(*types.Signature)
		var params, args, results []string
		for j := range sig.Params().Len() {
			typ := sig.Params().At(j).Type()
			text, dots := types.TypeString(typ, t.qualify), ""
			if sig.Variadic() && j == sig.Params().Len()-1 {
				text, dots = "..."+types.TypeString(typ.(*types.Slice).Elem(), t.qualify), "..."
			}
			params = append(params, fmt.Sprintf("a%d %s", j, text))
			args = append(args, fmt.Sprintf("a%d%s", j, dots))
		}
		for j := range sig.Results().Len() {
			results = append(results, types.TypeString(sig.Results().At(j).Type(), t.qualify))
		}
		result, ret := "("+strings.Join(results, ", ")+")", ""
		if len(results) > 0 {
			ret = "return "
		}
		fmt.Fprintf(f, "\t%s_ func(%s) %s\n", m.Name(), strings.Join(append([]string{"_ interface{}"}, params...), ", "), result)
		fmt.Fprintf(&methods, "func (p *%s) %s(%s) %s { %sp.%s_(%s) }\n", name, m.Name(), strings.Join(params, ", "), result,
			ret, m.Name(), strings.Join(append([]string{"p.Object"}, args...), ", "))
	}
	f.WriteString("}\n\n")
	f.Write(methods.Bytes())
}

// qualify is the local name of a package, which is imported from now on.
func (t *table) qualify(p *types.Package) string {
	name, ok := t.names[p.Path()]
	if !ok {
		name = fmt.Sprintf("p%d_%s", len(t.names), p.Name())
		t.names[p.Path()] = name
	}
	return name
}

// source is the Go source of the table.
//
// It has no Wrappers (gomacro's lists of promoted methods): gomacro would take
// them out of the list of methods that it made by reflection without moving the
// functions that go with it, so that the methods after them would call the wrong
// ones.
func (t *table) source() ([]byte, error) {
	var f bytes.Buffer
	f.WriteString(
		"// Code generated by ./gen; DO NOT EDIT.\n\n//lint:file-ignore SA1019 a table has all names, deprecated ones too\n\npackage symbols\n\n",
	)
	for _, s := range t.skipped {
		fmt.Fprintf(&f, "// Not for cells: %s.\n", s)
	}
	f.WriteString("\nimport (\n\tr \"reflect\"\n\n\t\"github.com/cosmos72/gomacro/imports\"\n\n")
	paths := make([]string, 0, len(t.names))
	for path := range t.names {
		paths = append(paths, path)
	}
	sort.Strings(paths)
	if t.binds.Len() == 0 && t.types.Len() == 0 {
		t.names[t.pkg.Path()] = "_" // it has no names, and is linked for what it does, as datasets/parquet
	}
	for _, path := range paths {
		fmt.Fprintf(&f, "\t%s %q\n", t.names[path], path)
	}
	fmt.Fprintf(
		&f,
		")\n\nvar _ r.Type // also where the package has no names\n\nfunc init() {\n\timports.Packages[%q] = imports.Package{\n\t\tName: %q,\n",
		t.pkg.Path(),
		t.pkg.Name(),
	)
	for _, m := range []struct {
		name, typ string
		entries   *bytes.Buffer
	}{
		{"Binds", "r.Value", &t.binds}, {"Types", "r.Type", &t.types}, {"Proxies", "r.Type", &t.proxies}, {"Untypeds", "string", &t.untyped},
	} {
		if m.entries.Len() > 0 {
			fmt.Fprintf(&f, "%s: map[string]%s{\n%s},\n", m.name, m.typ, m.entries)
		}
	}
	f.WriteString("\t}\n}\n")
	f.Write(t.proxyTypes.Bytes())
	return format.Source(f.Bytes())
}
