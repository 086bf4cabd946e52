package owner

// unwritable cannot be told from a directory's attributes.
func unwritable(string) error { return nil }
