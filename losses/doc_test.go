package losses

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the list of losses into the package comment")

// list is the table as the package comment has it.
func list() string {
	var text strings.Builder
	for _, s := range sections {
		fmt.Fprintf(&text, "// %s:\n//\n", s.title)
		for _, e := range s.entries {
			name := e.name
			if e.numbered != nil {
				name += "(" + e.number.name + ")"
			}
			fmt.Fprintf(&text, "//\t%-30s %s\n", name, e.doc)
		}
		fmt.Fprintf(&text, "//\n")
	}
	return text.String()
}

// The list of names in the package comment is that of the table: go generate writes it.
func TestPackageCommentListsEveryLoss(t *testing.T) {
	const file, heading, next = "doc.go", "// # Names\n//\n", "// # What losses are made of\n"
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, ok := strings.Cut(string(text), heading)
	got, after, ends := strings.Cut(rest, next)
	if !ok || !ends {
		t.Fatalf("%s has no %q and %q", file, heading, next)
	}
	switch want := list(); {
	case got == want:
	case *update:
		if err := os.WriteFile(file, []byte(before+heading+want+next+after), 0o666); err != nil {
			t.Fatal(err)
		}
	default:
		t.Errorf("%s has another list of losses than the table: run go generate ./losses", file)
	}
}
