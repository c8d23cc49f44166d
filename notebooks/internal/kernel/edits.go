package kernel

// An edit replaces an anchor, which must occur exactly once in a file, in the
// copy of a module that the kernel is built from.
type edit struct{ file, why, anchor, with string }

const (
	gomacro     = "github.com/cosmos72/gomacro"
	gophernotes = "github.com/gopherdata/gophernotes"
)

// edits are what the two modules need to work with today's Go. The modules are
// no longer developed, and the versions in go.mod are their last.
var edits = map[string][]edit{
	gomacro: {
		{"xreflect/importer.go",
			"Type metadata read by go/importer holds aliases and type parameters, on which gomacro panics: go by reflection only.",
			"	if imp.from != nil {\n",
			"	if true {\n		err = errors.New(\"metadata not used\")\n	} else if imp.from != nil {\n"},
		{
			"xreflect/named.go",
			"Methods are removed from the list but the functions in methodvalue, found by the same index, stay: drop them, they are found again by name.",
			"	unsafeRemoveMethods(gtype, names, pkgpath)\n",
			"	unsafeRemoveMethods(gtype, names, pkgpath)\n	t.methodvalue = nil\n",
		},
		{"xreflect/fromreflect.go",
			"A slice met while its element type is being read was taken for []Forward for ever: the real type is known.",
			"		rtype = r.SliceOf(e.approxReflectType())\n",
			"		if v.rebuild() {\n			rtype = r.SliceOf(e.approxReflectType())\n		} else {\n			rtype = r.SliceOf(rtype.Elem())\n		}\n"},
		{
			"xreflect/fromreflect.go",
			"The same for maps.",
			"		rtype = r.MapOf(k.approxReflectType(), e.approxReflectType())\n",
			"		if v.rebuild() {\n			rtype = r.MapOf(k.approxReflectType(), e.approxReflectType())\n		} else {\n			rtype = r.MapOf(rtype.Key(), rtype.Elem())\n		}\n",
		},
		{"fast/call.go",
			"f(m[k]), f(<-c) and f(x.(T)) were taken for calls with the two values of v, ok := m[k].",
			"	if len(node.Args) == 1 {\n",
			"	isCall := false\n	if len(node.Args) == 1 {\n		_, isCall = node.Args[0].(*ast.CallExpr)\n	}\n	if isCall {\n"},
		{"fast/import.go",
			"A failed import went unnoticed.",
			"	c.ImportPackagesOrError(paths)\n}\n",
			"	if _, err := c.ImportPackagesOrError(paths); err != nil {\n		c.Error(err)\n	}\n}\n"},
		{"fast/repl.go",
			"A panic of the run time had no line: the position of the statement where the innermost call stands.",
			"	run.applyDebugOp(DebugOpContinue)\n\n	defer run.setCurrEnv(run.setCurrEnv(env))",
			"	run.applyDebugOp(DebugOpContinue)\n\n	defer run.setCurrEnv(run.setCurrEnv(env))\n" +
				"	env.DebugPos = nil // of the cell before\n" +
				"	defer func() {\n		for at := run.CurrEnv; at != nil; at = at.Caller {\n" +
				"			if at.IP >= 0 && at.IP < len(at.DebugPos) {\n				StoppedAt = at.DebugPos[at.IP]\n				return\n			}\n		}\n	}()"},
		{
			"fast/repl.go",
			"The same.",
			"// set CurrEnv, returns previous value\n",
			"// StoppedAt is where the last run stood when it ended; a caller sets what it is if that is not known.\nvar StoppedAt token.Pos\n\n// set CurrEnv, returns previous value\n",
		},
		{
			"base/genimport/importer.go",
			"What is not linked into the kernel was built as a plugin, by a `go get` without a version.",
			"	if len(pathMap) != 0 {\n		imported",
			"	for path := range pathMap {\n		return nil, imp.output.MakeRuntimeError(\"package %q is not part of this kernel; notebooks/README.md says how to add it\", path)\n	}\n	if len(pathMap) != 0 {\n		imported",
		},
	},
	gophernotes: {
		{"kernel.go",
			"An interrupt killed the kernel and all its variables: end the running cell only. And places in cells were called repl.go:1:2.",
			"	ir := interp.New()\n",
			"	ir := interp.New()\n	base.StartSignalHandler(ir.Interrupt)\n	ir.Comp.Filepath = \"cell\"\n"},
		{"kernel.go",
			"A panic of the run time had no line.",
			"				err = errors.New(fmt.Sprint(r))\n			}\n",
			"				err = errors.New(fmt.Sprint(r))\n			}\n" +
				"			if _, ok := r.(runtime.Error); (ok || strings.HasPrefix(err.Error(), \"reflect: \")) && interp.StoppedAt.IsValid() {\n" +
				"				err = fmt.Errorf(\"%s: %w\", ir.Comp.Fileset.Position(interp.StoppedAt), err)\n			}\n"},
		{"kernel.go",
			"The same: an expression at the end of a cell is no statement.",
			"	compiledSrc := ir.CompileAst(srcAst)\n",
			"	compiledSrc := ir.CompileAst(srcAst)\n	interp.StoppedAt = nodes[len(nodes)-1].Pos()\n"},
		{"kernel.go",
			"A cell that ended in fmt.Println showed the number of bytes printed as its result.",
			"		_, srcEndsWithExpr = nodes[len(nodes)-1].(ast.Expr)\n",
			"		_, srcEndsWithExpr = nodes[len(nodes)-1].(ast.Expr)\n" +
				"		if call, ok := nodes[len(nodes)-1].(*ast.CallExpr); ok {\n" +
				"			if f, ok := call.Fun.(*ast.SelectorExpr); ok && strings.HasPrefix(f.Sel.Name, \"Print\") {\n" +
				"				srcEndsWithExpr = false\n			}\n		}\n"},
	},
}

// added is a file of gophernotes' main package: it links the symbol tables in.
const added = `package main

import _ "github.com/plrank/plrank/notebooks/symbols"
`
