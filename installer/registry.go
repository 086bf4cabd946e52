package installer

// Registry is the part of the Windows registry that an installation needs. A key begins
// with its hive, HKCU or HKLM. The default value of a key has the empty name.
type Registry interface {
	// Value reads a text; there is false if the key or the value does not exist.
	Value(key, name string) (text string, there bool, err error)
	// Number reads a number of 32 or 64 bits; there is false if there is none.
	Number(key, name string) (n uint64, there bool, err error)
	Exists(key string) (bool, error)
	// Make creates a key whose parent exists. It may be repeated.
	Make(key string) error
	// Set writes a text into an existing key.
	Set(key, name, text string) error
	// Unset removes a value. It may be repeated.
	Unset(key, name string) error
	// RemoveEmpty removes a key without values and subkeys, and reports whether it is
	// gone.
	RemoveEmpty(key string) (gone bool, err error)
}
