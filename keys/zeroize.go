package keys

import (
	"reflect"
	"runtime"

	"swapkeep/internal/zeroize"
)

// Copies of secrets that libraries and the compiler leave on the stack and in registers
// cannot be wiped individually. Code that handles secrets therefore runs on a stack of
// its own. Afterwards that stack, the registers and the place where a signal has saved
// them are overwritten.
const (
	stackHeld  = 20 << 10 // kept in use meanwhile: the runtime may shrink a stack used to less than a fourth by moving it, without wiping the old one
	stackBelow = 36 << 10 // wiped; more than any call here needs
)

// withZeroize runs f in a goroutine of its own and waits for it. A panic of f is raised
// again in the caller.
func withZeroize[T any](f func() (T, error)) (v T, err error) {
	done := make(chan any)
	go func() {
		runtime.LockOSThread()
		defer func() {
			p := recover()
			zeroize.Registers()
			zeroize.SavedRegisters()
			runtime.UnlockOSThread()
			done <- p
		}()
		holdStack(func() {}) // grows the stack to its final size
		holdStack(func() { v, err = f() })
	}()
	if p := <-done; p != nil {
		panic(p)
	}
	return v, err
}

// holdStack runs f and then wipes the stack below its own frame.
//
//go:noinline
func holdStack(f func()) {
	var held [stackHeld]byte
	defer wipeBelow()
	f()
	touch(held[:])
}

//go:noinline
func wipeBelow() {
	var below [stackBelow]byte
	touch(below[:])
}

//go:noinline
func touch(b []byte) { clear(b) }

// wipe zeroes the value that a library's pointer refers to, such as the state of a hash
// or cipher without a method for it. A value that is not a pointer is left alone; a test
// shows that none of those used here is.
func wipe(state any) {
	if v := reflect.ValueOf(state); v.Kind() == reflect.Pointer && v.Elem().CanSet() {
		v.Elem().SetZero()
	}
}
