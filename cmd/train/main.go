// Command train trains ranking models: it is "plrank train". See -help.
package main

import (
	"os"

	"github.com/plrank/plrank/cmd/internal/trainer"
)

func main() { os.Exit(trainer.Run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr)) }
