package config

import "io/fs"

// The access list of the user's profile says who writes there, and modes nothing.

func openOnTheWay(string) ([]string, error) { return nil, nil }

func openToOthers(string, fs.FileInfo) (bool, error) { return false, nil }
