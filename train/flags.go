package train

import (
	"encoding"
	"errors"
	"flag"
	"strconv"
	"strings"
)

// Define defines a flag for the setting; its default is the value that it has.
func (s Setting) Define(f *flag.FlagSet) {
	switch at := s.Value.(type) {
	case *bool:
		f.BoolVar(at, s.Flag, *at, s.Help)
	case *int:
		f.IntVar(at, s.Flag, *at, s.Help)
	case *uint64:
		f.Uint64Var(at, s.Flag, *at, s.Help)
	case *float64:
		f.Float64Var(at, s.Flag, *at, s.Help)
	case *string:
		f.StringVar(at, s.Flag, *at, s.Help)
	case *[]string:
		f.Var((*wordsFlag)(at), s.Flag, s.Help)
	case *Features:
		f.Var((*wordsFlag)(at), s.Flag, s.Help)
	case *[]int:
		f.Var(&numbersFlag{at, s.Want}, s.Flag, s.Help)
	case encoding.TextUnmarshaler:
		f.TextVar(at, s.Flag, at.(encoding.TextMarshaler), s.Help)
	}
}

// numbersFlag is a flag of comma-separated whole numbers.
type numbersFlag struct {
	at   *[]int
	want string // for an error
}

func (n *numbersFlag) String() string {
	if n.at == nil { // of a zero value that package flag makes
		return ""
	}
	var list []string
	for _, v := range *n.at {
		list = append(list, strconv.Itoa(v))
	}
	return strings.Join(list, ",")
}

func (n *numbersFlag) Set(text string) error {
	*n.at = nil
	if text == "" {
		return nil
	}
	for part := range strings.SplitSeq(text, ",") {
		v, err := strconv.Atoi(strings.TrimSpace(part))
		if err != nil {
			return errors.New("want " + n.want)
		}
		*n.at = append(*n.at, v)
	}
	return nil
}

// wordsFlag is a flag of comma-separated words.
type wordsFlag []string

func (w *wordsFlag) String() string { return strings.Join(*w, ",") }

func (w *wordsFlag) Set(text string) error {
	*w = nil
	for part := range strings.SplitSeq(text, ",") {
		if part = strings.TrimSpace(part); part != "" {
			*w = append(*w, part)
		}
	}
	return nil
}
