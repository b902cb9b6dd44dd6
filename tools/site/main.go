// Command site writes Gorge's documentation as a static site: the pages of docs, and
// those in the root of the repository, with their pictures and the sources that they
// link to.
//
//	go -C tools/site run . -out DIR
package main

import (
	"flag"
	"fmt"
	"os"
)

func main() {
	out := flag.String("out", "", "the directory to write; it is made if need be")
	root := flag.String("root", "../..", "the root of the repository")
	flag.Parse()
	if *out == "" || flag.NArg() > 0 {
		flag.Usage()
		os.Exit(2)
	}
	s, err := load(*root)
	if err == nil {
		err = s.write(*out)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Printf("%d pages in %s\n", len(s.pages), *out)
}
