// Package reader turns files into tables of documents: it finds the files of a collection and the files that belong to them,
// reads their text in one of several formats, and joins the chunks that are parsed on all cores.
package reader
