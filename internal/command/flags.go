package command

import (
	"encoding"
	"errors"
	"flag"
	"fmt"
	"reflect"
	"strconv"
	"strings"
)

// Define defines a flag. The value is a pointer to a variable, which holds the default; a flag.Value; or a function that takes the text.
func Define(f *flag.FlagSet, name string, value any, help string) {
	switch v := value.(type) {
	case *bool:
		f.BoolVar(v, name, *v, help)
	case *int:
		f.IntVar(v, name, *v, help)
	case *uint64:
		f.Uint64Var(v, name, *v, help)
	case *float64:
		f.Float64Var(v, name, *v, help)
	case *string:
		f.StringVar(v, name, *v, help)
	case *[]int:
		f.Var((*numbers)(v), name, help)
	case func(string) error:
		f.Func(name, help, v)
	case flag.Value:
		f.Var(v, name, help)
	case encoding.TextUnmarshaler:
		f.TextVar(v, name, v.(encoding.TextMarshaler), help)
	default: // a type of words
		f.Var(reflect.ValueOf(v).Convert(reflect.TypeFor[*words]()).Interface().(*words), name, help)
	}
}

// numbers are the value of a flag of whole numbers with commas between.
type numbers []int

func (n *numbers) String() string {
	return strings.Trim(strings.ReplaceAll(fmt.Sprint(*n), " ", ","), "[]")
}

func (n *numbers) Set(text string) error {
	*n = nil
	for _, word := range Words(text) {
		v, err := strconv.Atoi(word)
		if err != nil {
			return errors.New("want whole numbers, such as 64,32")
		}
		*n = append(*n, v)
	}
	return nil
}

// words are the value of a flag of words with commas between.
type words []string

func (w *words) String() string { return strings.Join(*w, ",") }

func (w *words) Set(text string) error {
	*w = Words(text)
	return nil
}

// Words returns the words of a list with commas between.
func Words(list string) (words []string) {
	for word := range strings.SplitSeq(list, ",") {
		if word = strings.TrimSpace(word); word != "" {
			words = append(words, word)
		}
	}
	return words
}
