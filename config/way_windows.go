package config

import "io/fs"

// The access list of the user's profile says who writes there, and modes nothing.

type ways struct{}

func newWays() *ways { return &ways{} }

func (*ways) openOnTheWay(string) ([]string, error) { return nil, nil }

func (*ways) openToOthers(string, fs.FileInfo) (bool, error) { return false, nil }
