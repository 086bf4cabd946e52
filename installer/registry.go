package installer

// Registry is the registry of Windows as far as installing needs it. A key begins with
// its hive, HKCU or HKLM. The default value of a key has the empty name.
type Registry interface {
	// Value reads a text; there is false where key or value are missing.
	Value(key, name string) (text string, there bool, err error)
	// Number reads a number of 32 or 64 bits; there is false where there is none.
	Number(key, name string) (n uint64, there bool, err error)
	// Exists reports whether there is a key.
	Exists(key string) (bool, error)
	// Make makes a key whose parent is there. It may be repeated.
	Make(key string) error
	// Set writes a text into a key that is there.
	Set(key, name, text string) error
	// Unset removes a value. It may be repeated.
	Unset(key, name string) error
	// RemoveEmpty removes a key without values and keys in it, and reports whether it
	// is gone.
	RemoveEmpty(key string) (gone bool, err error)
}
