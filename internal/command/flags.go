package command

import (
	"flag"
	"fmt"
	"runtime"
)

// Pick defines in to the flags of these names as they are in from, and with the same
// variables.
func Pick(to, from *flag.FlagSet, names ...string) {
	for _, name := range names {
		f := from.Lookup(name)
		to.Var(f.Value, f.Name, f.Usage)
	}
}

// IsGiven tells whether the command line has a flag.
func IsGiven(flags *flag.FlagSet, name string) bool {
	given := false
	flags.Visit(func(f *flag.Flag) { given = given || f.Name == name })
	return given
}

// Threads is the value of -threads: processor cores, 0 for all.
type Threads int

// Define defines the flag -threads.
func (t *Threads) Define(f *flag.FlagSet) {
	f.IntVar((*int)(t), "threads", int(*t), "processor `cores` to use; 0 is all")
}

// Use sets the number for the process. One that makes no sense is an error.
func (t Threads) Use() error {
	if t < 0 {
		return Usage(fmt.Errorf("-threads %d: want a number of cores, or 0 for all", t))
	}
	if t > 0 {
		runtime.GOMAXPROCS(int(t))
	}
	return nil
}
