package swap

// A Line is one thing that a person is told before consent: a key of the catalogue of messages,
// the values of its placeholders, and how serious it is. Popup, terminal and dialogs show the
// same lines in the same order. Nothing from outside is a key or a word.
type Line struct {
	Key      string   `json:"key"`
	Args     []Arg    `json:"args,omitempty"`
	Severity Severity `json:"severity"`
}

// An Arg is the value of one placeholder. All are printable and bounded.
type Arg struct {
	Kind  ArgKind `json:"kind"`
	Value string  `json:"value"`
	Unit  string  `json:"unit,omitempty"` // of a number: a symbol, or %
}

// ArgKind says how an Arg is shown.
type ArgKind string

const (
	TextArg   ArgKind = "text"   // as it is
	NumberArg ArgKind = "number" // decimal, with a point, not grouped; shown with the language's own decimal mark, and Unit
	UnitsArg  ArgKind = "units"  // base units of the token that Unit names, whose decimals nobody knows
	WordArg   ArgKind = "word"   // key of the catalogue
)
