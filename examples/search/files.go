package main

import (
	"os"
	"path/filepath"
)

// writeFile writes a file in the place of any that was there. An error leaves the old one. Without an error the new one is
// complete and on the disk, and stays there if the machine goes down.
func writeFile(path string, text []byte) error {
	part := path + ".part"
	f, err := os.OpenFile(part, os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o644)
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	if err == nil {
		err = f.Sync() // a disk may say only here that it is full
	}
	if closed := f.Close(); err == nil {
		err = closed
	}
	if err == nil {
		err = os.Rename(part, path)
	}
	if err != nil {
		os.Remove(part)
		return err
	}
	return syncFolder(filepath.Dir(path))
}

// syncFolder puts the names of new files of a folder on the disk.
func syncFolder(folder string) error {
	f, err := os.Open(folder)
	if err != nil {
		return err
	}
	defer f.Close()
	return f.Sync()
}
