//go:build edited

package symbols

import (
	"fmt"
	"os"
	"reflect"
	"sort"
	"strings"
	"testing"

	"github.com/cosmos72/gomacro/fast"
	"github.com/cosmos72/gomacro/imports"
)

// For all types of all tables, the interpreter must find each method, with the
// right signature.
func TestInterpreterFindsEveryMethod(t *testing.T) {
	list, err := os.ReadFile("packages.txt")
	if err != nil {
		t.Fatal(err)
	}
	ir := fast.New()
	methods := 0
	for i, path := range strings.Split(string(list), "\n") {
		if path == "" || path[0] == '#' {
			continue
		}
		ir.Eval(fmt.Sprintf("import p%d %q", i, path))
		var names []string
		for name := range imports.Packages[path].Types {
			names = append(names, name)
		}
		sort.Strings(names)
		for _, name := range names {
			methods += checkMethods(t, ir, fmt.Sprintf("p%d.%s", i, name), path+"."+name, imports.Packages[path].Types[name])
		}
	}
	if methods < 5000 {
		t.Errorf("only %d methods were looked at", methods)
	}
}

// checkMethods compares a type of the interpreter with what reflection says.
func checkMethods(t *testing.T, ir *fast.Interp, typ, full string, rtype reflect.Type) int {
	receiver := 1
	switch rtype.Kind() {
	case reflect.Interface:
		receiver = 0
	case reflect.Struct:
		typ, rtype = "*"+typ, reflect.PointerTo(rtype)
	default: // gomacro has no methods on pointers to these
	}
	defer func() {
		if e := recover(); e != nil {
			t.Errorf("%s: %.150v", full, e)
		}
	}()
	name := "v_" + strings.NewReplacer("/", "_", ".", "_", "-", "_").Replace(full)
	ir.Eval("var " + name + " " + typ)
	n := 0
	for i := range rtype.NumMethod() {
		m := rtype.Method(i)
		if !m.IsExported() {
			continue
		}
		n++
		got := ir.Compile(name + "." + m.Name).Type.ReflectType()
		if got.NumIn()+receiver != m.Type.NumIn() || got.NumOut() != m.Type.NumOut() {
			t.Errorf("%s.%s: %v, want %v", full, m.Name, got, m.Type)
		}
	}
	return n
}
