// Command install builds the notebook kernel and tells Jupyter of it. Run it in
// plrank's folder notebooks:
//
//	go run ./install              for the user
//	go run ./install -sys-prefix  for the active Python environment (venv, conda)
//	go run ./install -prefix DIR  in DIR/share/jupyter
package main

import (
	"flag"
	"fmt"
	"log"
	"os/exec"
	"path/filepath"

	"github.com/plrank/plrank/notebooks/internal/jupyter"
	"github.com/plrank/plrank/notebooks/internal/kernel"
)

func main() {
	log.SetFlags(0)
	log.SetPrefix("install: ")
	user := flag.Bool("user", false, "install for the user (the default)")
	sysPrefix := flag.Bool("sys-prefix", false, "install into the active Python environment")
	prefix := flag.String("prefix", "", "install into this folder's share/jupyter")
	flag.Parse()
	if flag.NArg() > 0 {
		log.Fatalf("unexpected argument %q", flag.Arg(0))
	}

	// Where to comes first: building takes a minute the first time.
	var data string
	var err error
	switch {
	case *user && *sysPrefix || *user && *prefix != "" || *sysPrefix && *prefix != "":
		log.Fatal("give one of -user, -sys-prefix and -prefix")
	case *sysPrefix:
		data, err = jupyter.EnvironmentData()
	case *prefix != "":
		data = filepath.Join(*prefix, "share", "jupyter")
	default:
		data, err = jupyter.UserData()
	}
	check(err)
	module, err := kernel.Module()
	check(err)
	log.Print("building the kernel (a minute or two the first time) …")
	program, err := kernel.Build(module)
	check(err)
	dir, err := jupyter.Install(data, program)
	check(err)
	fmt.Printf("The kernel \"Go (plrank)\" is in %s.\n", dir)

	if _, err := exec.LookPath("jupyter"); err != nil {
		fmt.Println(`Jupyter is not on the PATH. Get it with
    pip install jupyterlab
or with your distribution's package (Debian and Ubuntu: apt install jupyter-notebook; Fedora: dnf install jupyterlab; macOS: brew install jupyterlab),
or open the notebooks in VS Code with its Jupyter extension.`)
		return
	}
	fmt.Println("Open a notebook: jupyter lab 01_plackett_luce.ipynb")
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
