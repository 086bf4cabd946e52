package owner

// unwritable returns nil: a directory's attributes do not tell.
func unwritable(string) error { return nil }
