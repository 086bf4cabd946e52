package swap

import (
	"errors"
	"strings"
	"testing"
)

// TestRefusalOfATargetSaysWhatToDo checks that the refusal names a remedy.
func TestRefusalOfATargetSaysWhatToDo(t *testing.T) {
	terms, effects := handed(Opaque, true)
	effects[0].Target = unknown
	var r *Refusal
	if err := Check(terms, effects, handPins); !errors.As(err, &r) || r.Code != NotPinned || !strings.Contains(r.Reason, unknown.Hex()) || !strings.HasSuffix(r.Reason, "choose another route") {
		t.Errorf("%v", err)
	}
}
