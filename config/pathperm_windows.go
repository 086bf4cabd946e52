package config

import "io/fs"

// On Windows the access list of the user's profile decides who may write; modes say
// nothing.

type pathChecker struct{}

func newPathChecker() *pathChecker { return &pathChecker{} }

func (*pathChecker) writableDirs(string) ([]string, error) { return nil, nil }

func (*pathChecker) writableByOthers(string, fs.FileInfo) (bool, error) { return false, nil }
