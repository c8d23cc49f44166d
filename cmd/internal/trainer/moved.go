package trainer

import (
	"fmt"
	"strings"
)

// The flags that older versions had for what other sub-commands do, the more telling ones
// first, and what to use now.
var movedFlags = []struct{ flags, now string }{
	{"describe", "plrank describe -data FILE|DIR"},
	{"onnx", "plrank export -model FILE -onnx FILE"},
	{"predict scores run draw temperature exposure qrels", "plrank score -model FILE -data FILE [-out FILE]"},
	{"importance model", "plrank evaluate -model FILE -data FILE|DIR, or plrank score"},
	{"baseline", "FitTree of package datasets/golearn"},
}

// moved is the error for a command line with such a flag, nil without any.
func moved(args []string) error {
	for _, m := range movedFlags {
		for name := range strings.FieldsSeq(m.flags) {
			for _, arg := range args {
				arg, _, _ = strings.Cut(arg, "=")
				if arg == "-"+name || arg == "--"+name {
					return fmt.Errorf("train has no flag -%s any more: use %s", name, m.now)
				}
			}
		}
	}
	return nil
}
